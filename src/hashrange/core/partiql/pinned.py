"""Which item a WHERE clause names: its equalities on the key, and all other conditions."""

import msgspec

from hashrange.core.errors import Invalid
from hashrange.core.expressions import resolved
from hashrange.core.expressions.resolved import Literal, Parameter, Path, known_value
from hashrange.core.schema import Table
from hashrange.core.values import Item, Value

Equality = tuple[str, Value]


class Pinned(msgspec.Struct, frozen=True):
    """The first value that every key attribute must equal, and all other conditions."""

    key: Item
    rest: tuple[resolved.Node, ...]
    doubled: str | None  # the first key attribute that must equal a second value, too

    def whole(self, table: Table) -> bool:
        """Whether the primary key is complete."""
        return len(self.key) == len(table.keys)


def conditions(where: resolved.Node | None) -> tuple[resolved.Node, ...]:
    """The conditions that all must hold."""
    match where:
        case None:
            return ()
        case resolved.And(parts):
            return parts
        case _:
            return (where,)


def pin(table: Table, where: resolved.Node | None, values: resolved.Values, *, lists: bool = False) -> Pinned:
    """Read a WHERE clause for the key it names; with `lists`, IN with a single value is an equality, too."""
    key: Item = {}
    rest: list[resolved.Node] = []
    doubled = None
    for node in conditions(where):
        name, value = _equality(node, values, lists=lists) or ("", {})
        if name not in table.key_names:
            rest.append(node)
        elif key.setdefault(name, value) != value:
            rest.append(node)
            doubled = doubled or name
    return Pinned(key, tuple(rest), doubled)


def _equality(node: resolved.Node, values: resolved.Values, *, lists: bool) -> Equality | None:
    match node:
        case resolved.Compare("=", Path((str(name),)), Literal() | Parameter() as operand):
            return name, known_value(operand, values)
        case resolved.Compare("=", Literal() | Parameter() as operand, Path((str(name),))):
            return name, known_value(operand, values)
        case resolved.In(Path((str(name),)), (Literal() | Parameter() as operand,)) if lists:
            return name, known_value(operand, values)
        case _:
            return None


def written_key(table: Table, pinned: Pinned) -> Item:
    """The key of the one item that an UPDATE or DELETE writes."""
    if pinned.doubled is not None:
        raise Invalid(
            f"Multiple conditions on same key {pinned.doubled}. "
            "Only single item Update/Insert/Delete are supported"
        )
    if not pinned.whole(table):
        raise Invalid("Where clause does not contain a mandatory equality on all key attributes")
    return pinned.key


def names_only_key(table: Table, pinned: Pinned) -> bool:
    """Whether a WHERE clause names one item and has no other condition."""
    return pinned.whole(table) and not pinned.rest
