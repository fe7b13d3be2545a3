"""PutItem: store one whole item, replacing any item with the same key."""

from typing import Any

from hashrange.api import answers, item_writes, shapes
from hashrange.api.context import Context
from hashrange.api.item_shapes import ATTRIBUTES, EXPECTED, NAMES
from hashrange.api.kinds import Member, Text, Violation
from hashrange.api.parameters import attribute_map
from hashrange.api.plan import Plan, Write
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.core import indexes, key_paths, mutation, primary_key
from hashrange.storage.engine import Transaction


def _narrowed(given: dict[str, Any], found: list[Violation]) -> list[Violation]:
    """An empty table name is reported alone (measured)."""
    return [each for each in found if each[1] == "TableName"] if given.get("TableName") == "" else found


SHAPE = Shape(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "ReturnItemCollectionMetrics": shapes.RETURN_ITEM_COLLECTION_METRICS,
        "TableName": Member(shapes.TABLE_NAME, required=True),
        "ReturnValues": shapes.RETURN_VALUES,
        "Item": Member(ATTRIBUTES, required=True),
        "ConditionalOperator": shapes.CONDITIONAL_OPERATOR,
        "Expected": EXPECTED,
        "ConditionExpression": Text(),
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": ATTRIBUTES,
        "ReturnValuesOnConditionCheckFailure": shapes.RETURN_VALUES_ON_FAILURE,
    },
    prefixed=True,
    narrowed=_narrowed,
)


@operation("PutItem", SHAPE)
def put_item(context: Context, request: dict[str, Any]) -> Plan:
    item_writes.check_parameters(request)
    item = attribute_map(request["Item"])
    wants_old = item_writes.check_return_values(request)
    size = mutation.sized_put(item)
    condition = item_writes.condition(request)
    table = data_table(context, request["TableName"])
    key = primary_key.of_item(table, item)
    if table.indexes:
        indexes.check_index_keys(table, item)
    key_paths.refuse_nested(table, table.indexes, condition)
    command = mutation.Put(key, item, size, condition, wants_old)

    def step(tx: Transaction) -> bytes:
        current, outcome = item_writes.run(tx, table, command, request)
        members = answers.write_members(tx, request, current, outcome, item, key)
        if wants_old and outcome.before is not None:
            members["Attributes"] = outcome.before
        return answers.body(members)

    return Write(step)
