"""The summary: a verdict on proof, rules, cost, traffic and size, and what to look at first."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.modeling.columns import amount
from hashrange.modeling.load.day import PlaceDay, SideDay
from hashrange.modeling.price.money import shown
from hashrange.modeling.report.figures import counted, percent, size
from hashrange.modeling.report.markup import Content, Markup, element
from hashrange.modeling.report.parts import chip, cut_note
from hashrange.modeling.report.review import Review

_WORRIES_MAX = 8


def summary(review: Review) -> Markup:
    """Tiles, and a list of what stands in the way."""
    tiles = (
        _proof(review),
        _rules(review),
        _cost(review),
        _traffic(review),
        _throttles(review),
        _contents(review),
    )
    worries = list(_worries(review))
    listed = [element("li", worry) for worry in worries[:_WORRIES_MAX]]
    return element(
        "section",
        element("h2", "Verdict"),
        element("div", tiles, class_="tiles"),
        element("h3", "What to look at first") if worries else None,
        element("ul", listed) if worries else None,
        cut_note(len(worries) - len(listed), "points"),
        class_="bare",
        id="verdict",
    )


def tile(label: str, value: str, detail: str, kind: str) -> Markup:
    """A figure with what it is, and a colour: good, warn, bad or note."""
    return element(
        "div",
        element("p", label, class_="label"),
        element("p", value, class_="value"),
        element("p", detail, class_="detail"),
        class_=f"tile {kind}",
    )


def _proof(review: Review) -> Markup:
    proof = review.proof
    good = sum(not pattern.failures for pattern in proof.patterns)
    value = "Proved" if proof.holds else "Not proved"
    detail = f"{good} of {len(proof.patterns)} patterns, on {proof.items:,} items in the engine"
    return tile("Proof", value, detail, "good" if proof.holds else "bad")


def _rules(review: Review) -> Markup:
    errors, warnings, notes = (review.rules.count(kind) for kind in ("error", "warning", "info"))
    value = "No objection" if not errors + warnings else f"{errors + warnings} to answer"
    counts = (counted(errors, "error"), counted(warnings, "warning"), counted(notes, "note"))
    detail = f"{', '.join(counts)}; {review.rules.silenced} silenced"
    return tile("Design rules", value, detail, "bad" if errors else "warn" if warnings else "good")


def _cost(review: Review) -> Markup:
    cost = review.priced
    if cost is None:
        return tile("Cost a month", "unknown", review.unpriced, "note")
    cheapest = min(cost.modes, key=lambda mode: mode.monthly, default=None)
    detail = "" if cheapest is None else f"reads and writes from {shown(cheapest.monthly)} ({cheapest.mode})"
    return tile("Cost a month", f"{shown(cost.total)} {cost.currency}", detail, "note")


def _traffic(review: Review) -> Markup:
    busiest = max(review.days, key=lambda day: max(day.reads.hottest, day.writes.hottest), default=None)
    if busiest is None:
        return tile("Peak", "no traffic", "no pattern has a rate", "note")
    reads, writes = (sum(side.peak for side in sides) for sides in _sides(review.days))
    hottest = max(busiest.reads.hottest, busiest.writes.hottest)
    value = f"{amount(reads)} r / {amount(writes)} w"
    detail = (
        f"read and write units a second; the hottest partition is at {percent(hottest)} ({busiest.title})"
    )
    return tile("Peak", value, detail, "good" if hottest < 0.5 else "warn" if hottest <= 1 else "bad")


def _sides(days: tuple[PlaceDay, ...]) -> tuple[list[SideDay], list[SideDay]]:
    return [day.reads for day in days], [day.writes for day in days]


def _throttles(review: Review) -> Markup:
    throttled = review.throttled
    if not throttled:
        return tile(
            "Throttled in a day", "nothing", f"{len(review.days)} tables and indexes simulated", "good"
        )
    worst = max(throttled, key=_throttled_share)
    return tile(
        "Throttled in a day", percent(_throttled_share(worst)), f"of what {worst.title} is asked for", "bad"
    )


def _throttled_share(day: PlaceDay) -> float:
    refused = (pressure.refused_share for pressure in day.back_pressure)
    return max(day.reads.throttled_share, day.writes.throttled_share, *refused)


def _contents(review: Review) -> Markup:
    entities = [entity for table in review.shown.tables for entity in table.entities]
    items = sum(entity.items for entity in entities)
    stored = sum(entity.items * entity.item_bytes for entity in entities)
    partitions = sum(day.partitions[1] for day in review.days)
    return tile(
        "Stored",
        f"{amount(items)} items",
        f"{size(stored)} in tables; {partitions} partitions at the end of the day",
        "note",
    )


def _worries(review: Review) -> Iterator[Content]:
    for failure in review.proof.failures:
        yield [chip("proof", "bad", href="#proof"), " ", failure]
    for pattern in review.proof.patterns:
        if pattern.failures:
            yield [chip(pattern.id, "bad", href="#proof"), " ", pattern.failures[0]]
    for day in review.throttled:
        text = day.remedy or day.verdict
        if day.back_pressure:
            text = f"refuses writes because {day.back_pressure[0].index} cannot keep up"
        yield [chip(day.title, "bad", href="#day"), " ", text]
    for severity, kind in (("error", "bad"), ("warning", "warn")):
        for finding in review.rules.findings:
            if finding.severity == severity:
                text = f"{finding.subject}: {finding.message}"
                yield [chip(finding.code, kind, href="#rules"), " ", text]
