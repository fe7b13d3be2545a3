"""The members of an ExecuteTransaction: lookups or actions, or the reasons why it is cancelled."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import orjson

from hashrange.api import answers, partiql_statements, partiql_writes, transactions
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.partiql_reads import picked
from hashrange.api.table_names import data_table
from hashrange.api.transact_get_items import Lookup, read_all
from hashrange.api.transact_writes import Action
from hashrange.api.transactions import Reason
from hashrange.core.errors import Invalid
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.keys.primary_key import KEY_MISMATCH
from hashrange.core.limits import TRANSACT_BYTES_MAX
from hashrange.core.mutation import Put
from hashrange.core.partiql import Bound, bind, commands
from hashrange.core.partiql.pinned import Pinned, names_only_key, pin
from hashrange.core.partiql.selection import decompose
from hashrange.core.partiql.syntax import Delete, Exists, Insert, Select, Update
from hashrange.core.schema import Table
from hashrange.storage.engine import Reader

_NEEDS_KEY = "Select statements within ExecuteTransaction must specify the primary key in the where clause."


class Member(msgspec.Struct, frozen=True):
    """One statement of the transaction."""

    number: int
    bound: Bound
    wants_item: bool


def members(statements: list[dict[str, Any]]) -> list[Member]:
    """Bind all statements; a bad parameter is an error of the request, a bad statement is named."""
    found = []
    for number, asked in enumerate(statements):
        parameters = partiql_statements.parameters(asked)
        wants_item = asked.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
        with _named(number):
            found.append(Member(number, bind(asked["Statement"], parameters), wants_item))
    return found


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


def gets(context: Context, members: list[Member]) -> list[Lookup]:
    """The items that a transaction reads."""
    found: list[Lookup | Reason] = []
    for member in members:
        with _named(member.number):
            found.append(_get(context, member))
    transactions.cancel_on([each if isinstance(each, Reason) else None for each in found])
    lookups = [each for each in found if isinstance(each, Lookup)]
    transactions.refuse_duplicates([(each.table, each.key) for each in lookups])
    return lookups


def _get(context: Context, member: Member) -> Lookup | Reason:
    bound, statement = member.bound, member.bound.statement
    if not isinstance(statement, Select):
        raise TypeError(statement)
    table = _table(context, statement.target.table)
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
    key_paths.refuse_nested(table, (), bound.prepared.projection)
    nested = any(len(column.path.parts) > 1 for column in statement.columns)
    projection = None if nested else bound.prepared.projection
    return Lookup(statement.target.table, table, primary_key.of_key(table, pinned.key), projection)


def _fits(table: Table, pinned: Pinned) -> bool:
    return all(key.type in pinned.key[key.name] for key in table.keys)


def read(reader: Reader, members: list[Member], lookups: list[Lookup], mode: str) -> bytes:
    """Read all items of one snapshot; columns inside documents come under names of their own."""
    answer = read_all(reader, lookups, mode)
    columns = [getattr(member.bound.statement, "columns", ()) for member in members]
    if all(len(column.path.parts) == 1 for each in columns for column in each):
        return answer
    body = orjson.loads(answer)
    for response, wanted in zip(body["Responses"], columns, strict=True):
        if wanted and "Item" in response:
            response["Item"] = picked(wanted, response["Item"])
    return answers.body(body)


def actions(context: Context, members: list[Member]) -> list[Action]:
    """The writes and checks of a transaction."""
    found: list[Action | Reason] = []
    for member in members:
        with _named(member.number):
            found.append(_action(context, member))
    transactions.cancel_on([each if isinstance(each, Reason) else None for each in found])
    bound = [each for each in found if isinstance(each, Action)]
    if sum(each.command.size for each in bound if isinstance(each.command, Put)) > TRANSACT_BYTES_MAX:
        raise Invalid(f"Transaction request size cannot exceed {TRANSACT_BYTES_MAX} bytes")
    transactions.refuse_duplicates([(each.table, each.command.key) for each in bound])
    return bound


def _action(context: Context, member: Member) -> Action | Reason:
    statement = member.bound.statement
    draft = partiql_writes.draft(member.bound)
    table = _table(context, draft.name)
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
        key, command = partiql_writes.command(draft, table)
    except Invalid as invalid:
        return transactions.invalid(invalid)
    return Action(table, draft.name, command, key, member.wants_item, inserts=isinstance(statement, Insert))


def with_no_responses(answer: bytes) -> bytes:
    """Writes give nothing back, but say so."""
    return b'{"Responses":[]' + (b"}" if answer == answers.EMPTY else b"," + answer[1:])
