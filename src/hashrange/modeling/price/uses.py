"""Uses: which pattern takes how many units of which table or index, and at what time of day."""

from collections.abc import Iterator
from dataclasses import dataclass

from hashrange.modeling.demand import read_demand, write_demand
from hashrange.modeling.model import Growth, Index, Model, Rate, ReadPattern, Table, WritePattern
from hashrange.modeling.planning import plan_read
from hashrange.modeling.population import COUNT_MAX, grown

DAY_MINUTES = 1440


@dataclass(frozen=True, slots=True)
class Throughput:
    """What capacity is provisioned for: reads or writes of a table, or of one of its global indexes."""

    table: str
    index: str | None
    write: bool


@dataclass(frozen=True, slots=True)
class Use:
    """So many units of one request of a pattern. A local index is named, but takes the table's units."""

    pattern: str
    entities: tuple[str, ...]
    throughput: Throughput
    index: str | None
    units: float
    rate: Rate

    def average(self, months: float = 0) -> float:
        """Units per second, over a day."""
        growth = Growth(percent_per_month=self.rate.percent_per_month)
        return min(self.units * grown(self.rate.average, growth, months), COUNT_MAX)


def uses(model: Model) -> tuple[Use, ...]:
    """All of a model's."""
    return tuple(
        use
        for pattern in model.patterns
        for use in (_read(model, pattern) if isinstance(pattern, ReadPattern) else _write(model, pattern))
    )


def _throughput(table: Table, index: Index | None, *, write: bool) -> Throughput:
    own = index is not None and not index.local
    return Throughput(table.name, index.name if index is not None and own else None, write)


def _read(model: Model, pattern: ReadPattern) -> Iterator[Use]:
    plan = plan_read(model, pattern)
    yield Use(
        pattern.id,
        pattern.entities,
        _throughput(plan.table, plan.index, write=False),
        None if plan.index is None else plan.index.name,
        read_demand(model, plan).rcu,
        pattern.rate,
    )


def _write(model: Model, pattern: WritePattern) -> Iterator[Use]:
    for step in write_demand(model, pattern).steps:
        entities = (step.step.entity,)
        own = _throughput(step.table, None, write=True)
        yield Use(pattern.id, entities, own, None, step.wcu, pattern.rate)
        for name, units in step.indexes.items():
            throughput = _throughput(step.table, step.table.index(name), write=True)
            yield Use(pattern.id, entities, throughput, name, units, pattern.rate)
        if step.rcu:
            reads = _throughput(step.table, None, write=False)
            yield Use(pattern.id, entities, reads, None, step.rcu, pattern.rate)


def day(uses_of_one: tuple[Use, ...], months: float = 0) -> tuple[float, ...]:
    """Units per second in each minute of a day; the curve's hours are joined by straight lines."""
    by_curve: dict[tuple[float, ...], float] = {}
    for use in uses_of_one:
        factors = use.rate.curve.factors
        by_curve[factors] = by_curve.get(factors, 0.0) + use.average(months)
    minutes = [0.0] * DAY_MINUTES
    for factors, average in by_curve.items():
        for minute in range(DAY_MINUTES):
            minutes[minute] += average * _factor(factors, minute)
    return tuple(min(value, COUNT_MAX) for value in minutes)


def _factor(factors: tuple[float, ...], minute: int) -> float:
    hour, past = divmod(minute, 60)
    before, after = factors[hour], factors[(hour + 1) % len(factors)]
    return before + (after - before) * past / 60
