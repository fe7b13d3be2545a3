"""BatchExecuteStatement: up to 25 PartiQL statements, each succeeding or failing by itself."""

from typing import Any

from hashrange.api import shapes
from hashrange.api.context import Context
from hashrange.api.kinds import ListOf, Member, Struct
from hashrange.api.partiql_batches import Batch
from hashrange.api.partiql_statements import (
    CONSISTENT_READ,
    PARAMETERS,
    RETURN_VALUES_ON_FAILURE,
    STATEMENT,
)
from hashrange.api.plan import Plan, Read, Write
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.core.limits import STATEMENT_BATCH_MAX

_ELEMENT = Struct(
    "BatchStatementRequest",
    {
        "Statement": STATEMENT,
        "Parameters": PARAMETERS,
        "ConsistentRead": CONSISTENT_READ,
        # Taken and without effect, as on the service.
        "ReturnValuesOnConditionCheckFailure": RETURN_VALUES_ON_FAILURE,
    },
)

SHAPE = Shape(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "Statements": Member(ListOf(_ELEMENT, least=1, most=STATEMENT_BATCH_MAX), required=True),
    }
)


@operation("BatchExecuteStatement", SHAPE)
def batch_execute_statement(context: Context, request: dict[str, Any]) -> Plan:
    batch = Batch(context, request["Statements"])
    mode = request.get("ReturnConsumedCapacity", "NONE")
    if batch.writes:
        return Write(lambda tx: batch.write(tx, mode))
    return Read(lambda reader: batch.read(reader, mode))
