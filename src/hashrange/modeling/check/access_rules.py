"""HR1xx: access patterns."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.modeling.check.facts import Facts
from hashrange.modeling.check.finding import Hit, rule
from hashrange.modeling.columns import amount, rate
from hashrange.modeling.model import ReadOperation
from hashrange.modeling.plans import PlanProblem, ReadPlan

READ_RATIO_MAX = 20
SCANS_PER_SECOND_MAX = 1 / 3600
_OWN_RULES = ("batch", "consistency", "scan")  # problems that other rules report


@rule("HR101", "error", "A pattern that no key serves")
def unserved(facts: Facts) -> Iterator[Hit]:
    for plan in facts.plans:
        problem = _reason(plan)
        if problem is not None:
            yield Hit(plan.pattern.place, plan.pattern.id, problem.message, problem.remedy)


def _reason(plan: ReadPlan) -> PlanProblem | None:
    """The first problem of a plan that is HR101's. Whoever asks for a Scan knows that no key serves it."""
    if plan.pattern.operation is ReadOperation.SCAN:
        return None
    problems = [problem for problem in plan.problems if problem.kind not in _OWN_RULES[:2]]
    return problems[0] if problems else None


@rule("HR102", "warning", "A filter that reads 20 times what it returns")
def wasteful_filter(facts: Facts) -> Iterator[Hit]:
    for plan in facts.plans:
        demand = facts.read_demands[plan.pattern.id]
        ratio = demand.items_read / max(demand.items_returned, 1e-9)
        if plan.filter is None or plan.operation is not ReadOperation.QUERY or demand.items_read < 2:
            continue
        if ratio > READ_RATIO_MAX:
            yield Hit(
                plan.pattern.place,
                plan.pattern.id,
                f"reads {amount(demand.items_read)} items to return {amount(demand.items_returned)}: "
                "what a filter leaves out is paid for",
                "put what it filters by into a key, or make a sparse index of the items that it lets through",
            )


@rule("HR103", "warning", "A Scan on a hot path")
def hot_scan(facts: Facts) -> Iterator[Hit]:
    for plan in facts.plans:
        pattern = plan.pattern
        if pattern.operation is ReadOperation.SCAN and pattern.rate.average > SCANS_PER_SECOND_MAX:
            units = facts.read_demands[pattern.id].rcu
            yield Hit(
                pattern.place,
                pattern.id,
                f"reads the whole table {rate(pattern.rate.average)}, {amount(units)} units each time",
                "serve it by a key; keep Scans for jobs that run less than once an hour",
            )


@rule("HR104", "info", "A limit together with a filter")
def limit_with_filter(facts: Facts) -> Iterator[Hit]:
    for plan in facts.plans:
        if plan.pattern.limit is not None and plan.filter is not None:
            yield Hit(
                plan.pattern.place,
                plan.pattern.id,
                "Limit counts items before they are filtered: a page may be short, or empty with more behind it",
                "read pages until there are enough, or put what it filters by into a key",
            )


@rule("HR105", "warning", "A screen that takes more than one query")
def busy_screen(facts: Facts) -> Iterator[Hit]:
    screens: dict[str, list[ReadPlan]] = {}
    for plan in facts.plans:
        if plan.pattern.screen is not None:
            screens.setdefault(plan.pattern.screen, []).append(plan)
    for screen, screen_plans in screens.items():
        requests = sum(plan.requests for plan in screen_plans)
        if len(screen_plans) > 1:
            names = ", ".join(plan.pattern.id for plan in screen_plans[:10])
            yield Hit(
                screen_plans[1].pattern.place,
                screen,
                f"the screen takes {requests} requests ({names})",
                "put what is shown together under one partition key, and read it by one pattern with `entities`",
            )


@rule("HR106", "error", "A strong read of a global index")
def strong_index_read(facts: Facts) -> Iterator[Hit]:
    for plan in facts.plans:
        for problem in plan.problems:
            if problem.kind == "consistency":
                yield Hit(plan.pattern.place, plan.pattern.id, problem.message, problem.remedy)


@rule("HR107", "error", "More keys than one request takes")
def large_read_batch(facts: Facts) -> Iterator[Hit]:
    for plan in facts.plans:
        for problem in plan.problems:
            if problem.kind == "batch":
                yield Hit(plan.pattern.place, plan.pattern.id, problem.message, problem.remedy)


@rule("HR108", "warning", "An answer of many pages without a limit")
def endless_answer(facts: Facts) -> Iterator[Hit]:
    for plan in facts.plans:
        demand = facts.read_demands[plan.pattern.id]
        pages = demand.pages / max(plan.requests, 1)
        if plan.operation is ReadOperation.QUERY and plan.pattern.limit is None and pages > 1:
            yield Hit(
                plan.pattern.place,
                plan.pattern.id,
                f"one answer is {amount(demand.pages)} pages of 1 MB, one after the other",
                "give it a limit, or narrow the range by the sort key",
            )


@rule("HR109", "info", "A pattern without a rate")
def unrated(facts: Facts) -> Iterator[Hit]:
    for pattern in facts.model.patterns:
        if pattern.rate.average <= 0:
            yield Hit(
                pattern.place,
                pattern.id,
                "has no rate: hot keys, capacity and cost are computed without it",
                "write rate: 5/s, if only an estimate",
            )


RULES = (
    unserved,
    wasteful_filter,
    hot_scan,
    limit_with_filter,
    busy_screen,
    strong_index_read,
    large_read_batch,
    endless_answer,
    unrated,
)
