"""Prices of models, against arithmetic written out by hand."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from hashrange.cli import main
from hashrange.modeling.commands.new import starter
from hashrange.modeling.commands.price import render
from hashrange.modeling.loading import loads
from hashrange.modeling.price.price_list import price_list
from hashrange.modeling.price.pricing import Cost, Priced, priced
from hashrange.modeling.price.throughput_costs import Mode
from hashrange.modeling.problems import ModelErrors

SECONDS = 730 * 3600
# An item has 2 + 36 bytes of key and 4 + 958 of body: 1,000, and 100 that are billed beside them.
PLAIN = """
hashrange: 1
name: plain
tables:
  notes: {partition_key: id@table}
entities:
  Note:
    count: 1 million
    attributes: {id: uuid, body: {type: S, size: 958}, at: {type: S, size: 10, optional: 100%}}
    keys: {id: "{id}"@keys}
patterns:
  - {id: R, entity: Note, where: id = ?id, rate: RATE}
  - {id: W, write: {put: Note}, rate: 10/s}
"""
STORED = Decimal(1_000_000) * 1100 / 2**30


def text(table: str = "", keys: str = "", rate: str = "100/s") -> str:
    return PLAIN.replace("@table", table).replace("@keys", keys).replace("RATE", rate)


def price(table: str = "", mode: Mode | None = None, region: str = "us-east-1", months: int = 0) -> Priced:
    model = loads(text(table).replace("name: plain", f"name: plain\nregion: {region}"))
    return priced(model, price_list(), mode, months)


def costs(rows: tuple[Cost, ...]) -> dict[str, Decimal]:
    return {row.name: row.monthly for row in rows}


def near(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.0001"))


def test_on_demand_is_units_times_their_price() -> None:
    result = price()
    reads = 100 * Decimal("0.5") * SECONDS * Decimal("0.125") / 1_000_000
    writes = 10 * 1 * SECONDS * Decimal("0.625") / 1_000_000
    assert (reads, writes) == (Decimal("16.425"), Decimal("16.425"))
    storage = STORED * Decimal("0.25")
    assert costs(result.kinds) == {"reads": reads, "writes": writes, "storage": near(storage)}
    assert costs(result.patterns) == {"R": reads, "W": writes}
    assert costs(result.tables) == {"notes": near(reads + writes + storage)}
    assert costs(result.entities) == {"Note": near(reads + writes + storage)}
    assert result.total == near(reads + writes + storage)


def test_capacity_for_the_peak_is_paid_by_the_hour() -> None:
    # 50 units a second are 70 % of 72, and 10 are 70 % of 15.
    kinds = costs(price(mode="provisioned").kinds)
    assert kinds["reads"] == 72 * 730 * Decimal("0.00013")
    assert kinds["writes"] == 15 * 730 * Decimal("0.00065")


def test_traffic_without_a_curve_is_scaled_to_the_same_capacity() -> None:
    kinds = costs(price(mode="auto-scaled").kinds)
    assert kinds["reads"] == 72 * 730 * Decimal("0.00013")
    assert kinds["writes"] == 15 * 730 * Decimal("0.00065")


def test_a_table_is_paid_as_its_model_says() -> None:
    (modes,) = price(", billing: {mode: provisioned, writes: {minimum: 100, maximum: 200}}").table_modes
    assert modes.mode == "auto-scaled"
    assert modes.auto_scaled == near(72 * 730 * Decimal("0.00013") + 100 * 730 * Decimal("0.00065"))
    assert modes.cheapest == "provisioned"
    assert modes.utilisation == pytest.approx((50 * 0.00013 + 10 * 0.00065) / (72 * 0.00013 + 100 * 0.00065))


def test_an_index_costs_writes_and_storage_of_its_own() -> None:
    model = loads(text(", indexes: {GSI: {partition_key: gk, projection: KEYS_ONLY}}", ', gk: "{id}"'))
    result = priced(model, price_list())
    # A row has 2 + 36 bytes of the table's key and 2 + 36 of its own.
    rows = Decimal(1_000_000) * (76 + 100) / 2**30 * Decimal("0.25")
    writes = 10 * SECONDS * Decimal("0.625") / 1_000_000
    assert costs(result.indexes) == {"notes/GSI": near(rows + writes)}


def test_infrequent_access_has_prices_of_its_own() -> None:
    kinds = costs(price(", class: infrequent-access").kinds)
    assert kinds["writes"] == near(10 * SECONDS * Decimal("0.78") / 1_000_000)
    assert kinds["storage"] == near(STORED * Decimal("0.10"))


def test_recovery_backups_streams_and_a_cache_are_added() -> None:
    options = ", point_in_time_recovery: true, backups: 4, dax: {node: dax.t3.small, nodes: 3}"
    kinds = costs(price(f"{options}, stream: {{view: NEW_IMAGE, readers: 2}}").kinds)
    assert kinds["recovery"] == near(STORED * Decimal("0.20"))
    assert kinds["backups"] == near(4 * STORED * Decimal("0.10"))
    assert kinds["dax"] == 3 * 730 * Decimal("0.04")
    # Two readers ask one shard once a second.
    assert kinds["stream"] == near(2 * SECONDS * Decimal("0.02") / 100_000)


def test_a_replica_pays_storage_and_every_write_at_its_own_prices() -> None:
    result = price(", replicas: [eu-west-1]")
    writes = 10 * SECONDS * Decimal("0.625") * Decimal("1.131") / 1_000_000
    storage = Decimal(1_000_000) * 1148 / 2**30 * Decimal("0.25")
    assert costs(result.kinds)["replicas"] == near(writes + storage * Decimal("1.131"))
    assert costs(result.kinds)["storage"] == near(storage)


def test_regions_have_their_own_prices() -> None:
    kinds = costs(price(region="eu-central-1").kinds)
    assert kinds["writes"] == near(10 * SECONDS * Decimal("0.7625") / 1_000_000)
    with pytest.raises(
        ModelErrors, match=r"^there are no prices for the region `eu-centrl-1`; did you mean `eu-central-1`"
    ):
        price(region="eu-centrl-1")


def test_provisioned_breaks_even_at_two_sevenths() -> None:
    even = price().break_even
    # 0.00065 / 3,600 s against 0.625 / 1,000,000
    assert (round(even.reads, 4), round(even.writes, 4)) == (0.2889, 0.2889)


def test_little_traffic_is_cheaper_on_demand() -> None:
    (modes,) = price().table_modes
    # At a 49th of the traffic 1.01 units a second are read, for which two units of capacity are needed, and 0.2 are
    # written, for which one is. They cost as much as a 49th of the 32.85 on demand.
    assert modes.changes_at == pytest.approx(
        float((2 * Decimal("0.00013") + Decimal("0.00065")) * 730 / Decimal("32.85")), rel=0.03
    )
    idle = priced(loads(text(rate="0/s").replace("rate: 10/s", "rate: 0/s")), price_list())
    assert idle.table_modes[0].changes_at is None


def test_rates_and_items_grow_by_the_month() -> None:
    grown = text(rate="{average: 100/s, growth: 10% per month}")
    months = priced(loads(grown), price_list(), months=2).months
    fixed = Decimal("16.425") + STORED * Decimal("0.25")
    expected = [
        fixed + Decimal("16.425") * factor for factor in (Decimal(1), Decimal("1.1"), Decimal("1.21"))
    ]
    assert [month.monthly for month in months] == [near(cost) for cost in expected]


def test_the_sums_by_table_kind_and_entity_are_the_whole() -> None:
    result = priced(loads(starter()), price_list())
    for rows in (result.kinds, result.tables, result.entities):
        assert sum(costs(rows).values()) == pytest.approx(result.total, abs=Decimal("0.001"))
        assert sum(row.share for row in rows) == pytest.approx(1)
    # What the curve of the evening leaves unused most of the day costs more than following it.
    (modes,) = result.table_modes
    assert modes.auto_scaled < modes.on_demand < modes.provisioned


def test_absurd_models_have_a_price_too() -> None:
    absurd = text(
        ", replicas: [eu-west-1], stream: NEW_IMAGE", rate="{average: 1bn/s, growth: 10000% per month}"
    )
    model = loads(absurd.replace("1 million", "900000bn"))
    result = priced(model, price_list(), months=120)
    assert result.months[-1].monthly > result.total > 0
    assert "plain" in render(result)


def test_the_command_prints_text_or_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(text(", dax: {node: dax.r5.large, nodes: 1}"), "utf-8")
    assert main(["model", "price", str(path), "--months", "1"]) == 0
    out = capsys.readouterr().out
    assert "plain, us-east-1: 33.11 USD a month of 730 hours (prices of " in out
    assert "more than 28.9% of it is in use" in out
    assert "no price of a node dax.r5.large is known" in out
    assert (
        main(["model", "price", str(path), "--json", "--region", "eu-west-1", "--mode", "provisioned"]) == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert (report["region"], report["month_hours"]) == ("eu-west-1", 730)
    assert report["table_modes"][0]["mode"] == "provisioned"


@pytest.mark.parametrize("months", ["121", "-1", "1.5", "1e9", "²"])
def test_months_are_bounded(months: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["model", "price", "model.yaml", f"--months={months}"])
    assert "write a number from 0 to 120" in capsys.readouterr().err
