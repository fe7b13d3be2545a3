"""Functions of batches: stored items and keys, which the functions of their entities make."""

from __future__ import annotations

from hashrange.modeling.codegen.functions import KEYS, Argument, Function, Omission, one_line
from hashrange.modeling.codegen.nodes import Call, Node, Variable
from hashrange.modeling.model import Model, WritePattern

_ITEMS = Argument("items", "items")


def batch_function(model: Model, pattern: WritePattern, name: str) -> Function | Omission:
    """BatchWriteItem for any stored items and keys: 25 at most, all of one table."""
    tables = {model.entities[step.entity].table for step in pattern.steps}
    actions = {step.action for step in pattern.steps}
    if len(tables) > 1:
        return Omission(pattern.id, "it writes to several tables: make the items with the item functions")
    if not actions <= {"put", "delete"} or any(step.condition is not None for step in pattern.steps):
        return Omission(pattern.id, "it is several requests: a batch knows neither updates nor conditions")
    arguments = [argument for action, argument in (("put", _ITEMS), ("delete", KEYS)) if action in actions]
    written: list[Node] = [
        Variable(argument.name) if argument in arguments else [] for argument in (_ITEMS, KEYS)
    ]
    members: dict[str, Node] = {"RequestItems": {tables.pop(): Call("_writes", tuple(written))}}
    text = one_line(f"{pattern.id}: {pattern.name or 'write'}. At most 25 items and keys together.")
    return Function(name, text, tuple(arguments), "BatchWriteItem", members)
