"""ExecuteStatement: run one PartiQL statement."""

from collections.abc import Iterator, Sequence
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
from hashrange.api.table_names import data_table
from hashrange.core.limits import NEXT_TOKEN_CHARS_MAX
from hashrange.core.mutation import Origin
from hashrange.core.partiql import Bound
from hashrange.core.partiql.syntax import Select
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import store
from hashrange.storage.engine import Reader, Transaction


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
    """Bind the statement to its parameters, then read or write."""
    # Taken before anything in the request is brought into canonical form.
    token_binding = tokens.binding(request)
    bound = statements.bound(context, request)
    if isinstance(bound.statement, Select):
        return _select(context, request, bound, bound.statement, token_binding)
    return _write(context, request, writes.draft(bound))


def _select(
    context: Context, request: ExecuteStatement, bound: Bound, statement: Select, token_binding: bytes
) -> Plan:
    consistent = request.consistent_read is True
    query = reads.plan(context, bound, statement, consistent=consistent)
    resume = None if request.next_token is None else tokens.decode(request.next_token, token_binding)

    def step(reader: Reader) -> StatementRead:
        rows = reads.read(reader, query, request.limit, resume)
        token = None if rows.resume is None else tokens.encode(rows.resume, token_binding)
        return StatementRead(query.request.table, query.table_name, rows.pages, rows.last, token)

    return Read(step, eventual=not consistent)


def _write(context: Context, request: ExecuteStatement, draft: Draft) -> Plan:
    table = data_table(context, draft.table_name)
    _, command = writes.command(draft, table)
    origin = Origin(context.clock.now())
    wants_item = request.return_values_on_condition_check_failure == "ALL_OLD"

    def step(tx: Transaction) -> ItemWritten:
        current, outcome = writes.apply(tx, table, command, origin, wants_item=wants_item)
        return ItemWritten(current, draft.table_name, outcome, writes.returning(draft, outcome))

    return Write(step, reads=lambda: store.reads(table, command.key))
