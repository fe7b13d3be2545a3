"""`hashrange price`: what so many reads and writes cost a month, with the arithmetic shown."""

import argparse
import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import msgspec

from hashrange import terminal
from hashrange.core.limits import ITEM_BYTES_MAX
from hashrange.modeling.columns import printable
from hashrange.modeling.price.money import MONTH_HOURS, exact, shown
from hashrange.modeling.price.price_list import price_list
from hashrange.modeling.price.quick import Answer, Question, Way, answer, monthly_requests
from hashrange.modeling.problems import ModelErrors
from hashrange.modeling.reading import quantities
from hashrange.modeling.texts import TextInvalid

DESCRIPTION = (
    "Compute what reads and writes of items of one size cost a month: on demand, provisioned and reserved, with every "
    "step of the arithmetic. A model file gives better answers: see `hashrange model price`."
)
UNUSABLE = 2
_MONTHLY = re.compile(r"(.+?)\s*(?:/|\bper\b)\s*month", re.IGNORECASE)


def _rate(text: str) -> Decimal:
    """Requests a month of 730 hours. A bare number is by the second."""
    match = _MONTHLY.fullmatch(text.strip())
    if match is not None:
        return monthly_requests(quantities.amount(match[1]), per_month=True)
    is_bare = "/" not in text and "per" not in text
    return monthly_requests(quantities.rate(f"{text}/s" if is_bare else text), per_month=False)


def _size(text: str) -> int:
    size = quantities.size(text)
    if not 1 <= size <= ITEM_BYTES_MAX:
        raise TextInvalid(f"an item of `{text}`", "an item has from 1 byte to 400 KB")
    return size


def _peak(text: str) -> Decimal:
    factor = exact(quantities.factor(text))
    if factor < 1:
        raise TextInvalid(f"a peak of `{text}`", "a peak is at least the average, 1x")
    return factor


def _target(text: str) -> Decimal:
    percent = exact(quantities.percent(text))
    if not 1 <= percent <= 100:
        raise TextInvalid(f"a target of `{text}`", "write one from 1% to 100%")
    return percent


class _Flag(NamedTuple):
    """A flag that takes a quantity."""

    name: str
    reader: Callable[[str], object]
    default: object
    help: str


_FLAGS = (
    _Flag("--reads", _rate, Decimal(0), "500 (a second), 3 per minute or 2 million per month"),
    _Flag("--writes", _rate, Decimal(0), "the same of writes"),
    _Flag("--size", _size, 1024, "size of an item (default: 1KB)"),
    _Flag("--strong", lambda text: exact(quantities.share(text)), Decimal(0), "strongly consistent: 20%%"),
    _Flag("--transactional", lambda text: exact(quantities.share(text)), Decimal(0), "in transactions: 5%%"),
    _Flag("--items", lambda text: exact(quantities.amount(text)), Decimal(0), "items stored: 10 million"),
    _Flag("--peak", _peak, Decimal(1), "the busiest minute, by the average: 4x"),
    _Flag("--target", _target, Decimal(70), "share of capacity in use at the peak (default: 70%%)"),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    for flag in _FLAGS:
        metavar = flag.name.removeprefix("--").upper()
        reader = _argument(flag.reader)
        parser.add_argument(flag.name, type=reader, default=flag.default, metavar=metavar, help=flag.help)
    parser.add_argument("--infrequent-access", action="store_true", help="of that table class")
    parser.add_argument("--region", default="us-east-1", metavar="REGION", help="default: %(default)s")
    parser.add_argument("--prices", metavar="FILE", help="a JSON file of prices that replace those built in")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _argument(reader: Callable[[str], object]) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return reader(text)
        except TextInvalid as error:
            message = f"{error.message}; {error.remedy}" if error.remedy else error.message
            raise argparse.ArgumentTypeError(printable(message)) from None

    return read


def run(options: argparse.Namespace) -> int:
    """Answer; give the exit status."""
    if options.strong + options.transactional > 1:
        terminal.complain("--strong and --transactional are shares of the same reads: together 100% at most")
        return UNUSABLE
    question = Question(
        options.reads,
        options.writes,
        options.size,
        strong=options.strong,
        transactional=options.transactional,
        items=options.items,
        peak=options.peak,
        target_percent=options.target,
        region=options.region,
        infrequent_access=options.infrequent_access,
    )
    try:
        result = answer(question, price_list(options.prices))
    except ModelErrors as errors:
        for problem in errors.problems:
            terminal.complain(printable(str(problem)))
        return UNUSABLE
    terminal.show(json.dumps(msgspec.to_builtins(result), indent=2) if options.json else render(result))
    return 0


def render(result: Answer) -> str:
    """The answer as text."""
    where = f"{result.region}, prices of {result.prices_of} in {result.currency}"
    lines = [printable(f"{where}, a month of {MONTH_HOURS} hours"), *(f"  {line}" for line in result.units)]
    for way in (*result.ways, *(() if result.storage is None else (result.storage,))):
        lines += ["", *_way_lines(way)]
    lines += ["", f"cheapest: {result.cheapest}"]
    lines.append(
        f"provisioned is cheaper than on-demand where more than {result.break_even:.1%} of it is in use"
    )
    return "\n".join(lines)


def _way_lines(way: Way) -> list[str]:
    return [f"{way.name}: {shown(way.monthly)} a month", *(f"  {line}" for line in way.arithmetic)]
