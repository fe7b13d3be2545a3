"""`hashrange model show`: tables with their keys, entities with theirs, and which key serves each pattern."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from hashrange.modeling.columns import amount, columns, printable, rate
from hashrange.modeling.demand import read_demand, write_demand
from hashrange.modeling.key_texts import plan_text
from hashrange.modeling.model import Index, KeyAttribute, Model, ReadPattern, Table, WritePattern
from hashrange.modeling.planning import plan_read
from hashrange.modeling.population import item_count
from hashrange.modeling.sizes import item_size

DESCRIPTION = (
    "Show what a model file says: tables with the keys of their indexes, entities with how they make those keys, and "
    "patterns with the operation and the key that serve them."
)


@dataclass(frozen=True, slots=True)
class ShownKey:
    """The key of a table (no name) or of an index."""

    name: str
    kind: str
    partition: tuple[str, ...]
    sort: tuple[str, ...]
    projection: str


@dataclass(frozen=True, slots=True)
class ShownEntity:
    """An entity: how many, how large, and its key templates."""

    name: str
    items: float
    item_bytes: float
    keys: Mapping[str, str]
    conditional: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table with what lies in it."""

    name: str
    features: tuple[str, ...]
    keys: tuple[ShownKey, ...]
    entities: tuple[ShownEntity, ...]


