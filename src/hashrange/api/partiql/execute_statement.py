"""ExecuteStatement: run one PartiQL statement."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.partiql import reads, statements, tokens, writes
from hashrange.api.partiql.statements import Parameters, Statement
from hashrange.api.partiql.writes import Draft
from hashrange.api.protocol.plan import Plan, Read, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import (
    Limit,
    Request,
    ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure,
)
from hashrange.api.results import Charge, ItemWritten, PageRead, Result
from hashrange.api.table_names import data_table, ready_table
from hashrange.core.expressions import Picker
from hashrange.core.limits import NEXT_TOKEN_CHARS_MAX
from hashrange.core.mutation import Origin
from hashrange.core.partiql import Bound
from hashrange.core.partiql.point_reads import key_or_none
from hashrange.core.partiql.syntax import Select
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import store
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.pages import item_page


class ExecuteStatement(Request, kw_only=True):
    """The request."""

    return_consumed_capacity: ReturnConsumedCapacity | None = None
    statement: Statement
    parameters: Parameters | None = None
    next_token: Annotated[str, Meta(min_length=1, max_length=NEXT_TOKEN_CHARS_MAX)] | None = None
    limit: Limit | None = None
    return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure | None = None
    consistent_read: bool | None = None


SHAPE = Shape(ExecuteStatement)


class StatementRead(Result):
    """One page of a SELECT, in the pages of its reads."""

    table: Table
    table_name: str
    pages: Sequence[PageRead]
    last: Item | None = None
    next_token: str | None = None

    def charges(self) -> Iterator[Charge]:
        """All reads."""
        for page in self.pages:
            yield from page.charges()

    def returned(self) -> int | None:
        """The items of all reads."""
        return sum(page.page.count for page in self.pages)


def execute_statement(context: Context, request: ExecuteStatement) -> Plan:
    """Read one item by its key, or bind the statement to its parameters, then read or write."""
    plan = _prepared(context, request)
    if plan is not None:
        return plan
    # Taken before anything in the request is brought into canonical form.
    token_binding = tokens.binding(request)
    bound = statements.bound(context, request)
    if isinstance(bound.statement, Select):
        return _select(context, request, bound, bound.statement, token_binding)
    return _write(context, request, writes.draft(bound))


def _prepared(context: Context, request: ExecuteStatement) -> Read | None:
    """The plan of a SELECT of one item that has nothing wrong with it; None: the long way has to judge."""
    if request.next_token is not None:
        return None
    prepared = context.prepared.statements.get(request.statement)
    if prepared is None or prepared.point is None:
        return None
    name = prepared.statement.target.table
    table = ready_table(context, name)
    if table is None or context.tab(table) is not None:
        return None
    key = key_or_none(table, prepared.point, request.parameters or ())
    if key is None:
        return None
    consistent = request.consistent_read is True
    row = store.row_key(table, key)
    return Read(
        partial(_read_item, table, name, key, row, prepared.picker, consistent), (row,), not consistent
    )


def _read_item(
    table: Table,
    name: str,
    key: bytes,
    row: bytes,
    picker: Picker | None,
    consistent: bool,
    reader: Reader,
) -> StatementRead:
    page = item_page(reader.get(row), picker)
    return StatementRead(table, name, [PageRead(table, None, name, key, page, consistent=consistent)])


def _select(
    context: Context, request: ExecuteStatement, bound: Bound, statement: Select, token_binding: bytes
) -> Plan:
    consistent = request.consistent_read is True
    query = reads.plan(context, bound, statement, consistent=consistent)
    if bound.prepared.point is not None:
        context.prepared.add_statement(request.statement, bound.prepared)
    resume = None if request.next_token is None else tokens.decode(request.next_token, token_binding)

    tab = context.tab(query.request.table)

    def step(reader: Reader) -> StatementRead:
        rows = reads.read(reader, query, request.limit, resume, tab)
        token = None if rows.resume is None else tokens.encode(rows.resume, token_binding)
        return StatementRead(query.request.table, query.table_name, rows.pages, rows.last, token)

    return Read(step if tab is None else partial(tab.run, step), eventual=not consistent)


def _write(context: Context, request: ExecuteStatement, draft: Draft) -> Plan:
    table = data_table(context, draft.table_name)
    _, command = writes.command(draft, table)
    origin = Origin(context.clock.now())
    wants_item = request.return_values_on_condition_check_failure == "ALL_OLD"
    tab = context.tab(table)

    def step(tx: Transaction) -> ItemWritten:
        current, outcome = writes.apply(tx, table, command, origin, wants_item=wants_item, tab=tab)
        return ItemWritten(current, draft.table_name, outcome, writes.returning(draft, outcome))

    guarded = step if tab is None else partial(tab.write, step)
    return Write(guarded, reads=lambda: store.reads(table, command.key))
