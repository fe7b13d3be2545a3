"""`hashrange model show`: what is in the tables, and which key serves which pattern."""

import argparse
import json
from pathlib import Path

import pytest

from hashrange.cli import main
from hashrange.modeling.columns import amount, columns, rate
from hashrange.modeling.commands import show
from hashrange.modeling.commands.new import starter
from hashrange.modeling.loading import loads

UNSERVED = '\n  - {id: A9, name: "Sp\\eecial", entity: Product, where: title = ?title}\n'


def shown(text: str) -> show.Shown:
    return show.run(loads(text), argparse.Namespace())


def test_every_pattern_of_the_starter_is_served_by_a_key() -> None:
    result = shown(starter())
    assert [(pattern.id, pattern.operation, pattern.key) for pattern in result.reads] == [
        ("A1", "GetItem", "shop"),
        ("A2", "Query", "GSI1"),
        ("A3", "Query", "shop"),
        ("A4", "Query", "GSI1"),
        ("A5", "GetItem", "shop"),
    ]
    assert all(pattern.served for pattern in result.reads)
    assert [pattern.operation for pattern in result.writes] == ["PutItem", "TransactWriteItems", "UpdateItem"]


def test_it_is_shown_in_columns() -> None:
    lines = show.render(shown(starter())).splitlines()
    assert lines[0] == "shop, us-east-1"
    assert "  GSI1   GSI1PK     GSI1SK  ALL" in lines
    heading = next(line for line in lines if line.startswith("  entity"))
    customer = next(line for line in lines if line.startswith("  Customer"))
    assert heading.index("SK") == customer.index("PROFILE")
    latest = next(line for line in lines if " A3 " in line)
    assert "PK = CUSTOMER#{?customer_id} and SK between ORDER#{?since} and ORDER#…" in latest


def test_a_pattern_without_a_key_says_why() -> None:
    result = shown(starter() + UNSERVED)
    scan = result.reads[-1]
    assert (scan.served, scan.operation) == (False, "Scan")
    text = show.render(result)
    assert "  NO  A9" in text
    assert "  A9: no key serves it" in text


def test_a_file_gives_no_orders_to_the_terminal() -> None:
    text = show.render(shown(starter() + UNSERVED))
    assert "\x1b" not in text
    assert "Sp�ecial" in text


def test_the_command_prints_text_or_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(starter(), "utf-8")
    assert main(["model", "show", str(path)]) == 0
    assert "table shop: on-demand" in capsys.readouterr().out
    assert main(["model", "show", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["reads"][0]["conditions"] == "PK = CUSTOMER#{?customer_id} and SK = PROFILE"


def test_a_file_with_mistakes_has_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(starter().replace("100k", "lots"), "utf-8")
    assert main(["model", "show", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{path}:25:12: `lots` is no number; write 1500, 2.5k or 1 million" in captured.err


def test_columns_are_as_wide_as_their_cells() -> None:
    assert columns([["a", "bb"], ["ccc", "d"]]) == ["  a    bb", "  ccc  d"]
    assert columns([["x" * 80, "y"]]) == [f"  {'x' * 59}…  y"]
    assert columns([]) == []


def test_numbers_are_for_people() -> None:
    assert [amount(value) for value in (0, 0.5, 12, 5000, 20_000, 1.5e6, 3e9, 2e12)] == [
        "0",
        "0.5",
        "12",
        "5,000",
        "20 k",
        "1.5 M",
        "3 G",
        "2 T",
    ]
    assert [rate(value) for value in (0, 50, 0.02, 0.001)] == ["0/s", "50/s", "0.02/s", "3.6/h"]
