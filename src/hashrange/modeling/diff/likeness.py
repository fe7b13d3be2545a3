"""Likeness: whether two parts of models say the same, wherever in their files they stand."""

from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any

from hashrange.modeling.conditions import text_of
from hashrange.modeling.model import Attribute, Entity, Index
from hashrange.modeling.plans import template_of


def differing(old: Any, new: Any) -> tuple[str, ...]:
    """The members of two objects of a class that differ."""
    names = (member.name for member in fields(old) if _is_said(member))
    return tuple(
        name for name in names if _unplaced(getattr(old, name)) != _unplaced(getattr(new, name))
    )  # fmt: skip


def _is_said(member: Field[Any]) -> bool:
    """Whether a member is a part of the model, and not of where it stands."""
    return member.compare and member.name != "place"


def _unplaced(value: Any) -> Any:
    if is_dataclass(value):
        members = (getattr(value, member.name) for member in fields(value) if _is_said(member))
        return (type(value).__name__, *map(_unplaced, members))
    match value:
        case tuple():
            return tuple(map(_unplaced, value))
        case Mapping():
            return {name: _unplaced(part) for name, part in value.items()}
        case _:
            return value


def is_same_index(old: Index | None, new: Index) -> bool:
    """Whether an index can stay as it is: UpdateTable changes neither its key nor its projection."""
    return old is not None and not differing(old, new)


def is_rewritten(old: Attribute, new: Attribute) -> bool:
    """Whether stored values have another form. A format that only one of the files tells is no change."""
    if old.type != new.type:
        return True
    return old.format is not None and new.format is not None and old.format != new.format


def is_same_key(old: Entity, new: Entity, name: str) -> bool:
    """Whether items that are stored have the key attribute as the new version would make it; or both have none."""
    before, after = template_of(old, name), template_of(new, name)
    if before is None or after is None:
        return before is after
    if before.text != after.text or _condition(old, name) != _condition(new, name):
        return False
    sources = [part for part in after.attributes if part in old.attributes and part in new.attributes]
    return not any(is_rewritten(old.attributes[part], new.attributes[part]) for part in sources)


def _condition(entity: Entity, name: str) -> str:
    condition = entity.only_if.get(name)
    return "" if condition is None else text_of(condition)
