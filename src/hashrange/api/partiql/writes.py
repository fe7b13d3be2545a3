"""Statements that write: which command each is, and what comes back of it."""

from typing import assert_never

import msgspec

from hashrange.api.items.writes import returned, run
from hashrange.api.throttling.gate import Tab
from hashrange.core import mutation
from hashrange.core.mutation import Command, Origin, Outcome, PutCommand
from hashrange.core.partiql import Bound, commands
from hashrange.core.partiql.pinned import pin, written_key
from hashrange.core.partiql.syntax import Delete, Exists, Insert, Returning, Select, Update
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage.engine import Transaction

_RETURN_VALUES: dict[Returning, str] = {
    "ALL OLD": "ALL_OLD",
    "ALL NEW": "ALL_NEW",
    "MODIFIED OLD": "UPDATED_OLD",
    "MODIFIED NEW": "UPDATED_NEW",
}


class Draft(msgspec.Struct, frozen=True):
    """A statement that writes, checked as far as that goes without its table."""

    bound: Bound
    item: Item  # what an INSERT makes
    size: int

    @property
    def table_name(self) -> str:
        """The table's name, as the statement has it."""
        return self.bound.statement.target.table


def draft(bound: Bound) -> Draft:
    """Take a statement; the item of an INSERT is made and measured here."""
    if not isinstance(bound.statement, Insert):
        return Draft(bound, {}, 0)
    item = commands.inserted_item(bound, bound.statement)
    return Draft(bound, item, mutation.sized_put(item))


def command(draft: Draft, table: Table) -> tuple[Item, Command]:
    """The key that a statement writes to, and the command it is."""
    bound = draft.bound
    statement = bound.statement
    match statement:
        case Insert():
            return draft.item, commands.put(table, draft.item, draft.size)
        case Update() | Delete():
            pinned = pin(table, statement.where, bound.values)
            key = written_key(table, pinned)
            update = bound.update
            if update is None:
                return key, commands.delete(table, key, bound, pinned.rest)
            mutation.refuse_key_update(table, update)
            return key, commands.change(table, key, bound, update, pinned.rest)
        case Exists(select):
            pinned = pin(table, select.where, bound.values)
            return pinned.key, commands.check(table, pinned, bound.values)
        case Select():
            raise AssertionError(statement)
        case _:
            assert_never(statement)


def apply(
    tx: Transaction,
    table: Table,
    command: Command,
    origin: Origin,
    *,
    wants_item: bool,
    tab: Tab | None = None,
) -> tuple[Table, Outcome]:
    """Run one command; a condition that fails is a duplicate where an item is to be inserted."""
    inserts = isinstance(command, PutCommand)
    return run(tx, table, command, origin, wants_item=wants_item, inserts=inserts, tab=tab)


def returning(draft: Draft, outcome: Outcome) -> Item | None:
    """What RETURNING asks for; None where there is nothing to return."""
    statement = draft.bound.statement
    clause = statement.returning if isinstance(statement, Update | Delete) else None
    return None if clause is None else returned(_RETURN_VALUES[clause], outcome) or None
