"""The model file from objects: what `loading` reads as the same objects again."""

from typing import assert_never

from hashrange.modeling.conditions import name_text, operand_text, text_of
from hashrange.modeling.exchange.trees import Branch, literal, without_empty, yaml_text
from hashrange.modeling.model import (
    Assignment,
    Attribute,
    Curve,
    Distribution,
    Entity,
    Growth,
    Index,
    KeyAttribute,
    Model,
    Pattern,
    Rate,
    ReadPattern,
    Scaling,
    Table,
    WritePattern,
    WriteStep,
)

_NO_TABLE_CLASS = "STANDARD"


def dumps(model: Model) -> str:
    """The text of a model's file. Silences are not written: they belong to lines that are gone."""
    tree: Branch = {"hashrange": 1, "name": literal(model.name)}
    tree |= without_empty({"description": literal(model.description)})
    tree |= {"region": model.region}
    tree |= without_empty({"curves": {name: _curve(curve) for name, curve in model.curves.items()}})
    tree["tables"] = {name: _table(table) for name, table in model.tables.items()}
    tree["entities"] = {name: _entity(entity, model) for name, entity in model.entities.items()}
    tree |= without_empty({"patterns": [_pattern(pattern, model) for pattern in model.patterns]})
    return yaml_text(tree)


def _plain(value: float) -> str:
    """A number without an exponent."""
    return f"{value:.12f}".rstrip("0").rstrip(".")


def _number(value: float) -> int | str:
    return int(value) if float(value).is_integer() else _plain(value)


def _curve(curve: Curve) -> list[object]:
    return [float(f"{factor:.9f}") for factor in curve.factors]


# Tables.


def _table(table: Table) -> Branch:
    return {"partition_key": _key(table.partition_key)} | without_empty(
        {
            "sort_key": None if table.sort_key is None else _key(table.sort_key),
            "ttl": table.ttl_attribute,
            "point_in_time_recovery": table.point_in_time_recovery or None,
            "stream": _stream(table),
            "billing": _billing(table),
            "class": None if table.table_class == _NO_TABLE_CLASS else "infrequent-access",
            "backups": table.kept_backups or None,
            "replicas": list(table.replicas),
            "dax": None if table.dax_node is None else {"node": table.dax_node, "nodes": table.dax_nodes},
            "indexes": {index.name: _index(index) for index in table.indexes},
        }
    )


def _key(key: KeyAttribute) -> object:
    return literal(key.name) if key.type == "S" else {"name": literal(key.name), "type": key.type}


def _keys(keys: tuple[KeyAttribute, ...]) -> object:
    return _key(keys[0]) if len(keys) == 1 else [_key(key) for key in keys]


def _index(index: Index) -> Branch:
    tree: Branch = {"local": True} if index.local else {"partition_key": _keys(index.partition_key)}
    if index.sort_key:
        tree["sort_key"] = _keys(index.sort_key)
    if index.projection != "ALL":
        tree["projection"] = list(index.included) if index.projection == "INCLUDE" else index.projection
    return tree


def _stream(table: Table) -> object:
    if table.stream is None or table.stream_readers == 1:
        return table.stream
    return {"view": table.stream, "readers": table.stream_readers}


def _billing(table: Table) -> object:
    mode = "on-demand" if table.billing == "PAY_PER_REQUEST" else "provisioned"
    scaling = {"reads": _scaling(table.read_scaling), "writes": _scaling(table.write_scaling)}
    kept = {name: tree for name, tree in scaling.items() if tree is not None}
    return {"mode": mode, **kept} if kept else mode


def _scaling(scaling: Scaling) -> Branch | None:
    if scaling == Scaling():
        return None
    target = f"{_plain(scaling.target_percent)}%"
    return {"minimum": scaling.minimum, "maximum": scaling.maximum, "target": target}


# Entities.


def _entity(entity: Entity, model: Model) -> Branch:
    return without_empty(
        {
            "table": entity.table if len(model.tables) > 1 else None,
            "count": _count(entity),
            "growth": _growth(entity.growth, ""),
            "item_growth": _growth(entity.item_growth, " B"),
            "retention": None if entity.retention_days is None else f"{_plain(entity.retention_days)} days",
            "keys": _templates(entity),
            "attributes": {name: _attribute(attribute) for name, attribute in entity.attributes.items()},
        }
    )


def _count(entity: Entity) -> object:
    count = _number(entity.count) if entity.parent is None else f"{_plain(entity.count)} per {entity.parent}"
    if entity.count_max is None and entity.spread == Distribution():
        return count
    most = None if entity.count_max is None else _number(entity.count_max)
    return without_empty({"count": count, "at most": most, "spread": _distribution(entity.spread)})


