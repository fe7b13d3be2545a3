"""ExecuteStatement: run one PartiQL statement."""

from typing import Any

import orjson

from hashrange.api import answers, partiql_reads, partiql_tokens, partiql_writes, shapes
from hashrange.api.context import Context
from hashrange.api.kinds import Flag, Text, Whole
from hashrange.api.partiql_statements import PARAMETERS, RETURN_VALUES_ON_FAILURE, STATEMENT, bound
from hashrange.api.partiql_writes import Draft
from hashrange.api.plan import Plan, Read, Write
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.core.limits import NEXT_TOKEN_CHARS_MAX
from hashrange.core.partiql import Bound
from hashrange.core.partiql.syntax import Select
from hashrange.storage import store
from hashrange.storage.engine import Reader, Transaction

SHAPE = Shape(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "Statement": STATEMENT,
        "Parameters": PARAMETERS,
        "NextToken": Text(least=1, most=NEXT_TOKEN_CHARS_MAX),
        "Limit": Whole(least=1),
        "ReturnValuesOnConditionCheckFailure": RETURN_VALUES_ON_FAILURE,
        "ConsistentRead": Flag(),
    }
)


@operation("ExecuteStatement", SHAPE)
def execute_statement(context: Context, request: dict[str, Any]) -> Plan:
    token_binding = partiql_tokens.binding(request)
    statement = bound(request)
    if isinstance(statement.statement, Select):
        return _select(context, request, statement, statement.statement, token_binding)
    return _write(context, request, partiql_writes.draft(statement))


def _select(
    context: Context, request: dict[str, Any], bound: Bound, statement: Select, token_binding: bytes
) -> Plan:
    query = partiql_reads.plan(context, bound, statement, consistent=request.get("ConsistentRead", False))
    token = request.get("NextToken")
    resume = None if token is None else partiql_tokens.decode(token, token_binding)
    mode = request.get("ReturnConsumedCapacity", "NONE")

    def step(reader: Reader) -> bytes:
        found = partiql_reads.read(reader, query, request.get("Limit"), resume)
        members = [b'"Items":[' + b",".join(found.rows) + b"]"]
        if found.resume is not None:
            token = partiql_tokens.encode(found.resume, token_binding)
            members.append(b'"NextToken":' + orjson.dumps(token))
        if found.last is not None:
            members.append(b'"LastEvaluatedKey":' + orjson.dumps(found.last))
        if mode != "NONE":
            members.append(b'"ConsumedCapacity":' + orjson.dumps(found.consumed.report(mode)))
        return answers.pasted(members)

    return Read(step, eventual=not request.get("ConsistentRead", False))


def _write(context: Context, request: dict[str, Any], draft: Draft) -> Plan:
    table = data_table(context, draft.name)
    _, command = partiql_writes.command(draft, table)
    wants_item = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    mode = request.get("ReturnConsumedCapacity", "NONE")

    def step(tx: Transaction) -> bytes:
        current, outcome = partiql_writes.apply(tx, table, command, wants_item=wants_item)
        returned = partiql_writes.returning(draft, outcome)
        members: dict[str, Any] = {"Items": [] if returned is None else [returned]}
        if mode != "NONE":
            members["ConsumedCapacity"] = answers.written(current, draft.name, outcome).report(mode)
        return answers.body(members)

    return Write(step, reads=lambda: store.reads(table, command.key))
