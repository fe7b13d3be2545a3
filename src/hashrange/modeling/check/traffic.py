"""Traffic: read and write units per second of each table, by the hour of the day, without its global indexes."""

from __future__ import annotations

from dataclasses import dataclass, field

from hashrange.modeling.check.facts import Facts
from hashrange.modeling.model import Rate

HOURS = 24


def _nothing() -> list[float]:
    return [0.0] * HOURS


@dataclass(slots=True)
class Traffic:
    """Of one table."""

    reads: list[float] = field(default_factory=_nothing)
    writes: list[float] = field(default_factory=_nothing)


def _add(hours: list[float], rate: Rate, units: float) -> None:
    for hour in range(HOURS):
        hours[hour] += rate.average * rate.curve.factors[hour] * units


def traffic(facts: Facts) -> dict[str, Traffic]:
    """The traffic of every table, by its name."""
    tables = {name: Traffic() for name in facts.model.tables}
    for plan in facts.plans:
        if not plan.path.is_global:
            _add(tables[plan.table.name].reads, plan.pattern.rate, facts.read_demands[plan.pattern.id].rcu)
    for pattern in facts.model.writes:
        for step in facts.write_demands[pattern.id].steps:
            _add(tables[step.table.name].writes, pattern.rate, step.wcu)
            _add(tables[step.table.name].reads, pattern.rate, step.rcu)
    return tables
