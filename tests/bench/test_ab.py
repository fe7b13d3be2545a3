"""Two versions in turns: order, ratios, and what is told of them."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from house import ROOT

if TYPE_CHECKING:
    from ratios import Comparison, Turn


def turn(side: str, requests: int, seconds: float = 1.0, cpu: float | None = 0.5, errors: int = 0) -> "Turn":
    import ratios

    return ratios.Turn(side, requests, seconds, cpu, errors)


def comparison(*rounds: tuple[int, int]) -> "Comparison":
    """Rounds of one turn each, given as requests before and after."""
    import ratios

    turns = [[turn("before", before), turn("after", after)] for before, after in rounds]
    return ratios.Comparison("get", "GetItem", turns)


@pytest.mark.parametrize("number", range(4))
def test_a_round_gives_each_side_the_same_turns_and_place(number: int) -> None:
    import ratios

    order = ratios.order(number)
    places = {side: [place for place, other in enumerate(order) if other == side] for side in ratios.SIDES}
    assert sum(places["before"]) == sum(places["after"])
    assert len(places["before"]) == len(places["after"]) == 2


def test_the_side_that_begins_changes_from_round_to_round() -> None:
    import ratios

    assert [ratios.order(number)[0] for number in range(4)] == ["before", "after", "before", "after"]


def test_the_median_of_the_rounds_counts_not_the_mean() -> None:
    spread = comparison((100, 110), (100, 50), (100, 120)).throughput
    assert spread is not None
    assert (spread.median, spread.lowest, spread.highest) == (1.1, 0.5, 1.2)
    assert str(spread) == "1.100 (0.500 \N{EN DASH} 1.200)"


def test_the_turns_of_a_side_are_summed_before_they_are_divided() -> None:
    import ratios

    turns = [
        turn("before", 100, 1.0),
        turn("after", 100, 1.0),
        turn("after", 200, 4.0),
        turn("before", 300, 3.0),
    ]
    spread = ratios.Comparison("get", "GetItem", [turns]).throughput
    assert spread is not None
    assert spread.median == pytest.approx((300 / 5) / (400 / 4))


def test_less_processor_time_is_told_as_a_ratio_above_one() -> None:
    import ratios

    turns = [turn("before", 100, cpu=1.0), turn("after", 100, cpu=0.5)]
    found = ratios.Comparison("get", "GetItem", [turns])
    assert found.throughput == ratios.Spread(1.0, 1.0, 1.0)
    assert found.efficiency == ratios.Spread(2.0, 2.0, 2.0)


def test_the_best_turns_are_compared_across_rounds() -> None:
    assert comparison((100, 90), (80, 120)).best == pytest.approx(1.2)


def test_without_processor_time_the_rate_is_told_alone() -> None:
    import ratios

    turns = [turn("before", 100, cpu=None), turn("after", 100, cpu=None)]
    found = ratios.Comparison("get", "GetItem", [turns])
    assert (found.efficiency, found.best) == (None, None)
    assert found.throughput is not None


def test_a_side_that_answered_nothing_has_no_ratio_and_is_below_any() -> None:
    import ratios

    found = comparison((0, 100))
    assert found.throughput is None
    assert ratios.below([found], 0.1) == ["get"]


def test_slower_workloads_are_named() -> None:
    import ratios

    assert ratios.below([comparison((100, 98))], 0.97) == []
    assert ratios.below([comparison((100, 96))], 0.97) == ["get"]


def test_the_table_tells_rates_times_ratios_and_notes() -> None:
    import ratios

    found = comparison((10_000, 12_000))
    found.rounds[0].append(turn("after", 0, 0.0, 0.0, errors=3))
    found.notes += ["requests were used up"] * 2
    _, _, row, _, *notes = ratios.markdown([found]).splitlines()
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        *("GetItem", "10,000", "12,000", "1.200 (1.200 \N{EN DASH} 1.200)"),
        *("50", "42", "1.200 (1.200 \N{EN DASH} 1.200)", "1.200"),
    ]
    assert notes == ["- get: 3 errors", "- get: requests were used up"]


def test_the_json_keeps_every_turn() -> None:
    found = json.loads(json.dumps(comparison((100, 110), (100, 120)).as_json()))
    assert found["throughput"] == {"median": 1.15, "lowest": 1.1, "highest": 1.2}
    assert [len(turns) for turns in found["rounds"]] == [2, 2]


def test_each_side_is_served_from_its_own_tree(tmp_path: Path) -> None:
    from ab import served
    from systems import Place

    system = served("after", tmp_path)
    place = Place(tmp_path, tmp_path / "data", 4711)
    assert system.environment(place) == {"PYTHONPATH": str(tmp_path / "src")}
    command = system.command(place)
    assert command[command.index("--port") + 1] == "4711"
    assert command[command.index("--data-dir") + 1].startswith(str(tmp_path / "data"))


def test_a_side_may_have_flags_of_its_own(tmp_path: Path) -> None:
    from ab import parser, served
    from systems import Place

    trees = ["--before", str(ROOT), "--after", str(ROOT)]
    flags = parser().parse_args([*trees, "--after-flags=--capacity enforce"])
    assert (flags.before_flags, flags.after_flags) == ("", "--capacity enforce")
    command = served("after", tmp_path, flags.after_flags).command(Place(tmp_path, tmp_path / "data", 4711))
    assert command[-2:] == ["--capacity", "enforce"]


def test_what_is_no_source_tree_is_refused(tmp_path: Path) -> None:
    from ab import source_tree

    assert source_tree(str(ROOT)) == ROOT.resolve()
    with pytest.raises(argparse.ArgumentTypeError, match="has no src/hashrange"):
        source_tree(str(tmp_path))


def test_the_default_workloads_exist() -> None:
    from ab import CHOICES, DEFAULT, parser

    assert set(DEFAULT) <= set(CHOICES)
    flags = parser().parse_args(["--before", str(ROOT), "--after", str(ROOT)])
    assert tuple(flags.workloads) == DEFAULT


@pytest.mark.slow
def test_a_tree_against_itself_gives_figures_and_leaves_nothing_behind(tmp_path: Path) -> None:
    import ab

    out = tmp_path / "ab.json"
    trees = ["--before", str(ROOT), "--after", str(ROOT)]
    assert (
        ab.main(
            [*trees, "--rounds", "1", "--seconds", "1", "--workloads", "transact-write-2", "--json", str(out)]
        )
        == 0
    )
    (found,) = json.loads(out.read_text("utf-8"))["workloads"]
    assert found["throughput"]["median"] > 0
    assert found["errors"] == 0
    assert [side["side"] for side in found["rounds"][0]] == ["before", "after", "after", "before"]
