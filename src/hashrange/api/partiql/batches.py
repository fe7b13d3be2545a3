"""The members of a BatchExecuteStatement: planned one by one, run one by one, each with a result of its own."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.items.writes import attempted_units
from hashrange.api.partiql import statements, writes
from hashrange.api.partiql.statements import Parameterized
from hashrange.api.partiql.writes import Draft
from hashrange.api.results import Charge, ItemRead, ItemWritten, Result
from hashrange.api.table_names import data_table
from hashrange.api.throttling.gate import Tab
from hashrange.api.throttling.refusals import Refusal
from hashrange.core.errors import Invalid, Refused
from hashrange.core.expressions import Picker, picked_json
from hashrange.core.keys import primary_key
from hashrange.core.mutation import Command, Origin
from hashrange.core.partiql import Bound
from hashrange.core.partiql.pinned import names_only_key, pin
from hashrange.core.partiql.selection import decompose, select
from hashrange.core.partiql.syntax import Select
from hashrange.core.schema import Table
from hashrange.storage import store
from hashrange.storage.engine import Reader, Transaction

_NEEDS_KEY = (
    "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
)
_COLLECTION_FULL = "ItemCollectionSizeLimitExceededException"


class StatementRequest(Parameterized, Protocol):
    """A member as sent."""

    consistent_read: bool | None


class Failure(msgspec.Struct, frozen=True):
    """What is wrong with a member; one that cannot run does not say which table it was for."""

    code: str
    message: str
    refusal: Refusal | None = None  # for want of capacity


class Get(msgspec.Struct, frozen=True):
    """A member that reads one item."""

    table_name: str
    table: Table
    key: bytes
    projection: Picker | None
    consistent: bool


class Edit(msgspec.Struct, frozen=True):
    """A member that writes one item."""

    draft: Draft
    table: Table
    command: Command

    @property
    def table_name(self) -> str:
        """The table's name, as the statement has it."""
        return self.draft.table_name

    @property
    def key(self) -> bytes:
        """The item's key."""
        return self.command.key


Member = Failure | Get | Edit


class FailedWrite(Result):
    """A member that ran and failed."""

    table: Table
    table_name: str
    key: bytes
    units: float
    failure: Failure

    def charges(self) -> Iterator[Charge]:
        """The attempt."""
        yield Charge(self.table, None, self.key, self.units, write=True)


class BatchExecuted(Result):
    """What came of each member, in the request's order."""

    members: Sequence[ItemRead | ItemWritten | FailedWrite | Failure]

    @property
    def refusals(self) -> list[Refusal]:
        """Why members found no capacity."""
        failures = [member for member in self.members if isinstance(member, Failure)]
        return [failure.refusal for failure in failures if failure.refusal is not None]

    def charges(self) -> Iterator[Charge]:
        """The charges of all members that ran."""
        for member in self.members:
            if not isinstance(member, Failure):
                yield from member.charges()


def planned(context: Context, requests: Sequence[StatementRequest]) -> list[Member]:
    """All members of a request: either reads or writes, no two of one item."""
    bound = [_bound(context, number, request) for number, request in enumerate(requests)]
    reading = {isinstance(member.statement, Select) for member in bound if isinstance(member, Bound)}
    if len(reading) > 1:
        raise Invalid("Read and write requests together in the same batch is not supported.")
    members = [
        member if isinstance(member, Failure) else _planned(context, member, request)
        for member, request in zip(bound, requests, strict=True)
    ]
    places = [(member.table.number, member.key) for member in members if not isinstance(member, Failure)]
    if len(set(places)) < len(places):
        raise Invalid("Provided list of item keys contains duplicates")
    return members


def _bound(context: Context, number: int, request: StatementRequest) -> Bound | Failure:
    denied = context.denied_statements.get(number)
    if denied is not None:
        return _failure(denied)
    try:
        return statements.bound(context, request)
    except Invalid as invalid:
        return _failure(invalid)


def _planned(context: Context, bound: Bound, request: StatementRequest) -> Member:
    """What went wrong with a member is the member's own affair."""
    try:
        if isinstance(bound.statement, Select):
            return _get(context, bound, bound.statement, consistent=request.consistent_read is True)
        draft = writes.draft(bound)
        table = data_table(context, draft.table_name)
        _, command = writes.command(draft, table)
    except (ApiError, Refused) as error:
        return _failure(error)
    return Edit(draft, table, command)