@dataclass(frozen=True, slots=True)
class ShownPattern:
    """A pattern and how it is served. `units` are read or write units of one request."""

    id: str
    name: str
    entities: tuple[str, ...]
    per_second: float
    peak_per_second: float
    operation: str
    key: str
    conditions: str
    requests: int
    units: float
    served: bool
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """The whole model."""

    name: str
    region: str
    tables: tuple[ShownTable, ...]
    reads: tuple[ShownPattern, ...]
    writes: tuple[ShownPattern, ...]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The command has no flags of its own."""


def run(model: Model, options: argparse.Namespace) -> Shown:
    """What there is to show."""
    return Shown(
        model.name,
        model.region,
        tuple(_table(table, model) for table in model.tables.values()),
        tuple(_read(pattern, model) for pattern in model.reads),
        tuple(_write(pattern, model) for pattern in model.writes),
    )


def _table(table: Table, model: Model) -> ShownTable:
    sort = () if table.sort_key is None else (table.sort_key,)
    own = ShownKey("", "table", _texts((table.partition_key,)), _texts(sort), "")
    return ShownTable(
        table.name,
        tuple(_features(table)),
        (own, *(_index(index) for index in table.indexes)),
        tuple(
            ShownEntity(
                entity.name,
                item_count(model, entity),
                item_size(model, entity).mean,
                {name: template.text for name, template in entity.keys.items()},
                tuple(entity.only_if),
            )
            for entity in model.entities_of(table.name)
        ),
    )


def _texts(keys: tuple[KeyAttribute, ...]) -> tuple[str, ...]:
    return tuple(key.name if key.type == "S" else f"{key.name} ({key.type})" for key in keys)


def _index(index: Index) -> ShownKey:
    projection = ", ".join(index.included) if index.projection == "INCLUDE" else index.projection
    kind = "local" if index.local else "global"
    return ShownKey(index.name, kind, _texts(index.partition_key), _texts(index.sort_key), projection)


def _features(table: Table) -> list[str]:
    features = ["on-demand" if table.billing == "PAY_PER_REQUEST" else "provisioned"]
    if table.table_class != "STANDARD":
        features.append("infrequent access")
    if table.ttl_attribute is not None:
        features.append(f"TTL by {table.ttl_attribute}")
    if table.stream is not None:
        features.append(f"stream of {table.stream}")
    if table.point_in_time_recovery:
        features.append("point-in-time recovery")
    if table.replicas:
        features.append(f"replicas in {', '.join(table.replicas)}")
    if table.dax_node is not None:
        features.append(f"DAX, {table.dax_nodes} x {table.dax_node}")
    return features


def _read(pattern: ReadPattern, model: Model) -> ShownPattern:
    plan = plan_read(model, pattern)
    return ShownPattern(
        pattern.id,
        pattern.name,
        pattern.entities,
        pattern.rate.average,
        pattern.rate.peak,
        plan.operation.value,
        plan.table.name if plan.index is None else plan.index.name,
        plan_text(plan),
        plan.requests,
        read_demand(model, plan).rcu,
        plan.served,
        tuple(
            f"{problem.message}; {problem.remedy}" if problem.remedy else problem.message
            for problem in plan.problems
        ),
    )


def _write(pattern: WritePattern, model: Model) -> ShownPattern:
    demand = write_demand(model, pattern)
    tables = dict.fromkeys(step.table.name for step in demand.steps)
    return ShownPattern(
        pattern.id,
        pattern.name,
        tuple(dict.fromkeys(step.entity for step in pattern.steps)),
        pattern.rate.average,
        pattern.rate.peak,
        _operation(pattern),
        ", ".join(tables),
        ", ".join(f"{step.action} {step.entity}" for step in pattern.steps),
        1,
        demand.wcu,
        served=True,
    )


def _operation(pattern: WritePattern) -> str:
    if pattern.transaction:
        return "TransactWriteItems"
    if len(pattern.steps) > 1 or pattern.steps[0].count > 1:
        return "BatchWriteItem"
    return {"put": "PutItem", "update": "UpdateItem", "delete": "DeleteItem", "check": "TransactWriteItems"}[
        pattern.steps[0].action
    ]


def render(shown: Shown) -> str:
    """The model as text."""
    lines = [f"{printable(shown.name)}, {shown.region}"]
    for table in shown.tables:
        lines += ["", f"table {table.name}: {printable(', '.join(table.features))}"]
        lines += columns([["key", "partition", "sort", "projection"], *map(_key_row, table.keys)])
        lines += ["", *columns(_entity_rows(table))]
    if shown.reads:
        lines += ["", "reads", *columns([_HEADINGS, *map(_pattern_row, shown.reads)])]
        lines += [line for pattern in shown.reads for line in _problem_lines(pattern)]
    if shown.writes:
        lines += ["", "writes", *columns([_HEADINGS, *map(_pattern_row, shown.writes)])]
    return "\n".join(lines)


def _key_row(key: ShownKey) -> list[str]:
    name = key.name or "table"
    if key.kind == "local":
        name += " (local)"
    return [name, " + ".join(key.partition), " + ".join(key.sort), key.projection]


def _entity_rows(table: ShownTable) -> list[list[str]]:
    """Templates in one column for each key attribute; `?` marks those that not every item has."""
    names = dict.fromkeys(name.split(" ")[0] for key in table.keys for name in (*key.partition, *key.sort))
    rows = [["entity", "items", "bytes", *names]]
    for entity in table.entities:
        cells = [_template_cell(entity, name) for name in names]
        rows.append([entity.name, amount(entity.items), amount(entity.item_bytes), *cells])
    return rows


def _template_cell(entity: ShownEntity, name: str) -> str:
    text = entity.keys.get(name, "-")
    return f"{text} ?" if name in entity.conditional else text


_HEADINGS = ["", "id", "rate", "peak", "pattern", "operation", "on", "units", "by"]


def _pattern_row(pattern: ShownPattern) -> list[str]:
    operation = pattern.operation if pattern.requests == 1 else f"{pattern.requests} x {pattern.operation}"
    return [
        "ok" if pattern.served else "NO",
        pattern.id,
        rate(pattern.per_second),
        rate(pattern.peak_per_second),
        pattern.name or ", ".join(pattern.entities),
        operation,
        pattern.key,
        amount(pattern.units),
        pattern.conditions,
    ]


def _problem_lines(pattern: ShownPattern) -> list[str]:
    return [f"  {pattern.id}: {printable(problem)}" for problem in pattern.problems]
