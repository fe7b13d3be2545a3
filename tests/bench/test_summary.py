"""What becomes of the figures: tables, ratios, targets, pages."""

import json
from pathlib import Path
from typing import Any

import pytest

from hashrange_bench import report
from hashrange_bench.result import Report, Result

DASH = report.MISSING
TIMES = "\N{MULTIPLICATION SIGN}"


def result(name: str, per_second: float | None, **more: Any) -> Result:
    titles = {"get": "GetItem, eventually consistent", "put": "PutItem, overwrite"}
    p50 = None if per_second is None else 1.0
    return Result(name, 1, titles.get(name, name), per_second, p50_ms=p50, p99_ms=p50, **more)


def comparison(rates: dict[str, dict[str, float | None]]) -> Any:
    from measured import Comparison, Measured

    systems = [
        Measured(name, name.title(), "1.0", report=Report([result(*pair) for pair in found.items()]))
        for name, found in rates.items()
    ]
    return Comparison({"cores": "2"}, {"connections": 16}, "2026-01-01", systems)


def test_a_table_is_aligned() -> None:
    text = report.table(("what", "n"), [("a", "1"), ("long", "1,000")])
    assert text.splitlines() == [
        "| what |     n |",
        "| ---- | ----: |",
        "| a    |     1 |",
        "| long | 1,000 |",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (report.rate(12_345.6), "12,346"),
        (report.rate(3.21), "3.2"),
        (report.rate(0.043), "0.043"),
        (report.rate(None), DASH),
        (report.milliseconds(0.456), "0.46"),
        (report.milliseconds(1_234.5), "1,234"),
        (report.megabytes(54_321_000), "54"),
        (report.ratio(300, 100), f"3.00{TIMES}"),
        (report.ratio(3_000, 100), f"30{TIMES}"),
        (report.ratio(3_000, None), DASH),
        (report.ratio(None, 1), DASH),
        (report.ratio(1, 0), DASH),
        (report.share(55, 100), "55%"),
    ],
)
def test_figures_are_told_briefly(text: str, expected: str) -> None:
    assert text == expected


def test_processor_time_is_told_per_request() -> None:
    assert result("get", 100, requests=1_000, cpu_seconds=0.05).cpu_us == pytest.approx(50)
    assert result("get", 100).cpu_us is None


def test_what_was_not_run_has_a_dash_and_a_reason() -> None:
    found = Report([result("get", 100), Result("partiql", 9, "PartiQL", note="no such operation")])
    text = report.workloads(found)
    assert f"| PartiQL                        |          {DASH} |" in text
    assert "- PartiQL: no such operation" in text


def test_a_report_survives_json() -> None:
    found = Report([result("get", 100)], {1_000: [result("growth-get", 5)]}, 1_000, 2.0, 3)
    assert Report.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_a_comparison_survives_json() -> None:
    from measured import Comparison

    found = comparison({"hashrange": {"get": 200.0}})
    found.workers = {1: 10.0, 2: 19.0}
    assert Comparison.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_targets_are_reached_or_not_or_unknown() -> None:
    from targets import targets

    found = comparison(
        {
            "hashrange": {"get": 200.0, "put-new": 15.0, "query-100": 10.0},
            "dynalite": {"put-new": 10.0, "put-2-gsi": 10.0},
            "dynamodb-local": {"get": 60.0},
            "hashrange-postgres": {"query-100": 3.9},
        }
    )
    found.systems[0].item_disk_bytes = 3_000.0
    reached = {target.what: target.reached for target in targets(found)}
    assert reached["PutItem, new, to dynalite"] is True
    assert reached["PutItem, new, 2 indexes, to dynalite"] is None
    assert reached["GetItem, to DynamoDB Local"] is False
    assert reached["Query 100 items on PostgreSQL, to embedded"] is False
    assert reached["bytes on disk of an item of 2.1 KB"] is True
    assert reached["p50 as the table grows"] is None


def test_targets_are_told_per_core_as_well() -> None:
    from measured import Comparison, Measured
    from targets import targets

    systems = [
        Measured(name, name, report=Report([result("get", rate, requests=1_000, cpu_seconds=seconds)]))
        for name, rate, seconds in (("hashrange", 200.0, 0.5), ("dynamodb-local", 100.0, 2.0))
    ]
    found = next(iter(targets(Comparison({}, {}, "2026-01-01", systems))))
    assert (found.found, found.per_core) == (2.0, 4.0)


def test_every_target_is_about_a_workload() -> None:
    from targets import RATES

    from hashrange_bench.workloads import NAMES

    assert {name for name, _, _ in RATES} <= set(NAMES)


def test_an_item_of_the_footprint_has_its_size() -> None:
    import footprint

    from hashrange.core.items import item_size

    assert {item_size(json.loads(footprint.item(number))) for number in (0, 4_999)} == {footprint.ITEM_BYTES}