def _growth(growth: Growth, unit: str) -> str | None:
    if growth.percent_per_month:
        return f"{_plain(growth.percent_per_month)}% per month"
    return f"{_plain(growth.per_day)}{unit} per day" if growth.per_day else None


def _templates(entity: Entity) -> Branch:
    """All templates but those that only repeat the name of an attribute."""
    return {
        name: literal(template.text)
        if name not in entity.only_if
        else {"template": literal(template.text), "if": text_of(entity.only_if[name])}
        for name, template in entity.keys.items()
        if template.text != f"{{{name}}}" or name not in entity.attributes or name in entity.only_if
    }


def _attribute(attribute: Attribute) -> object:
    implied = "N" if attribute.format in ("epoch", "integer", "decimal") else "S"
    tree = without_empty(
        {
            "type": attribute.type if attribute.format is None or attribute.type != implied else None,
            "format": attribute.format,
            "size": attribute.size,
            "max_size": attribute.size_max,
            "values": [literal(value) for value in attribute.values],
            "distinct": attribute.distinct,
            "minimum": None if attribute.minimum is None else _number(attribute.minimum),
            "maximum": None if attribute.maximum is None else _number(attribute.maximum),
            "refers": attribute.refers,
            "optional": f"{_plain(attribute.optional * 100)}%" if attribute.optional else None,
        }
    )
    return next(iter(tree.values())) if tree.keys() in ({"type"}, {"format"}) else tree


def _distribution(distribution: Distribution) -> str | None:
    match distribution.kind:
        case "uniform":
            return None
        case "zipf":
            return f"zipf {_plain(distribution.exponent)}"
        case "time-rolling":
            return f"time-rolling {distribution.window_seconds}s"


# Patterns.


def _pattern(pattern: Pattern, model: Model) -> Branch:
    tree: Branch = {"id": literal(pattern.id)} | without_empty(
        {"name": literal(pattern.name), "actor": literal(pattern.actor), "verb": literal(pattern.verb)}
    )
    match pattern:
        case ReadPattern():
            tree |= _read(pattern)
        case WritePattern():
            tree |= _write(pattern)
        case _:
            assert_never(pattern)
    return tree | without_empty(
        {
            "rate": _rate(pattern.rate, model),
            "keys": _distribution(pattern.keys),
            "screen": None if pattern.screen is None else literal(pattern.screen),
        }
    )


def _read(pattern: ReadPattern) -> Branch:
    names = list(pattern.entities)
    order = None if pattern.order is None else pattern.order + (" desc" if pattern.descending else "")
    return without_empty(
        {
            "entity": names[0] if len(names) == 1 else None,
            "entities": names if len(names) > 1 else None,
            "where": None if pattern.where is None else text_of(pattern.where),
            "filter": None if pattern.filter is None else text_of(pattern.filter),
            "order": order,
            "limit": pattern.limit,
            "project": list(pattern.project),
            "consistency": "strong" if pattern.consistent else None,
            "operation": None if pattern.operation is None else pattern.operation.value,
            "index": pattern.index,
            "batch": pattern.batch if pattern.batch > 1 else None,
        }
    )


def _write(pattern: WritePattern) -> Branch:
    steps = [_step(step) for step in pattern.steps]
    if pattern.transaction:
        return {"transaction": steps} | ({"token": True} if pattern.idempotency_token else {})
    return {"write": steps[0]} if len(steps) == 1 else {"batch": steps}


def _step(step: WriteStep) -> Branch:
    tree: Branch = {step.action: step.entity}
    for assignment in step.assignments:
        tree.setdefault(assignment.action, []).append(_assignment(assignment))
    tree |= {name: texts[0] for name, texts in tree.items() if isinstance(texts, list) and len(texts) == 1}
    if step.condition is not None:
        tree["if"] = text_of(step.condition)
    if step.count > 1:
        tree["count"] = step.count
    return tree | ({"reads_first": True} if step.reads_first else {})


def _assignment(assignment: Assignment) -> str:
    name = name_text(assignment.attribute)
    match assignment.action:
        case "remove":
            return name
        case "set":
            return f"{name} = {operand_text(assignment.operand)}"
        case _:
            return f"{name} {operand_text(assignment.operand)}"


def _rate(rate: Rate, model: Model) -> object:
    if rate == Rate():
        return None
    average = (
        f"{_plain(rate.average)}/s" if rate.average >= 0.001 else f"{_plain(rate.average * 86_400)} per day"
    )
    tree: Branch = {"average": average}
    if rate.curve != Curve("flat"):
        tree["curve"] = rate.curve.name if rate.curve.name in model.curves else _curve(rate.curve)
    if rate.percent_per_month:
        tree["growth"] = f"{_plain(rate.percent_per_month)}% per month"
    return average if len(tree) == 1 else tree
