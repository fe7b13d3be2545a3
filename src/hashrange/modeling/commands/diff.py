"""`hashrange model diff`: from one version of a model to the next: what changes, what it takes, and in which order."""

import argparse

from hashrange.modeling.columns import amount, columns, printable
from hashrange.modeling.diff.changes import Change
from hashrange.modeling.diff.comparison import Comparison, compare
from hashrange.modeling.diff.pattern_changes import PatternChange
from hashrange.modeling.diff.runbook import Step
from hashrange.modeling.loading import load
from hashrange.modeling.model import Model
from hashrange.modeling.price.money import shown
from hashrange.modeling.price.price_list import price_list
from hashrange.modeling.report.diff_section import diff_sections
from hashrange.modeling.report.page import page

DESCRIPTION = (
    "Compare two versions of a model: which items need a backfill, which indexes to add, which patterns break, what "
    "the migration costs, and its steps in order. Fails if a pattern that was served is not any more."
)
METAVAR = "OLD"
_RATE_MAX = 10_000_000
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("new", metavar="NEW", help="the model file of the new version")
    parser.add_argument(
        "--items-per-second", type=_rate, default=1000, metavar="N", help="the pace of backfills (default: 1000)"
    )  # fmt: skip
    parser.add_argument("--prices", metavar="FILE", help="a JSON file of prices that replace those built in")


def _rate(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(_RATE_MAX)) or not 1 <= int(text) <= _RATE_MAX:
        raise argparse.ArgumentTypeError(f"write a number from 1 to {_RATE_MAX:,}")
    return int(text)


def run(model: Model, options: argparse.Namespace) -> Comparison:
    """Compare the model with the new version."""
    return compare(model, load(options.new), price_list(options.prices), options.items_per_second)


def status(comparison: Comparison) -> int:
    """The exit status."""
    return int(bool(comparison.broken))


def html(comparison: Comparison) -> str:
    """The comparison as a page."""
    name = f"{comparison.old} to {comparison.new}"
    return page(name, diff_sections(comparison), kind="Migration")


def render(comparison: Comparison) -> str:
    """The comparison as text."""
    lines = [printable(f"{comparison.old} -> {comparison.new}")]
    if not comparison.changes:
        return f"{lines[0]}: no difference"
    lines += ["", "changes", *(line for change in comparison.changes for line in _change_lines(change))]
    if comparison.patterns:
        lines += ["", "reads", *(line for change in comparison.patterns for line in _pattern_lines(change))]
    if comparison.backfills:
        lines += ["", "items to write anew", *columns(_backfill_rows(comparison))]
    if comparison.costs:
        lines += ["", *_cost_lines(comparison)]
    if comparison.steps:
        lines += ["", "runbook", *map(_step_line, comparison.steps, range(1, len(comparison.steps) + 1))]
    return "\n".join(lines)


def _change_lines(change: Change) -> list[str]:
    how = "" if change.in_place else " (not in place)"
    line = f"  {_MARKS[change.action]} {change.kind} {change.name}{how}"
    return [printable(line), *(printable(f"      {detail}") for detail in change.details)]


def _pattern_lines(change: PatternChange) -> list[str]:
    units = [
        f"{amount(value)} units" for value in (change.units_before, change.units_after) if value is not None
    ]
    lines = [f"  {change.effect:<8}  {change.id}  {change.name}  {' -> '.join(units)}"]
    lines += [f"      {text}" for text in (change.before, change.after) if text]
    lines += [f"      {problem}" for problem in change.problems]
    return [printable(line) for line in lines]


def _backfill_rows(comparison: Comparison) -> list[list[str]]:
    rows = [
        [part.entity, part.kind, amount(part.items), amount(part.bytes), "; ".join(part.reasons)]
        for part in comparison.backfills
    ]
    return [["entity", "how", "items", "bytes", "why"], *rows]


def _cost_lines(comparison: Comparison) -> list[str]:
    rows = [["part", "table", "read units", "write units", comparison.currency]]
    for cost in comparison.costs:
        units = (amount(cost.read_units), amount(cost.write_units))
        rows.append([cost.what, cost.table, *units, shown(cost.cost)])
    total = f"{shown(comparison.total)} {comparison.currency}, once (prices of {comparison.prices_of})"
    lines = [printable(f"cost of the migration: {total}"), *columns(rows)]
    if comparison.scans:
        hours, pace = amount(comparison.hours), amount(comparison.items_per_second)
        lines.append(f"  the backfills read for {hours} hours at {pace} items a second")
    return lines


def _step_line(step: Step, number: int) -> str:
    tool = f" [hashrange.patterns: {step.tool}]" if step.tool else ""
    return printable(f"  {number:>2}. {step.phase}: {step.text}{tool}")
