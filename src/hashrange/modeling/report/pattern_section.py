"""The access-pattern matrix: which operation on which key, what it reads and returns, what it costs, findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from hashrange.modeling.check.finding import Finding
from hashrange.modeling.columns import amount, rate
from hashrange.modeling.commands.show import ShownPattern
from hashrange.modeling.price.money import shown
from hashrange.modeling.report.markup import Content, Markup, cut, element
from hashrange.modeling.report.parts import bar, chip, cut_note, number, row, section, table
from hashrange.modeling.report.review import Review

PATTERNS_MAX = 200
_FINDINGS_MAX = 6
_KEY_CHARS_MAX = 30
_WASTE = 20.0  # items read for each that is returned: what HR102 calls too many
_KINDS = {"error": "bad", "warning": "warn", "info": "note"}
_HEADINGS = (
    "id", "pattern", "operation on key", ">average", ">peak", ">read", ">returned", "share", ">units", ">pages",
    ">a month", "proof", "rules",
)  # fmt: skip
_LEAD = (
    "Every question and change of the application, and the one request that serves it. Items, units and pages are "
    "those of one answer in production, by the model's sizes and numbers."
)


def pattern_section(review: Review) -> Markup:
    """Reads and writes in one matrix."""
    return section("patterns", "Access patterns", _matrix(review), lead=_LEAD)


def _matrix(review: Review) -> Content:
    matrix = _Matrix(review)
    reads = review.shown.reads[:PATTERNS_MAX]
    writes = review.shown.writes[: PATTERNS_MAX - len(reads)]
    hidden = len(review.shown.reads) + len(review.shown.writes) - len(reads) - len(writes)
    rows = [*_group("Reads", reads, matrix), *_group("Writes", writes, matrix)]
    return [table("Access patterns", _HEADINGS, rows), cut_note(hidden, "patterns")]


def _group(title: str, patterns: Sequence[ShownPattern], matrix: _Matrix) -> list[Markup]:
    if not patterns:
        return []
    heading = element("tr", element("th", title, colspan=len(_HEADINGS), scope="rowgroup"), class_="group")
    return [heading, *map(matrix.row, patterns)]


class _Matrix:
    """What the rows look up."""

    def __init__(self, review: Review) -> None:
        self._demands = review.demands
        self._costs: Mapping[str, Decimal] = (
            {} if review.priced is None else {cost.name: cost.monthly for cost in review.priced.patterns}
        )
        self._failed = {pattern.id: bool(pattern.failures) for pattern in review.proof.patterns}
        self._findings: dict[str, list[Finding]] = {}
        for finding in review.rules.findings:
            self._findings.setdefault(finding.subject, []).append(finding)

    def row(self, pattern: ShownPattern) -> Markup:
        """One pattern."""
        calls = pattern.operation if pattern.requests == 1 else f"{pattern.requests} x {pattern.operation}"
        return row(
            element("td", element("strong", pattern.id)),
            element("td", pattern.name or ", ".join(pattern.entities), _conditions(pattern), class_="wide"),
            element(
                "td", calls, element("br"), element("code", cut(pattern.key, _KEY_CHARS_MAX)), class_="name"
            ),
            number(rate(pattern.per_second)),
            number(rate(pattern.peak_per_second)),
            *self._items(pattern.id),
            number(amount(pattern.units)),
            number(self._pages(pattern.id)),
            number(self._cost(pattern.id)),
            self._proof(pattern),
            [self._chip(finding) for finding in self._findings.get(pattern.id, [])[:_FINDINGS_MAX]],
        )

    def _items(self, pattern: str) -> list[Markup]:
        demand = self._demands.get(pattern)
        if demand is None:
            return [number("-"), number("-"), element("td", "-")]
        used = demand.items_returned / demand.items_read if demand.items_read else 1.0
        kind = "good" if used > 0.5 else "warn" if used * _WASTE >= 1 else "bad"
        return [
            number(amount(demand.items_read)),
            number(amount(demand.items_returned)),
            element("td", bar(used, kind=kind)),
        ]

    def _pages(self, pattern: str) -> str:
        demand = self._demands.get(pattern)
        return "-" if demand is None else amount(demand.pages)

    def _cost(self, pattern: str) -> str:
        cost = self._costs.get(pattern)
        return "-" if cost is None else shown(cost)

    def _proof(self, pattern: ShownPattern) -> Markup:
        failed = self._failed.get(pattern.id)
        if failed is None:
            return chip("not run", "plain")
        return chip("failed", "bad", href="#proof") if failed else chip("proved", "good", href="#proof")

    def _chip(self, finding: Finding) -> Markup:
        return chip(finding.code, _KINDS[finding.severity], href="#rules")


def _conditions(pattern: ShownPattern) -> Content:
    if not pattern.conditions:
        return None
    return [element("br"), element("code", pattern.conditions)]
