"""The members of an ExecuteTransaction: lookups or actions, or the reasons why it is cancelled."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import msgspec

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.partiql import statements, writes
from hashrange.api.partiql.statements import Parameterized
from hashrange.api.table_names import data_table
from hashrange.api.transactions import cancellation
from hashrange.api.transactions.cancellation import Reason
from hashrange.api.transactions.reads import Lookup
from hashrange.api.transactions.run import Action
from hashrange.core.errors import Invalid
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.keys.primary_key import KEY_MISMATCH
from hashrange.core.limits import TRANSACT_BYTES_MAX
from hashrange.core.mutation import PutCommand
from hashrange.core.partiql import Bound, bind, commands
from hashrange.core.partiql.pinned import Pinned, names_only_key, pin
from hashrange.core.partiql.selection import decompose
from hashrange.core.partiql.syntax import Delete, Exists, Insert, Select, Update
from hashrange.core.schema import Table

T = TypeVar("T")

_NEEDS_KEY = "Select statements within ExecuteTransaction must specify the primary key in the where clause."


class StatementRequest(Parameterized, Protocol):
    """A member as sent."""

    return_values_on_condition_check_failure: Any


class Member(msgspec.Struct, frozen=True):
    """One statement of the transaction."""

    number: int
    bound: Bound
    wants_item: bool


def members(requests: Sequence[StatementRequest]) -> list[Member]:
    """Bind all statements; a bad parameter is an error of the request, a bad statement is named."""
    bound = []
    for number, request in enumerate(requests):
        parameters = statements.parameters(request)
        wants_item = request.return_values_on_condition_check_failure == "ALL_OLD"
        with _named(number):
            bound.append(Member(number, bind(request.statement, parameters), wants_item))
    return bound


@contextmanager
def _named(number: int) -> Iterator[None]:
    """Say which statement an error is about."""
    try:
        yield
    except Invalid as invalid:
        raise Invalid(f"Validation failed in TransactStatements[{number}]: {invalid.message}") from None


def _table(context: Context, name: str) -> Table | Reason:
    """A missing table cancels the transaction, unlike in TransactWriteItems."""
    try:
        return data_table(context, name)
    except ApiError as error:
        if error.code != "ResourceNotFoundException":
            raise
        return Reason("ResourceNotFound", error.message or "")


def _all_or_cancelled(
    context: Context, members: Sequence[Member], prepare: Callable[[Context, Member], T | Reason]
) -> list[T]:
    """Prepare every member; if there is a reason against one, the transaction is cancelled with all reasons."""
    outcomes: list[T | Reason] = []
    for member in members:
        with _named(member.number):
            outcomes.append(prepare(context, member))
    cancellation.cancel_on([outcome if isinstance(outcome, Reason) else None for outcome in outcomes])
    return [outcome for outcome in outcomes if not isinstance(outcome, Reason)]


def lookups(context: Context, members: Sequence[Member]) -> list[Lookup]:
    """The items that a transaction reads."""
    readable = _all_or_cancelled(context, members, _lookup)
    cancellation.refuse_duplicates([(lookup.table, lookup.key) for lookup in readable])
    return readable


def _lookup(context: Context, member: Member) -> Lookup | Reason:
    bound, statement = member.bound, member.bound.statement
    if not isinstance(statement, Select):
        raise TypeError(statement)
    name = statement.target.table
    table = _table(context, name)
    if isinstance(table, Reason):
        return table
    if statement.target.index is not None:
        raise Invalid("Reads on indices are not supported within transactions.")
    pinned = pin(table, statement.where, bound.values, lists=True)
    if not names_only_key(table, pinned):
        # Alternatives that overlap are found before it is seen that there are several.
        decompose(bound, statement, table, None)
        raise Invalid(_NEEDS_KEY)
    if not _fits(table, pinned):
        return Reason("ValidationError", KEY_MISMATCH)
    key_paths.refuse_nested(table, table.indexes, bound.prepared.projection)
    return Lookup(name, table, primary_key.of_key(table, pinned.key), bound.prepared.picker)


def _fits(table: Table, pinned: Pinned) -> bool:
    return all(key.type in pinned.key[key.name] for key in table.keys)


def actions(context: Context, members: Sequence[Member]) -> list[Action]:
    """The writes and checks of a transaction."""
    bound = _all_or_cancelled(context, members, _action)
    sizes = [action.command.size for action in bound if isinstance(action.command, PutCommand)]
    if sum(sizes) > TRANSACT_BYTES_MAX:
        raise Invalid(f"Transaction request size cannot exceed {TRANSACT_BYTES_MAX} bytes")
    cancellation.refuse_duplicates([(action.table, action.command.key) for action in bound])
    return bound


def _action(context: Context, member: Member) -> Action | Reason:
    statement = member.bound.statement
    draft = writes.draft(member.bound)
    name = draft.table_name
    table = _table(context, name)
    if isinstance(table, Reason):
        return table
    if isinstance(statement, Update | Delete):
        if statement.returning is not None:
            raise Invalid("RETURNING clause is not supported in ExecuteTransaction.")
        pinned = pin(table, statement.where, member.bound.values)
        if pinned.doubled is not None or not pinned.whole(table):
            return Reason("ValidationError", KEY_MISMATCH)
    if isinstance(statement, Exists):
        commands.check_exists(table, pin(table, statement.select.where, member.bound.values))
    try:
        key, command = writes.command(draft, table)
    except Invalid as invalid:
        return cancellation.invalid(invalid)
    return Action(table, name, command, key, member.wants_item, inserts=isinstance(statement, Insert))
