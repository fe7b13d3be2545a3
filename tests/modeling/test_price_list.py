"""Price files: what comes along, what a file changes, and what is wrong with one."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from hashrange.modeling.price.price_list import price_list
from hashrange.modeling.problems import ModelErrors


def written(tmp_path: Path, content: object) -> str:
    path = tmp_path / "prices.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return str(path)


def test_the_prices_that_come_along_have_a_date_and_a_source() -> None:
    prices = price_list()
    assert (prices.date, prices.currency) == ("2026-09-08", "USD")
    assert prices.source
    assert prices.region("us-east-1").standard.on_demand_write_million == Decimal("0.625")
    assert prices.region("sa-east-1").standard.write_unit_hour == Decimal("0.000975")


def test_a_file_changes_what_it_has_and_nothing_else(tmp_path: Path) -> None:
    changes = {"standard": {"storage_gb_month": "0.30"}, "dax_node_hour": {"dax.r5.large": 0.25}}
    path = written(
        tmp_path, {"date": "2027-01-01", "regions": {"eu-west-1": changes, "moon-1": {"factor": 2}}}
    )
    prices = price_list(path)
    ireland = prices.region("eu-west-1")
    assert ireland.standard.storage_gb_month == Decimal("0.30")
    assert ireland.standard.write_unit_hour == Decimal("0.00065") * Decimal("1.131")
    assert ireland.dax_node_hour["dax.r5.large"] == Decimal("0.25")
    assert prices.region("moon-1").backup_gb_month == Decimal("0.20")
    assert prices.date == "2027-01-01"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "cannot be used"),
        ("[" * 100_000, "cannot be used"),
        ({"region": {}}, "unknown field `region`"),
        ({"regions": {"eu-west-1": {"standrd": {}}}}, "unknown field `standrd`"),
        ({"regions": {"eu-west-1": {"restore_gb": "-1"}}}, "`restore_gb` is -1; a price is from 0"),
        ({"regions": {"eu-west-1": {"restore_gb": "NaN"}}}, "a price is from 0"),
        ({"regions": {"eu-west-1": {"restore_gb": "1e999999"}}}, "a price is from 0"),
        ({"regions": {"eu-west-1": {"restore_gb": None}}}, "the prices of eu-west-1"),
        ({"regions": {"eu-west-1": {"factor": "cheap"}}}, "the prices of eu-west-1"),
        ({"base": {"restore_gb": "1e999999"}}, "cannot be used"),
        ({"base": {"restore_gb": "1e999999999999999999"}}, "a price is from 0"),
        ({"base": {"restore_gb": "sNaN"}}, "a price is from 0"),
        ({"base": {"standard": "dear"}}, "cannot be used"),
        ({"base": {"standard": []}}, "cannot be used"),
        (" " * (1 << 20) + "{}", "more than 1 MB"),
    ],
)
def test_a_file_that_is_no_price_list_is_refused(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(ModelErrors, match=message):
        price_list(written(tmp_path, content))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelErrors, match="cannot read the prices in"):
        price_list(str(tmp_path / "none.json"))
