"""Money: exact decimals, which are rounded once, when they are shown."""

from decimal import ROUND_HALF_UP, Context, Decimal

MONTH_HOURS = 730  # as the service's own calculator has it
MONTH_SECONDS = MONTH_HOURS * 3600
GIGABYTE = 1 << 30
DIGITS = 4
_WIDE = Context(prec=200, rounding=ROUND_HALF_UP)  # sums of absurd models have more digits than the usual 28


def exact(value: float) -> Decimal:
    """A number of units or bytes, as it would be written down."""
    return Decimal(repr(value))


def rounded(value: Decimal, digits: int = DIGITS) -> Decimal:
    """To a hundredth of a cent, or to so many digits."""
    return value.quantize(Decimal(1).scaleb(-digits), context=_WIDE)


def shown(value: Decimal) -> str:
    """For people, in whole cents: `1,234.50`."""
    if 0 < value < Decimal("0.005"):
        return "<0.01"
    return f"{value.quantize(Decimal('0.01'), context=_WIDE):,}"
