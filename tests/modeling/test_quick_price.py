"""`hashrange price`: the quick question, against arithmetic written out by hand."""

import json
from decimal import Decimal

import pytest

from hashrange.cli import main

SECONDS = 730 * 3600


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Decimal]:
    """What each way of paying costs."""
    assert main(["price", *words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    ways = [*report["ways"], *([report["storage"]] if report["storage"] else [])]
    return {way["name"]: Decimal(way["monthly"]) for way in ways}


def test_every_way_to_pay_is_computed(capsys: pytest.CaptureFixture[str]) -> None:
    ways = asked(capsys, "--reads", "10000", "--writes", "500", "--size", "2KB", "--strong", "20%")
    # 2 KB are one unit to read and two to write: 2,000 x 1 + 8,000 x 0.5 = 6,000 units/s, 500 x 2 = 1,000 units/s.
    on_demand = (6000 * Decimal("0.125") + 1000 * Decimal("0.625")) * SECONDS / 1_000_000
    assert ways["on-demand"] == on_demand == Decimal("3613.5")
    # 6,000 / 70 % is 8,571.4, and 1,000 / 70 % is 1,428.6.
    provisioned = (8572 * Decimal("0.00013") + 1429 * Decimal("0.00065")) * 730
    assert ways["provisioned"] == round(provisioned, 4)
    reads = 85 * (Decimal(30) / 12 + Decimal("0.0025") * 730) + 72 * 730 * Decimal("0.00013")
    writes = 14 * (Decimal(150) / 12 + Decimal("0.0128") * 730) + 29 * 730 * Decimal("0.00065")
    assert ways["provisioned, reserved for 1 y"] == round(reads + writes, 4)
    reads = 85 * (Decimal(36) / 36 + Decimal("0.0016") * 730) + 72 * 730 * Decimal("0.00013")
    writes = 14 * (Decimal(180) / 36 + Decimal("0.0081") * 730) + 29 * 730 * Decimal("0.00065")
    assert ways["provisioned, reserved for 3 y"] == round(reads + writes, 4)


def test_the_arithmetic_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["price", "--reads", "10000", "--writes", "500", "--size", "2KB", "--strong", "20%"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "us-east-1, prices of 2026-09-08 in USD, a month of 730 hours"
    assert (
        "  reads: 26,280,000,000 a month x 20 % strongly consistent x 1 units (2,048 bytes) = 5,256,000,000 units"
        in lines
    )
    assert "on-demand: 3,613.50 a month" in lines
    assert "  2,628 million write units x 0.625 = 1,642.50" in lines
    assert "  1,000 write units/s / 70 % = 1,429 units x 730 h x 0.00065 = 678.06" in lines
    assert "cheapest: provisioned, reserved for 3 y" in lines
    assert lines[-1] == "provisioned is cheaper than on-demand where more than 28.9% of it is in use"


def test_a_month_of_requests_is_priced_to_the_cent(capsys: pytest.CaptureFixture[str]) -> None:
    ways = asked(capsys, "--writes", "10 million per month", "--reads", "1 million/month")
    assert ways["on-demand"] == 10 * Decimal("0.625") + Decimal("0.5") * Decimal("0.125")


def test_transactions_take_twice_the_units(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--writes", "1 million per month", "--reads", "1 million per month", "--transactional", "50%")
    ways = asked(capsys, *words)
    writes = (Decimal("0.5") + Decimal("0.5") * 2) * Decimal("0.625")
    reads = (Decimal("0.5") * Decimal("0.5") + Decimal("0.5") * 2) * Decimal("0.125")
    assert ways["on-demand"] == round(writes + reads, 4)


def test_a_peak_takes_capacity_and_items_take_room(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--writes",
        "70",
        "--peak",
        "4x",
        "--items",
        "10 million",
        "--size",
        "924",
        "--region",
        "eu-west-1",
    )
    ways = asked(capsys, *words)
    # 70 x 4 / 70 % = 400 units; one read unit of capacity is the least, but nothing is read here.
    assert ways["provisioned"] == round(400 * 730 * Decimal("0.00065") * Decimal("1.131"), 4)
    storage = Decimal(10_000_000) * 1024 / 2**30 * Decimal("0.25") * Decimal("1.131")
    assert ways["storage"] == round(storage, 4)


def test_infrequent_access_cannot_be_reserved(capsys: pytest.CaptureFixture[str]) -> None:
    ways = asked(capsys, "--writes", "1 million per month", "--infrequent-access")
    assert list(ways) == ["on-demand", "provisioned"]
    assert ways["on-demand"] == Decimal("0.78")


def test_nothing_costs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(asked(capsys).values()) == {Decimal(0)}


def test_the_largest_question_has_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--reads",
        "1bn",
        "--writes",
        "1bn",
        "--size",
        "400KB",
        "--items",
        "1000000bn",
        "--peak",
        "1000x",
    )
    assert main(["price", *words, "--target", "1%"]) == 0
    assert "cheapest: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--reads", "lots"], "`lots` is no number"),
        (["--reads", "2bn"], "at most 1,000,000,000/s is possible"),
        (["--reads", "-5"], "no number"),
        (["--size", "500KB"], "an item has from 1 byte to 400 KB"),
        (["--size", "0"], "an item has from 1 byte to 400 KB"),
        (["--strong", "120%"], "at most 100% is possible"),
        (["--peak", "0.5x"], "at least the average"),
        (["--target", "0%"], "write one from 1% to 100%"),
    ],
)
def test_quantities_have_bounds(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["price", f"{words[0]}={words[1]}"])
    assert message in capsys.readouterr().err


def test_shares_and_regions_that_cannot_be_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["price", "--strong", "60%", "--transactional", "50%"]) == 2
    assert "together 100% at most" in capsys.readouterr().err
    assert main(["price", "--region", "us-east1"]) == 2
    assert "did you mean `us-east-1`" in capsys.readouterr().err