def test_growth_is_held_against_ten_thousand_items() -> None:
    from targets import targets

    found = comparison({"hashrange": {"get": 200.0}})
    slow = Result("growth-get", 12, "GetItem", 1.0, p50_ms=1.5)
    found.systems[0].report.growth = {10_000: [result("growth-get", 5)], 10_000_000: [slow]}
    growth = [target for target in targets(found) if "10,000,000" in target.what]
    assert [(target.found, target.reached) for target in growth] == [(1.5, False)]


def test_a_comparison_is_told_in_full() -> None:
    from summary import markdown

    found = comparison(
        {
            "hashrange": {"get": 200.0, "put": 10.0},
            "dynalite": {"get": 100.0, "put": None},
            "ceiling": {"get": 400.0},
        }
    )
    lines = [" ".join(line.split()) for line in markdown(found).splitlines()]
    assert f"| GetItem, eventually consistent | 2.00{TIMES} / {DASH} | 50% |" in lines
    assert f"| GetItem, eventually consistent | 200 ({DASH}) | 100 ({DASH}) | 400 ({DASH}) |" in lines
    assert f"| PutItem, overwrite | {DASH} | {DASH} |" in lines


def test_a_system_that_was_left_out_is_named() -> None:
    from summary import markdown

    found = comparison({"hashrange": {"get": 200.0}, "moto": {}})
    found.systems[1].skipped = "not installable here: pip is not installed"
    assert "- Moto was left out: not installable here: pip is not installed" in markdown(found)


def test_results_take_the_place_of_older_ones(tmp_path: Path) -> None:
    from publishing import BEGIN, END, replaced

    page = f"# Title\n\n{BEGIN}\n\nold\n\n{END}\n\nThe rest.\n"
    assert replaced(page, "new\n") == f"# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\nThe rest.\n"
    with pytest.raises(ValueError, match="the page has no"):
        replaced("no marks", "new")


def test_the_page_has_the_marks() -> None:
    from publishing import replaced

    from house import ROOT

    replaced((ROOT / "docs" / "benchmarks.md").read_text("utf-8"), "new")


def test_of_several_rounds_the_best_of_each_workload_counts() -> None:
    from measured import Measured

    def round_of(start_seconds: float, **rates: float | None) -> Measured:
        results = [Result(name, 1, name, per_second=rate) for name, rate in rates.items()]
        return Measured("hashrange", "Hashrange", start_seconds=start_seconds, report=Report(results=results))

    first = round_of(0.5, get=10.0, put=7.0, scan=None)
    first.improve(round_of(0.4, get=12.0, put=5.0, scan=1.0))
    assert [(each.name, each.per_second) for each in first.report.results] == [
        ("get", 12.0),
        ("put", 7.0),
        ("scan", 1.0),
    ]
    assert first.start_seconds == 0.4


def test_the_sentence_of_the_readme_has_the_ratios_to_dynamodb_local() -> None:
    from summary import sentence

    found = comparison({"hashrange": {"get": 300.0, "put": 10.0}, "dynamodb-local": {"get": 100.0}})
    assert sentence(found).endswith(f"in memory and warm: GetItem, eventually consistent 3.00{TIMES}.")
    assert sentence(comparison({"hashrange": {"get": 300.0}})) == "Not measured."


def test_what_is_published_goes_into_page_and_readme(tmp_path: Path) -> None:
    import orjson
    import publishing
    import summary

    found = comparison({"hashrange": {"get": 300.0}, "dynamodb-local": {"get": 100.0}})
    root, results = tmp_path / "root", tmp_path / "results"
    (root / "docs").mkdir(parents=True)
    pages = root / "README.md", root / "docs" / "benchmarks.md"
    for page in pages:
        page.write_text(f"# Title\n\n{publishing.BEGIN}\n\nold\n\n{publishing.END}\n", "utf-8")
    publishing.write_json(found, results)
    publishing.paths(results)[1].write_text(summary.markdown(found), "utf-8")
    (results / "speed.png").write_bytes(b"picture")
    publishing.publish(results, root)
    readme, page_text = (page.read_text("utf-8") for page in pages)
    assert "](docs/benchmarks-speed.png)" in readme
    assert f"GetItem, eventually consistent 3.00{TIMES}" in readme
    assert "](benchmarks-speed.png)" in page_text
    assert "growth.png" not in page_text
    assert orjson.loads((root / "docs" / "benchmarks.json").read_bytes())["date"] == "2026-01-01"


def test_the_readme_has_the_marks() -> None:
    from publishing import replaced

    from house import ROOT

    replaced((ROOT / "README.md").read_text("utf-8"), "new")


def test_the_pace_of_the_machine_is_told_beside_each_system() -> None:
    from summary import _systems

    found = comparison({"hashrange": {"get": 1.0}, "dynalite": {"get": 1.0}, "moto": {"get": 1.0}})
    found.systems[0].pace, found.systems[1].pace = 400.0, 300.0
    paces = [line.split("|")[-2].strip() for line in _systems(found).splitlines()[2:]]
    assert paces == ["100%", "75%", DASH]
