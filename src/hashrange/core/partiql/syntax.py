"""Parsed statements: their conditions and actions are resolved nodes of expressions, `?` a Parameter in them."""

from typing import Literal as OneOf
from typing import Protocol

import msgspec

from hashrange.core.expressions import resolved

Returning = OneOf["ALL OLD", "ALL NEW", "MODIFIED OLD", "MODIFIED NEW"]


class Check(Protocol):
    """A rule that needs the values of a request; raises the Flaw of expressions."""

    def run(self, values: resolved.Values) -> None:
        """Raise if the rule is broken."""


class Target(msgspec.Struct, frozen=True):
    """What a statement reads or writes: a table, or one of its indexes."""

    table: str
    index: str | None = None


class Column(msgspec.Struct, frozen=True):
    """One column of a SELECT: its path in the item, and its name in the answer."""

    path: resolved.Path
    name: str


class OrderTerm(msgspec.Struct, frozen=True):
    """One term of ORDER BY."""

    attribute: str
    descending: bool


class Select(msgspec.Struct, frozen=True):
    """SELECT; no columns means all of them."""

    target: Target
    columns: tuple[Column, ...]
    where: resolved.Node | None
    order: tuple[OrderTerm, ...] = ()


class Insert(msgspec.Struct, frozen=True):
    """INSERT INTO: the item's attributes."""

    target: Target
    item: tuple[tuple[str, resolved.Known], ...]


class Update(msgspec.Struct, frozen=True):
    """UPDATE, in either word order."""

    target: Target
    actions: tuple[resolved.Action, ...]
    where: resolved.Node | None
    returning: Returning | None


class Delete(msgspec.Struct, frozen=True):
    """DELETE FROM."""

    target: Target
    where: resolved.Node | None
    returning: Returning | None


class Exists(msgspec.Struct, frozen=True):
    """EXISTS(SELECT …): a condition check of a transaction."""

    select: Select

    @property
    def target(self) -> Target:
        """The table that the SELECT reads."""
        return self.select.target


Statement = Select | Insert | Update | Delete | Exists
