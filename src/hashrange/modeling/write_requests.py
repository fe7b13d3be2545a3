"""Write requests: a write pattern with its items and the application's values, as the API takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import assert_never

from hashrange.core import limits
from hashrange.modeling.conditions import attributes_of
from hashrange.modeling.expressions import Expressions, key_wire
from hashrange.modeling.key_values import about_item, key_of, stored_item
from hashrange.modeling.model import (
    Assignment,
    Condition,
    Entity,
    KeyAttribute,
    Model,
    Name,
    Table,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.plans import AccessPath, template_of
from hashrange.modeling.requests import (
    ApiRequest,
    BatchWrite,
    BatchWriteItem,
    ConditionCheck,
    DeleteItem,
    DeleteRequest,
    GetItem,
    PutItem,
    PutRequest,
    TransactWriteItem,
    TransactWriteItems,
    UpdateItem,
    WriteRequest,
)
from hashrange.modeling.sizes import table_keys
from hashrange.modeling.wire_values import WireItem, operand_value, wire_item

Values = Mapping[str, object]


def requests_for(
    pattern: WritePattern,
    items: Sequence[Values],
    parameters: Values,
    model: Model,
    *,
    now: int = 0,
    token: str | None = None,
) -> tuple[ApiRequest, ...]:
    """The requests of one write. `items` has the attributes of every item, in the order of the steps."""
    steps = [step for step in pattern.steps for _ in range(step.count)]
    if len(steps) != len(items):
        raise ValueError(f"{pattern.id} writes {len(steps)} items, not {len(items)}")
    writes = [_write(step, item, parameters, model, now) for step, item in zip(steps, items, strict=True)]
    reads = tuple(
        _read(model, step, item, now) for step, item in zip(steps, items, strict=True) if step.reads_first
    )
    if pattern.transaction or any(isinstance(write, ConditionCheck) for write in writes):
        elements = [_element(write) for write in writes]
        sent = token if pattern.idempotency_token else None
        return (*reads, TransactWriteItems(transact_items=elements, client_request_token=sent))
    if len(writes) > 1 and all(_is_plain(write) for write in writes):
        return (*reads, *_batches(writes))
    return (*reads, *writes)


def _write(step: WriteStep, item: Values, parameters: Values, model: Model, now: int) -> WriteRequest:
    """One step as the request for one item."""
    entity = model.entities[step.entity]
    table = model.tables[entity.table]
    stored = stored_item(model, entity, item, now=now)
    expressions = Expressions(entity.attributes, parameters, now=now)
    condition = _condition(step.condition, table, expressions)
    match step.action:
        case "put":
            return PutItem(
                table_name=table.name,
                item=_wire_stored(stored, entity, table),
                condition_expression=condition,
                expression_attribute_names=expressions.names,
                expression_attribute_values=expressions.values,
            )
        case "update":
            keys = _changed_keys(step, entity, table, stored, parameters, now)
            update = expressions.update(step.assignments, keys) or None
            return UpdateItem(
                table_name=table.name,
                key=_wire_key(stored, table),
                update_expression=update,
                condition_expression=condition,
                expression_attribute_names=expressions.names,
                expression_attribute_values=expressions.values,
            )
        case "delete":
            return DeleteItem(
                table_name=table.name,
                key=_wire_key(stored, table),
                condition_expression=condition,
                expression_attribute_names=expressions.names,
                expression_attribute_values=expressions.values,
            )
        case "check":
            return _check(stored, table, condition, expressions)
        case _:
            assert_never(step.action)


def _check(stored: Values, table: Table, condition: str | None, expressions: Expressions) -> ConditionCheck:
    """A check without a condition is one that the item exists."""
    exists = condition or f"attribute_exists({expressions.name(table.partition_key.name)})"
    return ConditionCheck(
        table_name=table.name,
        key=_wire_key(stored, table),
        condition_expression=exists,
        expression_attribute_names=expressions.names,
        expression_attribute_values=expressions.values,
    )


def _condition(condition: Condition | None, table: Table, expressions: Expressions) -> str | None:
    return (
        None if condition is None else expressions.condition(about_item(condition, table.partition_key.name))
    )


def _wire_stored(stored: Values, entity: Entity, table: Table) -> WireItem:
    keys = {name: key for name, key in table_keys(table).items() if name in stored}
    wired = {name: key_wire(stored[name], key) for name, key in keys.items()}
    return wired | wire_item({name: stored[name] for name in stored if name not in keys}, entity.attributes)


def _wire_key(stored: Values, table: Table) -> WireItem:
    return {key.name: key_wire(stored[key.name], key) for key in AccessPath(table).key if key.name in stored}


def changed_item(
    entity: Entity, item: Values, assignments: Sequence[Assignment], parameters: Values, *, now: int
) -> dict[str, object]:
    """The attributes of an item after an update."""
    changed = dict(item)
    for assignment in assignments:
        name = assignment.attribute
        operand = assignment.operand
        value = (
            item.get(operand.attribute)
            if isinstance(operand, Name)
            else operand_value(operand, entity.attributes.get(name), parameters, now)
        )
        match assignment.action:
            case "set":
                changed[name] = value
            case "remove":
                changed.pop(name, None)
            case "add" | "subtract":
                changed[name] = _sum(item.get(name), value, -1 if assignment.action == "subtract" else 1)
            case "append":
                tail = list(value) if isinstance(value, list | tuple) else [value]
                changed[name] = [*_members(item.get(name)), *tail]
            case _:
                assert_never(assignment.action)
    return changed


def _members(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _sum(value: object, amount: object, sign: int) -> object:
    """Numbers add up; sets take members in. Raises ValueError for what does neither."""
    if isinstance(amount, set | frozenset | list | tuple):
        return [*_members(value), *(member for member in amount if member not in _members(value))]
    try:
        total = Decimal(str(value or 0)) + sign * Decimal(str(amount or 0))
    except InvalidOperation as error:
        raise ValueError("a number is added to what is none") from error
    return int(total) if total == total.to_integral_value() else total


def _changed_keys(
    step: WriteStep, entity: Entity, table: Table, stored: Values, parameters: Values, now: int
) -> dict[KeyAttribute, object]:
    """The index keys that follow from what an update changes: an application has to write them along with it."""
    after = changed_item(entity, stored, step.assignments, parameters, now=now)
    return {key: key_of(entity, key, after, now=now) for key in following_keys(step, entity, table)}


def following_keys(step: WriteStep, entity: Entity, table: Table) -> list[KeyAttribute]:
    """The index keys that are made of what an update changes."""
    names = {assignment.attribute for assignment in step.assignments}
    own = {key.name for key in AccessPath(table).key} | entity.attributes.keys()
    keys: list[KeyAttribute] = []
    for key in table_keys(table).values():
        template = template_of(entity, key.name)
        if key.name in own or template is None:
            continue
        if names & {*template.attributes, *attributes_of(entity.only_if.get(key.name))}:
            keys.append(key)
    return keys


def _read(model: Model, step: WriteStep, item: Values, now: int) -> GetItem:
    """The read of a read-modify-write."""
    entity = model.entities[step.entity]
    table = model.tables[entity.table]
    return GetItem(table_name=table.name, key=_wire_key(stored_item(model, entity, item, now=now), table))


def _element(write: WriteRequest) -> TransactWriteItem:
    match write:
        case PutItem():
            return TransactWriteItem(put=write)
        case UpdateItem():
            return TransactWriteItem(update=write)
        case DeleteItem():
            return TransactWriteItem(delete=write)
        case ConditionCheck():
            return TransactWriteItem(condition_check=write)
        case _:
            assert_never(write)


def _is_plain(write: WriteRequest) -> bool:
    """Whether BatchWriteItem can do it, which knows neither updates nor conditions."""
    return isinstance(write, PutItem | DeleteItem) and write.condition_expression is None


def _batches(writes: Sequence[WriteRequest]) -> list[BatchWriteItem]:
    size = limits.BATCH_WRITE_ITEMS_MAX
    return [_batch(writes[at : at + size]) for at in range(0, len(writes), size)]


def _batch(writes: Sequence[WriteRequest]) -> BatchWriteItem:
    by_table: dict[str, list[BatchWrite]] = {}
    for write in writes:
        if isinstance(write, PutItem):
            element = BatchWrite(put_request=PutRequest(write.item))
        else:
            element = BatchWrite(delete_request=DeleteRequest(write.key))
        by_table.setdefault(write.table_name, []).append(element)
    return BatchWriteItem(request_items=by_table)
