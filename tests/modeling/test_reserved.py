"""Reserved capacity: blocks of a hundred units that pay for themselves."""

from decimal import Decimal

from hashrange.modeling.model import Curve, Rate, Scaling
from hashrange.modeling.price.price_list import price_list
from hashrange.modeling.price.reserved import reservation
from hashrange.modeling.price.throughput_costs import Traffic
from hashrange.modeling.price.uses import Throughput, Use

PRICES = price_list().region("us-east-1")


def writes(units: float, curve: Curve | None = None) -> Traffic:
    throughput = Throughput("notes", None, write=True)
    rate = Rate(units) if curve is None else Rate(units, curve)
    return Traffic(throughput, (Use("W", ("Note",), throughput, None, 1.0, rate),), Scaling())


def test_steady_traffic_is_reserved_whole() -> None:
    # 700 units are 70 % of ten blocks: 150 spread over a year and 0.0128 an hour for each.
    year = reservation([writes(700)], PRICES, 1)
    assert (year.write_units, year.upfront) == (1000, Decimal(1500))
    assert round(year.cost, 4) == 10 * (Decimal(150) / 12 + Decimal("0.0128") * 730)
    years = reservation([writes(700)], PRICES, 3)
    assert round(years.cost, 4) == 10 * (Decimal(180) / 36 + Decimal("0.0081") * 730)


def test_tables_share_what_is_reserved() -> None:
    assert reservation([writes(35), writes(35)], PRICES, 1).write_units == 100


def test_what_is_in_use_for_too_short_a_time_is_not_reserved() -> None:
    noon = Curve("noon", (0.0,) * 11 + (24.0,) + (0.0,) * 12)
    short = reservation([writes(70, noon)], PRICES, 1)
    assert (short.write_units, short.upfront) == (0, Decimal(0))
    assert reservation([], PRICES, 1).cost == 0
