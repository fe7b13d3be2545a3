"""The quick question: so many reads and writes of items of one size; with every step of the arithmetic."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from hashrange.core.capacity import read_units, write_units
from hashrange.modeling.price.charges import ROW_BYTES
from hashrange.modeling.price.money import GIGABYTE, MONTH_HOURS, MONTH_SECONDS, exact, rounded, shown
from hashrange.modeling.price.price_list import ClassPrices, PriceList
from hashrange.modeling.price.pricing import break_even
from hashrange.modeling.price.reserved import BLOCK_UNITS, YEAR_MONTHS


@dataclass(frozen=True, slots=True)
class Question:
    """Requests of a month, shares of them, and what they are about."""

    reads: Decimal
    writes: Decimal
    size_bytes: int
    strong: Decimal = Decimal(0)
    transactional: Decimal = Decimal(0)
    items: Decimal = Decimal(0)
    peak: Decimal = Decimal(1)
    target_percent: Decimal = Decimal(70)
    region: str = "us-east-1"
    infrequent_access: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """A way to pay, its sum, and how that comes about."""

    name: str
    monthly: Decimal
    arithmetic: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Units, ways to pay for them, and the storage that comes on top of each."""

    region: str
    currency: str
    prices_of: str
    read_units: Decimal
    write_units: Decimal
    units: tuple[str, ...]
    ways: tuple[Way, ...]
    storage: Way | None
    cheapest: str
    break_even: float


@dataclass(frozen=True, slots=True)
class _Units:
    """Units of a month, of reads or of writes."""

    word: str
    monthly: Decimal
    write: bool

    @property
    def per_second(self) -> Decimal:
        return self.monthly / MONTH_SECONDS


def answer(question: Question, prices: PriceList) -> Answer:
    """What it costs."""
    region = prices.region(question.region)
    own = region.infrequent_access if question.infrequent_access else region.standard
    reads, read_lines = _reads(question)
    writes, write_lines = _writes(question)
    units = (_Units("read", reads, write=False), _Units("write", writes, write=True))
    ways = [_on_demand(units, own), _provisioned(units, question, own)]
    if not question.infrequent_access:
        ways += [_reserved(units, question, prices, years) for years in (1, 3)]
    return Answer(
        question.region,
        prices.currency,
        prices.date,
        rounded(reads),
        rounded(writes),
        (*read_lines, *write_lines),
        tuple(ways),
        _storage(question, own) if question.items else None,
        min(ways, key=lambda way: way.monthly).name,
        break_even(own).writes,
    )


def number(value: Decimal) -> str:
    """A number as people write it, with six significant digits behind the whole ones at most."""
    text = f"{value:,.6f}".rstrip("0").rstrip(".")
    return text or "0"


def _reads(question: Question) -> tuple[Decimal, list[str]]:
    whole = Decimal(read_units(question.size_bytes, consistent=True))
    eventual = 1 - question.strong - question.transactional
    parts = (
        ("strongly consistent", question.strong, whole),
        ("eventually consistent", eventual, whole / 2),
        ("transactional", question.transactional, whole * 2),
    )
    return _summed("reads", question.reads, question.size_bytes, parts)


def _writes(question: Question) -> tuple[Decimal, list[str]]:
    whole = Decimal(write_units(question.size_bytes))
    parts = (
        ("plain", 1 - question.transactional, whole),
        ("transactional", question.transactional, whole * 2),
    )
    return _summed("writes", question.writes, question.size_bytes, parts)


def _summed(
    word: str, requests: Decimal, size: int, parts: tuple[tuple[str, Decimal, Decimal], ...]
) -> tuple[Decimal, list[str]]:
    total, lines = Decimal(0), []
    for name, share, units in parts:
        if not share or not requests:
            continue
        monthly = requests * share * units
        lines.append(
            f"{word}: {number(requests)} a month x {number(share * 100)} % {name} x {number(units)} units "
            f"({size:,} bytes) = {number(monthly)} units"
        )
        total += monthly
    return total, lines


def _on_demand(units: tuple[_Units, ...], prices: ClassPrices) -> Way:
    total, lines = Decimal(0), []
    for side in units:
        price = prices.on_demand_write_million if side.write else prices.on_demand_read_million
        cost = side.monthly / 1_000_000 * price
        lines.append(
            f"{number(side.monthly / 1_000_000)} million {side.word} units x {price} = {shown(cost)}"
        )
        total += cost
    return Way("on-demand", rounded(total), tuple(lines))


def _capacity(side: _Units, question: Question) -> Decimal:
    exact_need = side.per_second * question.peak * 100 / question.target_percent
    # Rounded first, as a month's requests divided by its seconds rarely come out even.
    return round(exact_need, 6).to_integral_value(ROUND_CEILING)


def _capacity_text(side: _Units, question: Question) -> str:
    peak = "" if question.peak == 1 else f" x {number(question.peak)} at the peak"
    return (
        f"{number(side.per_second)} {side.word} units/s{peak} / {number(question.target_percent)} % "
        f"= {number(_capacity(side, question))} units"
    )


def _provisioned(units: tuple[_Units, ...], question: Question, prices: ClassPrices) -> Way:
    total, lines = Decimal(0), []
    for side in units:
        price = prices.unit_hour(write=side.write)
        cost = _capacity(side, question) * MONTH_HOURS * price
        lines.append(f"{_capacity_text(side, question)} x {MONTH_HOURS} h x {price:f} = {shown(cost)}")
        total += cost
    return Way("provisioned", rounded(total), tuple(lines))


def _reserved(units: tuple[_Units, ...], question: Question, prices: PriceList, years: int) -> Way:
    """As many whole blocks as there is capacity for, and the rest by the hour."""
    region = prices.region(question.region)
    own = region.reserved_1_year if years == 1 else region.reserved_3_years
    total, lines = Decimal(0), []
    for side in units:
        upfront, hour = (
            (own.write_upfront, own.write_hour) if side.write else (own.read_upfront, own.read_hour)
        )
        blocks, rest = divmod(_capacity(side, question), BLOCK_UNITS)
        price = region.standard.unit_hour(write=side.write)
        cost = blocks * (upfront / (YEAR_MONTHS * years) + hour * MONTH_HOURS) + rest * MONTH_HOURS * price
        lines.append(
            f"{number(blocks)} x {BLOCK_UNITS} {side.word} units x ({upfront:f} upfront / {YEAR_MONTHS * years} months "
            f"+ {MONTH_HOURS} h x {hour:f}) + {number(rest)} units x {MONTH_HOURS} h x {price:f} = {shown(cost)}"
        )
        total += cost
    return Way(f"provisioned, reserved for {years} y", rounded(total), tuple(lines))


def _storage(question: Question, prices: ClassPrices) -> Way:
    size = question.items * (question.size_bytes + ROW_BYTES)
    cost = size / GIGABYTE * prices.storage_gb_month
    line = (
        f"{number(question.items)} items x ({question.size_bytes:,} + {ROW_BYTES} bytes) = "
        f"{number(size / GIGABYTE)} GB x {prices.storage_gb_month:f} = {shown(cost)}"
    )
    return Way("storage", rounded(cost), (line,))


def monthly_requests(amount: float, *, per_month: bool) -> Decimal:
    """Requests of a month: given so, or by the second."""
    return exact(amount) if per_month else exact(amount) * MONTH_SECONDS
