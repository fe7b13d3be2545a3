"""ExecuteTransaction: up to a hundred PartiQL statements, all reads of one moment or all writes at once."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.partiql import transactions
from hashrange.api.partiql.statements import Parameters, Statement
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import (
    Request,
    ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure,
    Structure,
)
from hashrange.api.transactions import reads, run
from hashrange.core.errors import Invalid
from hashrange.core.limits import CLIENT_REQUEST_TOKEN_CHARS_MAX, STATEMENT_TRANSACTION_MAX
from hashrange.core.partiql.syntax import Select


class ParameterizedStatement(Structure, kw_only=True):
    """One statement of the transaction."""

    statement: Statement
    parameters: Parameters | None = None
    return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure | None = None


class ExecuteTransaction(Request, kw_only=True):
    """The request."""

    return_consumed_capacity: ReturnConsumedCapacity | None = None
    client_request_token: (
        Annotated[str, Meta(min_length=1, max_length=CLIENT_REQUEST_TOKEN_CHARS_MAX)] | None
    ) = None
    transact_statements: Annotated[
        list[ParameterizedStatement], Meta(min_length=1, max_length=STATEMENT_TRANSACTION_MAX)
    ]


SHAPE = Shape(ExecuteTransaction)


def execute_transaction(context: Context, request: ExecuteTransaction) -> Plan:
    """Bind all statements, then find their tables."""
    token = run.make_token(context, request.client_request_token, request.transact_statements)
    members = transactions.members(request.transact_statements)
    reading = {isinstance(member.bound.statement, Select) for member in members}
    if len(reading) > 1:
        raise Invalid(
            "ExecuteTransaction API does not support both read and write operations in the same request."
        )
    if True in reading:
        return reads.plan(context, transactions.lookups(context, members))
    return run.plan(context, transactions.actions(context, members), token)
