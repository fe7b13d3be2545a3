"""`hashrange model check`: findings, silences and the exit status."""

import json
from pathlib import Path

import pytest

from hashrange.cli import main
from hashrange.modeling.check.rules import RULES, check
from hashrange.modeling.commands.new import starter
from hashrange.modeling.loading import loads
from hashrange.modeling.problems import ModelErrors

MODEL = """hashrange: 1
tables:
  shop: {partition_key: sku, point_in_time_recovery: true}
entities:
  Product: {count: 100k, attributes: {sku: uuid, title: text}}
patterns:
  - {id: A1, entity: Product, where: sku = ?sku, rate: 5/s}
  - {id: J1, entity: Product, operation: Scan, rate: 1 per minute}COMMENT
"""


def found(comment: str = "") -> list[tuple[str, int]]:
    report = check(loads(MODEL.replace("COMMENT", comment)))
    return [(finding.code, finding.place.line) for finding in report.findings]


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "model.yaml"
    path.write_text(text, "utf-8")
    return str(path)


def test_codes_are_unique_and_in_order() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))


def test_the_starter_has_neither_errors_nor_warnings() -> None:
    assert [finding for finding in check(loads(starter())).findings if finding.severity != "info"] == []


def test_a_silence_with_a_reason_takes_the_finding_away_and_is_counted() -> None:
    assert found() == [("HR103", 8)]
    text = MODEL.replace("COMMENT", "  # hashrange: HR103 the table is small")
    report = check(loads(text))
    assert report.findings == ()
    assert report.silenced == 1


def test_a_silence_without_a_reason_is_a_mistake_of_the_file() -> None:
    with pytest.raises(ModelErrors, match="HR103 is silenced without a reason"):
        found("  # hashrange: HR103")


def test_a_silence_of_another_rule_leaves_the_finding_and_is_reported_itself() -> None:
    assert found("  # hashrange: HR102 it returns little") == [("HR103", 8), ("HR199", 8)]


def test_a_silence_further_down_in_the_block_is_told_its_line() -> None:
    text = MODEL.replace("COMMENT", "").rstrip("\n") + "\n    # hashrange: HR103 the table is small\n"
    (unused,) = [finding for finding in check(loads(text)).findings if finding.code == "HR199"]
    assert "or put it on line 8, which HR103 is about" in unused.remedy


def test_a_silence_of_a_rule_that_is_not_there_says_so() -> None:
    report = check(loads(MODEL.replace("COMMENT", "  # hashrange: HR999 why not")))
    assert [finding.message for finding in report.findings if finding.code == "HR199"] == [
        "there is no rule HR999"
    ]


def test_a_finding_is_a_line_with_its_place_and_one_with_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, MODEL.replace("COMMENT", ""))
    assert main(["model", "check", path]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{path}:8:5 HR103 warning: J1: reads the whole table 0.0167/s")
    assert lines[1].startswith("    serve it by a key")
    assert lines[2] == "0 errors, 1 warning, 0 notes; 0 silenced"


def test_json_has_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "check", written(tmp_path, MODEL.replace("COMMENT", "")), "--json"]) == 1
    checked = json.loads(capsys.readouterr().out)
    assert checked["failed"] is True
    finding = checked["report"]["findings"][0]
    assert (finding["code"], finding["severity"], finding["place"]["line"]) == ("HR103", "warning", 8)


def test_notes_fail_only_if_the_check_is_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    comment = "  # hashrange: HR103, HR104 the table is small"
    path = written(tmp_path, MODEL.replace("COMMENT", comment))
    assert main(["model", "check", path]) == 0
    assert "HR199 info" in capsys.readouterr().out
    assert main(["model", "check", path, "--strict"]) == 1


def test_a_file_gives_no_orders_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = MODEL.replace("COMMENT", "").replace("rate: 5/s", 'screen: "a\\eb", rate: 5/s')
    text = text.replace("operation: Scan", 'screen: "a\\eb", operation: Scan')
    main(["model", "check", written(tmp_path, text)])
    out = capsys.readouterr().out
    assert "HR105" in out
    assert "\x1b" not in out
