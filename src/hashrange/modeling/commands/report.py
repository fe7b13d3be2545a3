"""`hashrange model report`: everything about a model at once, as one HTML page for a design review."""

import argparse

from hashrange.modeling.columns import columns, printable
from hashrange.modeling.commands import check, load, price, prove
from hashrange.modeling.model import Model
from hashrange.modeling.price.money import shown
from hashrange.modeling.report.figures import counted, percent
from hashrange.modeling.report.review import Review, review
from hashrange.modeling.report.review_page import review_page

DESCRIPTION = (
    "Check, prove, price and load a model, and make one page of it with --html: item collections coloured by entity, "
    "indexes, the access-pattern matrix, a heat map of the day, costs and findings. The page is one file that loads "
    "nothing. The exit status is 1 if a rule speaks against the design, the proof fails or anything is throttled."
)
MONTHS = 12


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the flags of all commands that the report is made of."""
    for command in (check, prove, price, load):
        command.add_flags(parser)
    parser.set_defaults(months=MONTHS)


def run(model: Model, options: argparse.Namespace) -> Review:
    """Gather everything."""
    return review(model, options)


def status(result: Review) -> int:
    """The exit status."""
    return 0 if result.passed else 1


def html(result: Review) -> str:
    """The page."""
    return review_page(result)


def render(result: Review) -> str:
    """A verdict in a few lines; the page has the rest."""
    proof, rules = result.proof, result.rules
    good = sum(not pattern.failures for pattern in proof.patterns)
    findings = ", ".join(
        counted(rules.count(kind), name)
        for kind, name in (("error", "error"), ("warning", "warning"), ("info", "note"))
    )
    cost = (
        result.unpriced
        if result.priced is None
        else f"{shown(result.priced.total)} {result.priced.currency} a month"
    )
    hottest = max((max(day.reads.hottest, day.writes.hottest) for day in result.days), default=0.0)
    throttled = ", ".join(day.title for day in result.throttled) or "nothing"
    rows = [
        ["proof", f"{good} of {len(proof.patterns)} patterns, {'holds' if proof.holds else 'FAILS'}"],
        ["rules", f"{findings}; {rules.silenced} silenced"],
        ["cost", cost],
        ["day", f"the hottest partition at {percent(hottest)}; throttled: {throttled}"],
    ]
    return "\n".join([printable(f"{result.name}, {result.region}"), *columns(rows)])
