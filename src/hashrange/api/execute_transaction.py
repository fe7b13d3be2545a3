"""ExecuteTransaction: up to a hundred PartiQL statements, all reads of one moment or all writes at once."""

from typing import Any

from hashrange.api import partiql_transactions, shapes, transact_writes
from hashrange.api.context import Context
from hashrange.api.kinds import ListOf, Member, Struct, Text
from hashrange.api.partiql_statements import PARAMETERS, RETURN_VALUES_ON_FAILURE, STATEMENT
from hashrange.api.plan import Plan, Read
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.core.errors import Invalid
from hashrange.core.limits import CLIENT_REQUEST_TOKEN_CHARS_MAX, STATEMENT_TRANSACTION_MAX
from hashrange.core.partiql.syntax import Select
from hashrange.storage import store
from hashrange.storage.engine import Reader

_ELEMENT = Struct(
    "ParameterizedStatement",
    {
        "Statement": STATEMENT,
        "Parameters": PARAMETERS,
        "ReturnValuesOnConditionCheckFailure": RETURN_VALUES_ON_FAILURE,
    },
)

SHAPE = Shape(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "ClientRequestToken": Text(least=1, most=CLIENT_REQUEST_TOKEN_CHARS_MAX),
        "TransactStatements": Member(
            ListOf(_ELEMENT, least=1, most=STATEMENT_TRANSACTION_MAX), required=True
        ),
    }
)


@operation("ExecuteTransaction", SHAPE)
def execute_transaction(context: Context, request: dict[str, Any]) -> Plan:
    token = transact_writes.token(context, request)
    members = partiql_transactions.members(request["TransactStatements"])
    reading = {isinstance(each.bound.statement, Select) for each in members}
    if len(reading) > 1:
        raise Invalid(
            "ExecuteTransaction API does not support both read and write operations in the same request."
        )
    mode = request.get("ReturnConsumedCapacity", "NONE")
    if True in reading:
        gets = partiql_transactions.gets(context, members)

        def read(reader: Reader) -> bytes:
            return partiql_transactions.read(reader, members, gets, mode)

        return Read(read, [store.row_key(each.table, each.key) for each in gets])
    actions = partiql_transactions.actions(context, members)
    return transact_writes.plan(request, actions, token, partiql_transactions.with_no_responses)
