"""Functions of write patterns: one item, or a transaction of several, with the conditions of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hashrange.modeling.codegen.batch_functions import batch_function
from hashrange.modeling.codegen.entities import EntityCode
from hashrange.modeling.codegen.functions import Argument, Arguments, Function, Omission, any_value, one_line
from hashrange.modeling.codegen.nodes import Call, Node, Variable
from hashrange.modeling.codegen.values import NOW, condition_values, operand_node, value_node
from hashrange.modeling.conditions import attributes_of, comparisons, holds
from hashrange.modeling.expressions import Expressions
from hashrange.modeling.key_values import about_item
from hashrange.modeling.model import (
    Assignment,
    Entity,
    KeyAttribute,
    Model,
    Name,
    Now,
    Parameter,
    Table,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.write_requests import following_keys

_OPERATIONS = {"put": "PutItem", "update": "UpdateItem", "delete": "DeleteItem"}
_ELEMENTS = {"put": "Put", "update": "Update", "delete": "Delete", "check": "ConditionCheck"}
_TOKEN = Argument("token", "S")


@dataclass(frozen=True, slots=True)
class _Step:
    """One write: its members, and the argument that says which item."""

    members: Mapping[str, Node]
    argument: Argument


def write_function(
    model: Model, pattern: WritePattern, name: str, codes: Mapping[str, EntityCode]
) -> Function | Omission:
    """The function of a write pattern."""
    if _is_several(pattern) and not any(step.reads_first for step in pattern.steps):
        return batch_function(model, pattern, name)
    reason = _obstacle(model, pattern)
    if reason:
        return Omission(pattern.id, reason)
    arguments = Arguments()
    arguments.names.taken |= {_TOKEN.name, *(code.item_name for code in codes.values())}
    for step in pattern.steps:
        _note(step, model.entities[step.entity], arguments)
    steps = [_step(model, step, codes[step.entity], arguments) for step in pattern.steps]
    listed = [*(step.argument for step in steps), *arguments.by_parameter.values()]
    if any(_has_now(step, codes[step.entity]) for step in pattern.steps):
        listed.append(Argument(NOW.name, "N"))
    text = one_line(f"{pattern.id}: {pattern.name or 'write'}.")
    if not _is_transaction(pattern):
        return Function(name, text, tuple(listed), _OPERATIONS[pattern.steps[0].action], steps[0].members)
    elements = [
        {_ELEMENTS[step.action]: made.members} for step, made in zip(pattern.steps, steps, strict=True)
    ]
    members: dict[str, Node] = {"TransactItems": elements}
    if pattern.idempotency_token:
        members["ClientRequestToken"] = Variable(_TOKEN.name)
        listed.append(_TOKEN)
    return Function(name, text, tuple(listed), "TransactWriteItems", members)


def _is_transaction(pattern: WritePattern) -> bool:
    return pattern.transaction or any(step.action == "check" for step in pattern.steps)


def _is_several(pattern: WritePattern) -> bool:
    """Whether it is a batch, or several requests."""
    return not _is_transaction(pattern) and (len(pattern.steps) > 1 or pattern.steps[0].count > 1)


def _obstacle(model: Model, pattern: WritePattern) -> str:
    """Why there is no function for a pattern; nothing if there is one."""
    if any(step.count > 1 for step in pattern.steps):
        return "it has several items of one step: make them with the item functions"
    if any(step.reads_first for step in pattern.steps):
        return "the application reads the item first, and computes what it becomes"
    for step in pattern.steps:
        entity = model.entities[step.entity]
        keys = _following(step, entity, model.tables[entity.table])
        names = ", ".join(key.name for key in keys if not _goes(key, step, entity))
        if names:
            return f"the update changes {names}, which follow from attributes that only the stored item has"
    return ""


def _following(step: WriteStep, entity: Entity, table: Table) -> list[KeyAttribute]:
    return following_keys(step, entity, table) if step.action == "update" else []


def _goes(key: KeyAttribute, step: WriteStep, entity: Entity) -> bool:
    """Whether an update takes an item out of a sparse index, whatever else it has: an order that is set to PAID."""
    condition = entity.only_if.get(key.name)
    known = {
        assignment.attribute: assignment.operand
        for assignment in step.assignments
        if assignment.action == "set" and not isinstance(assignment.operand, Name | Now | Parameter)
    }
    if condition is None or not known.keys() >= set(attributes_of(condition)):
        return False
    operands = [operand for comparison in comparisons(condition) for operand in comparison.operands]
    return not any(isinstance(operand, Now) for operand in operands) and not holds(condition, known, {}, 0)


def _note(step: WriteStep, entity: Entity, arguments: Arguments) -> None:
    """Take in the parameters of a step."""
    arguments.note(step.condition, entity.attributes)
    for assignment in step.assignments:
        if isinstance(assignment.operand, Parameter):
            attribute = entity.attributes.get(assignment.attribute)
            known = attribute is not None and assignment.action != "append"
            arguments.add(assignment.operand.name, attribute.type if known and attribute else "any")


def _has_now(step: WriteStep, code: EntityCode) -> bool:
    operands = [operand for comparison in comparisons(step.condition) for operand in comparison.operands]
    operands += [assignment.operand for assignment in step.assignments]
    return (step.action == "put" and code.has_now) or any(isinstance(operand, Now) for operand in operands)


def _step(model: Model, step: WriteStep, code: EntityCode, arguments: Arguments) -> _Step:
    entity = code.entity
    table = model.tables[entity.table]
    is_put = step.action == "put"
    # Not called as the entity's own functions, which it would hide.
    text = f"{'new' if is_put else 'key_of'}_{entity.name.lower()}"
    argument = Argument(arguments.names.take(text), code.type_name if is_put else "key")
    which: dict[str, Node] = {"TableName": table.name}
    if is_put:
        which["Item"] = Call(code.item_name, (Variable(argument.name), *((NOW,) if code.has_now else ())))
    else:
        which["Key"] = Variable(argument.name)
    return _Step({**which, **_expressed(step, entity, table, arguments)}, argument)


def _expressed(step: WriteStep, entity: Entity, table: Table, arguments: Arguments) -> dict[str, Node]:
    """The expressions of a step; the condition's values are numbered before the update's, as in `write_requests`."""
    stand_ins = {name: any_value(None) for name in arguments.by_parameter}
    for assignment in step.assignments:
        if isinstance(assignment.operand, Parameter):
            stand_ins[assignment.operand.name] = any_value(entity.attributes.get(assignment.attribute))
    for comparison in comparisons(step.condition):
        stand_ins |= {
            operand.name: any_value(entity.attributes.get(comparison.attribute))
            for operand in comparison.operands
            if isinstance(operand, Parameter)
        }
    expressions = Expressions(entity.attributes, stand_ins, now=0)
    condition = None if step.condition is None else about_item(step.condition, table.partition_key.name)
    made: dict[str, Node] = {}
    text = "" if condition is None else expressions.condition(condition)
    if step.action == "check" and not text:
        text = f"attribute_exists({expressions.name(table.partition_key.name)})"
    gone = dict.fromkeys(_following(step, entity, table))
    update = expressions.update(step.assignments, gone) if step.action == "update" else ""
    attributes = dict(entity.attributes)
    values = [*condition_values(condition, attributes, arguments)]
    values += [value for each in step.assignments for value in _assigned(each, entity, arguments)]
    made["UpdateExpression"] = update
    made["ConditionExpression"] = text
    made["ExpressionAttributeNames"] = expressions.names
    made["ExpressionAttributeValues"] = {f":v{at}": value for at, value in enumerate(values)}
    return {name: node for name, node in made.items() if node}


def _assigned(assignment: Assignment, entity: Entity, arguments: Arguments) -> Iterator[Node]:
    """The values of one assignment."""
    attribute = entity.attributes.get(assignment.attribute)
    if assignment.action == "remove" or isinstance(assignment.operand, Name):
        return
    if assignment.action == "append":
        yield {"L": []}
        yield Call("_appended", (operand_node(assignment.operand, None, arguments),))
        return
    yield value_node(operand_node(assignment.operand, attribute, arguments), attribute)
