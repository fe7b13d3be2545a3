"""The members of a BatchExecuteStatement: planned one by one, run one by one, answered one by one."""

from typing import Any

import msgspec
import orjson

from hashrange.api import answers, partiql_reads, partiql_statements, partiql_writes
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.partiql_reads import Query
from hashrange.api.partiql_writes import Draft
from hashrange.api.table_names import data_table
from hashrange.core import items
from hashrange.core.capacity import Consumed
from hashrange.core.errors import Invalid, Refused
from hashrange.core.keys import primary_key
from hashrange.core.mutation import Command, Put, units_of
from hashrange.core.partiql import Bound
from hashrange.core.partiql.pinned import names_only_key, pin
from hashrange.core.partiql.selection import decompose
from hashrange.core.partiql.syntax import Select
from hashrange.core.schema import Table
from hashrange.storage import store
from hashrange.storage.engine import Reader, Transaction

_NEEDS_KEY = (
    "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
)
_COLLECTION_FULL = "ItemCollectionSizeLimitExceededException"


class Failure(msgspec.Struct, frozen=True):
    """A member that cannot run."""

    code: str
    message: str


class Get(msgspec.Struct, frozen=True):
    """A member that reads one item."""

    query: Query
    table: Table
    key: bytes


class Edit(msgspec.Struct, frozen=True):
    """A member that writes one item."""

    draft: Draft
    table: Table
    command: Command

    @property
    def key(self) -> bytes:
        """The item's key."""
        return self.command.key


Planned = Failure | Get | Edit


class Bill(msgspec.Struct):
    """What a batch costs, by table; members that ran and failed count for the total only."""

    consumed: dict[str, Consumed] = msgspec.field(default_factory=dict)
    failed: dict[str, float] = msgspec.field(default_factory=dict)

    def add(self, more: Consumed) -> None:
        """The units of a member that succeeded."""
        total = self.consumed.setdefault(more.name, Consumed(more.table, more.name))
        total.add(more.units)
        for name, units in more.indexes.items():
            total.add_index(more.table.index_by_name[name], units)

    def add_failed(self, name: str, units: float) -> None:
        """The units of a member that failed."""
        self.failed[name] = self.failed.get(name, 0.0) + units

    def reports(self, mode: str) -> list[dict[str, Any]]:
        """ConsumedCapacity; a table on which nothing succeeded is not in it (recorded)."""
        reports = []
        for name, total in self.consumed.items():
            report = total.report(mode)
            report["CapacityUnits"] += self.failed.get(name, 0.0)
            reports.append(report)
        return reports


class Batch:
    """All members of a request: either reads or writes, no two of one item."""

    def __init__(self, context: Context, statements: list[dict[str, Any]]) -> None:
        bound = [_bound(asked) for asked in statements]
        reading = {isinstance(each.statement, Select) for each in bound if isinstance(each, Bound)}
        if len(reading) > 1:
            raise Invalid("Read and write requests together in the same batch is not supported.")
        self.writes = False in reading
        self._members: list[Planned] = [
            each if isinstance(each, Failure) else _planned(context, each, asked)
            for each, asked in zip(bound, statements, strict=True)
        ]
        places = [(each.table.number, each.key) for each in self._members if not isinstance(each, Failure)]
        if len(set(places)) < len(places):
            raise Invalid("Provided list of item keys contains duplicates")

    def read(self, reader: Reader, mode: str) -> bytes:
        """Run a batch of reads."""
        bill = Bill()
        return _answer([_looked_up(reader, each, bill) for each in self._members], bill, mode)

    def write(self, tx: Transaction, mode: str) -> bytes:
        """Run a batch of writes."""
        bill = Bill()
        return _answer([_edited(tx, each, bill) for each in self._members], bill, mode)


def _bound(asked: dict[str, Any]) -> Bound | Failure:
    try:
        return partiql_statements.bound(asked)
    except Invalid as invalid:
        return _failure(invalid)


def _planned(context: Context, bound: Bound, asked: dict[str, Any]) -> Planned:
    """What went wrong with a member is the member's own affair."""
    try:
        if isinstance(bound.statement, Select):
            return _get(context, bound, bound.statement, consistent=asked.get("ConsistentRead", False))
        draft = partiql_writes.draft(bound)
        table = data_table(context, draft.name)
        _, command = partiql_writes.command(draft, table)
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
        raise Invalid(_NEEDS_KEY)
    table = data_table(context, statement.target.table)
    decompose(bound, statement, table, None)
    pinned = pin(table, statement.where, bound.values, lists=True)
    if not names_only_key(table, pinned):
        raise Invalid(_NEEDS_KEY)
    query = partiql_reads.plan(context, bound, statement, consistent=consistent)
    return Get(query, table, primary_key.of_key(table, pinned.key))


def _looked_up(reader: Reader, member: Planned, bill: Bill) -> bytes:
    if not isinstance(member, Get):
        return _failed(member)
    found = partiql_reads.read(reader, member.query)
    bill.add(found.consumed)
    members = [b'"Item":' + row for row in found.rows]
    members.append(b'"TableName":' + orjson.dumps(member.query.name))
    return answers.pasted(members)


def _edited(tx: Transaction, member: Planned, bill: Bill) -> bytes:
    if not isinstance(member, Edit):
        return _failed(member)
    name = member.draft.name
    try:
        table, outcome = partiql_writes.apply(tx, member.table, member.command, wants_item=False)
    except (ApiError, Refused) as error:
        if isinstance(error, ApiError) and error.code == _COLLECTION_FULL:
            # Found in the middle of writing: the transaction cannot go on.
            raise
        bill.add_failed(name, _attempted_units(tx, member))
        return answers.body({"Error": _error(_failure(error)), "TableName": name})
    bill.add(answers.written(table, name, outcome))
    returned = partiql_writes.returning(member.draft, outcome)
    return answers.body({"TableName": name} if returned is None else {"Item": returned, "TableName": name})


def _attempted_units(tx: Transaction, member: Edit) -> int:
    """A write that failed is charged like one that replaces the stored item by what it carried (recorded)."""
    stored = store.stored_item(tx, member.table, member.key)
    carried = member.command.size if isinstance(member.command, Put) else 0
    return units_of(0 if stored is None else items.stored_size(stored), carried)


def _failed(member: Planned) -> bytes:
    """A member that never ran does not say which table it was for."""
    if not isinstance(member, Failure):
        raise TypeError(member)
    return answers.body({"Error": _error(member)})


def _error(failure: Failure) -> dict[str, str]:
    return {"Code": failure.code, "Message": failure.message}


def _answer(responses: list[bytes], bill: Bill, mode: str) -> bytes:
    members = [b'"Responses":[' + b",".join(responses) + b"]"]
    reports = bill.reports(mode) if mode != "NONE" else []
    if reports:
        members.append(b'"ConsumedCapacity":' + orjson.dumps(reports))
    return answers.pasted(members)
