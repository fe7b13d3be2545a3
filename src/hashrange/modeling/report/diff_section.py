"""The way from one version of a model to the next: changes, patterns, backfills, what it costs, and the runbook."""

from __future__ import annotations

from hashrange.modeling.columns import amount
from hashrange.modeling.diff.changes import Change
from hashrange.modeling.diff.comparison import Comparison
from hashrange.modeling.diff.pattern_changes import PatternChange
from hashrange.modeling.price.money import shown
from hashrange.modeling.report.figures import size
from hashrange.modeling.report.markup import Content, Markup, element
from hashrange.modeling.report.parts import chip, cut_note, number, row, section, table

ROWS_MAX = 150
_DETAILS_MAX = 12
_ACTIONS = {"added": "good", "removed": "bad", "changed": "note"}


def diff_sections(comparison: Comparison) -> list[Markup]:
    """A section for each part that there is."""
    if not comparison.changes:
        return [section("changes", "Changes", element("p", "No difference."))]
    parts = (_changes(comparison), _patterns(comparison), _work(comparison), _runbook(comparison))
    return [part for part in parts if part is not None]


def _changes(comparison: Comparison) -> Markup:
    rows = [_change(change) for change in comparison.changes[:ROWS_MAX]]
    shown_table = table("Changes", ("", "what", "name", "details"), rows)
    return section("changes", "Changes", shown_table, cut_note(len(comparison.changes) - ROWS_MAX, "changes"))


def _change(change: Change) -> Markup:
    details: list[Content] = [[detail, element("br")] for detail in change.details[:_DETAILS_MAX]]
    place = None if change.in_place else chip("not in place", "warn")
    return row(chip(change.action, _ACTIONS[change.action]), change.kind, [change.name, " ", place], details)


def _patterns(comparison: Comparison) -> Markup | None:
    if not comparison.patterns:
        return None
    rows = [_pattern(change) for change in comparison.patterns[:ROWS_MAX]]
    headings = ("", "id", "pattern", "before", "after", ">units before", ">after")
    hidden = cut_note(len(comparison.patterns) - ROWS_MAX, "patterns")
    return section("reads", "Reads", table("Reads that change", headings, rows), hidden)


def _pattern(change: PatternChange) -> Markup:
    units = ("-" if value is None else amount(value) for value in (change.units_before, change.units_after))
    return row(
        chip(change.effect, "bad" if change.effect == "breaks" else "note"),
        element("td", element("strong", change.id)),
        change.name,
        element("td", element("code", change.before)),
        element(
            "td",
            element("code", change.after),
            [[element("br"), text] for text in change.problems[:_DETAILS_MAX]],
        ),
        *map(number, units),
    )


def _work(comparison: Comparison) -> Markup | None:
    """Backfills, and what the migration costs."""
    if not comparison.backfills and not comparison.costs:
        return None
    backfills = [
        row(
            part.entity,
            part.kind,
            number(amount(part.items)),
            number(size(part.bytes)),
            "; ".join(part.reasons),
        )
        for part in comparison.backfills[:ROWS_MAX]
    ]
    costs = [
        row(
            cost.what,
            cost.table,
            *map(number, (amount(cost.read_units), amount(cost.write_units), shown(cost.cost))),
        )
        for cost in comparison.costs[:ROWS_MAX]
    ]
    total = f"{shown(comparison.total)} {comparison.currency}, once, by prices of {comparison.prices_of}."
    hours, rate = amount(comparison.hours), amount(comparison.items_per_second)
    pace = f"The backfills read for {hours} hours at {rate} items a second."
    why = ("entity", "how", ">items", ">size", "why")
    what = ("part", "table", ">read units", ">write units", f">{comparison.currency}")
    return section(
        "work",
        "Items to write anew, and what that costs",
        table("Backfills", why, backfills) if backfills else None,
        table("Cost of the migration", what, costs) if costs else None,
        element("p", pace, class_="small") if comparison.scans else None,
        lead=total,
    )


def _runbook(comparison: Comparison) -> Markup | None:
    if not comparison.steps:
        return None
    steps = [
        element(
            "li",
            chip(step.phase, "plain"),
            step.text,
            element("span", f" hashrange.patterns: {step.tool}", class_="small") if step.tool else None,
        )
        for step in comparison.steps[:ROWS_MAX]
    ]
    return section(
        "runbook", "Runbook", element("ol", steps), cut_note(len(comparison.steps) - ROWS_MAX, "steps")
    )