def _failure(error: ApiError | Refused) -> Failure:
    if isinstance(error, Refused):
        return Failure("ValidationError", error.message)
    code = error.code.removesuffix("Exception")
    return Failure("ValidationError" if code == "Validation" else code, error.message or "")


def _get(context: Context, bound: Bound, statement: Select, *, consistent: bool) -> Get:
    """A SELECT in a batch reads one item, by its key and by nothing else."""
    if statement.target.index is not None:
        statements.refuse_multi_attribute(context, statement.target)
        raise Invalid(_NEEDS_KEY)
    name = statement.target.table
    table = data_table(context, name)
    decompose(bound, statement, table, None)
    pinned = pin(table, statement.where, bound.values, lists=True)
    if not names_only_key(table, pinned):
        raise Invalid(_NEEDS_KEY)
    # Columns and ORDER BY are held to the same rules as in a statement by itself.
    select(bound, statement, table, None)
    key = primary_key.of_key(table, pinned.key)
    return Get(name, table, key, bound.prepared.picker, consistent)


def reads(members: Sequence[Member]) -> list[bytes]:
    """The rows that the members look at for sure."""
    rows: list[bytes] = []
    for member in members:
        if isinstance(member, Get):
            rows.append(store.row_key(member.table, member.key))
        elif isinstance(member, Edit):
            rows.extend(store.reads(member.table, member.key))
    return rows


def read(
    members: Sequence[Member], tab: Tab | None, reader: Reader, past: Reader | None = None
) -> BatchExecuted:
    """Run a batch of reads; those that need not be up to date read from the `past` if there is one."""

    def look_up(member: Member) -> ItemRead | Failure:
        if not isinstance(member, Get):
            return _unrun(member)
        return _looked_up(reader if member.consistent or past is None else past, member, tab)

    return BatchExecuted([look_up(member) for member in members])


def write(members: Sequence[Member], origin: Origin, tab: Tab | None, tx: Transaction) -> BatchExecuted:
    """Run a batch of writes."""
    return BatchExecuted(
        [
            _edited(tx, member, origin, tab) if isinstance(member, Edit) else _unrun(member)
            for member in members
        ]
    )


def _unrun(member: Member) -> Failure:
    if not isinstance(member, Failure):
        raise TypeError(member)
    return member


def _looked_up(reader: Reader, member: Get, tab: Tab | None) -> ItemRead | Failure:
    refusal = None if tab is None else tab.read_refusal(member.table, None, member.key)
    if refusal is not None:
        return _throttled(refusal)
    stored = reader.get(store.row_key(member.table, member.key))
    projection = member.projection
    picked = None if projection is None or stored is None else picked_json(projection, stored)
    result = ItemRead(member.table, member.table_name, member.key, stored, picked, member.consistent)
    if tab is not None:
        tab.take(result.charges())
    return result


def _throttled(refusal: Refusal) -> Failure:
    return Failure(refusal.element_code, refusal.message, refusal)


def _edited(
    tx: Transaction, member: Edit, origin: Origin, tab: Tab | None
) -> ItemWritten | FailedWrite | Failure:
    refusal = None if tab is None else tab.write_refusal(member.table, member.key)
    if refusal is not None:
        return _throttled(refusal)
    result = _attempt(tx, member, origin)
    if tab is not None:
        tab.take(result.charges())
    return result


def _attempt(tx: Transaction, member: Edit, origin: Origin) -> ItemWritten | FailedWrite:
    name = member.table_name
    try:
        table, outcome = writes.apply(tx, member.table, member.command, origin, wants_item=False)
    except (ApiError, Refused) as error:
        if isinstance(error, ApiError) and error.code == _COLLECTION_FULL:
            # Found in the middle of writing: the transaction cannot go on.
            raise
        units = attempted_units(member.command, store.read_item(tx, member.table, member.key))
        return FailedWrite(member.table, name, member.key, units, _failure(error))
    return ItemWritten(table, name, outcome, writes.returning(member.draft, outcome))
