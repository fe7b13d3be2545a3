"""`hashrange model price`: what a design costs a month, and what would cost less."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from hashrange.modeling.columns import columns, printable
from hashrange.modeling.model import Model
from hashrange.modeling.price.money import shown
from hashrange.modeling.price.price_list import price_list
from hashrange.modeling.price.pricing import Cost, Priced, TableModes, priced
from hashrange.modeling.price.throughput_costs import MODES
from hashrange.modeling.report.cost_section import cost_section
from hashrange.modeling.report.page import page

DESCRIPTION = (
    "Compute what the tables of a model cost a month: by table, index, entity and pattern, on demand, provisioned for "
    "the peak, auto scaled along the curve of a day, and with reserved capacity."
)
MONTHS_MAX = 120
_BAR_CHARS = 20
_ROWS_MAX = 40


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("--mode", choices=MODES, help="how all tables are paid (default: as the model says)")
    parser.add_argument("--region", metavar="REGION", help="another region than the model's")
    parser.add_argument(
        "--months", type=_months, default=0, metavar="N", help="show the cost of the coming N months, with growth"
    )  # fmt: skip
    parser.add_argument("--prices", metavar="FILE", help="a JSON file of prices that replace those built in")


def _months(text: str) -> int:
    if not text.isdecimal() or len(text) > 3 or not 0 <= int(text) <= MONTHS_MAX:
        raise argparse.ArgumentTypeError(f"write a number from 0 to {MONTHS_MAX}")
    return int(text)


def run(model: Model, options: argparse.Namespace) -> Priced:
    """Price a model."""
    if options.region is not None:
        model = replace(model, region=options.region)
    return priced(model, price_list(options.prices), options.mode, options.months)


def html(result: Priced) -> str:
    """The costs as a page."""
    return page(result.name, [cost_section(result)], kind="Cost", facts=[result.region, result.source])


def render(result: Priced) -> str:
    """The price as text."""
    name, region, currency, date = map(
        printable, (result.name, result.region, result.currency, result.prices_of)
    )
    hours = f"a month of {result.month_hours} hours (prices of {date})"
    lines = [f"{name}, {region}: {shown(result.total)} {currency} {hours}"]
    for heading, costs in (
        ("what for", result.kinds),
        ("table", result.tables),
        ("index", result.indexes),
        ("entity", result.entities),
        ("pattern", result.patterns),
    ):
        if costs:
            lines += ["", *_cost_lines(heading, costs)]
    lines += ["", "reads and writes, if they were paid", *_mode_lines(result), "", *_table_mode_lines(result)]
    lines += _break_even_lines(result)
    if result.months:
        lines += ["", *_month_lines(result)]
    lines += [f"note: {printable(note)}" for note in result.notes]
    return "\n".join(lines)


def _right(rows: Sequence[Sequence[str]], at: int) -> list[list[str]]:
    """The rows, with one column flush right."""
    width = max(len(row[at]) for row in rows)
    return [[*row[:at], row[at].rjust(width), *row[at + 1 :]] for row in rows]


def _bar(share: float) -> str:
    return "#" * round(min(max(share, 0.0), 1.0) * _BAR_CHARS)


def _cost_lines(heading: str, costs: Sequence[Cost]) -> list[str]:
    rows = [[heading, "a month", "share", ""]]
    rows += [
        [cost.name, shown(cost.monthly), f"{cost.share:.1%}", _bar(cost.share)] for cost in costs[:_ROWS_MAX]
    ]
    lines = columns(_right(_right(rows, 1), 2))
    if len(costs) > _ROWS_MAX:
        lines.append(f"  and {len(costs) - _ROWS_MAX} smaller ones")
    return lines


def _mode_lines(result: Priced) -> list[str]:
    most = max((float(row.monthly) for row in result.modes), default=0.0)
    rows = [
        [row.mode, shown(row.monthly), _bar(float(row.monthly) / most if most else 0.0).ljust(_BAR_CHARS), row.note]
        for row in result.modes
    ]  # fmt: skip
    return columns(_right(rows, 1))


def _table_mode_lines(result: Priced) -> list[str]:
    rows = [["table", "on-demand", "provisioned", "auto-scaled", "cheapest", "in use", "refused"]]
    rows += [_table_mode_row(table) for table in result.table_modes]
    for at in (1, 2, 3):
        rows = _right(rows, at)
    return columns(rows)


def _table_mode_row(table: TableModes) -> list[str]:
    return [
        table.table,
        shown(table.on_demand),
        shown(table.provisioned),
        shown(table.auto_scaled),
        table.cheapest if table.cheapest != table.mode else f"{table.cheapest} (as now)",
        f"{table.utilisation:.0%}",
        f"{table.refused_share:.2%}",
    ]


def _break_even_lines(result: Priced) -> list[str]:
    even = result.break_even
    shares = f"{even.reads:.1%} of it is in use for reads, {even.writes:.1%} for writes"
    changes = [
        f"  {table.table}: on-demand is the cheapest below {table.changes_at:.3g} times this traffic"
        for table in result.table_modes
        if table.changes_at is not None
    ]
    return [
        *changes,
        f"  provisioned capacity is the cheaper one where more than {shares}",
        "  in use and refused: of auto scaled capacity, over a simulated day without any burst",
    ]


def _month_lines(result: Priced) -> list[str]:
    most = max(float(month.monthly) for month in result.months)
    rows = [["in months", "a month", ""]]
    rows += [
        [f"{month.month}", shown(month.monthly), _bar(float(month.monthly) / most if most else 0.0)]
        for month in result.months
    ]
    whole = sum((month.monthly for month in result.months[1:]), Decimal(0))
    return [*columns(_right(rows, 1)), f"  together, the {len(result.months) - 1} coming: {shown(whole)}"]
