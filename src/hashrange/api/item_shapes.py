"""Request members that the item operations share."""

from hashrange.api import shapes
from hashrange.api.kinds import VALUE, VALUE_MEMBER, Flag, Kind, ListOf, MapOf, Member, Struct, Text
from hashrange.api.shapes import text_choices

ATTRIBUTES = MapOf(VALUE)
NAMES = MapOf(Text())
ATTRIBUTES_TO_GET = ListOf(Text(), least=1, most=255)

COMPARISON_OPERATOR = text_choices(
    "IN",
    "NULL",
    "BETWEEN",
    "LT",
    "NOT_CONTAINS",
    "EQ",
    "GT",
    "NOT_NULL",
    "NE",
    "LE",
    "BEGINS_WITH",
    "GE",
    "CONTAINS",
)

EXPECTED = MapOf(
    Struct(
        "ExpectedAttributeValue",
        {
            "Exists": Member(Flag()),
            "Value": Member(VALUE_MEMBER),
            "ComparisonOperator": Member(COMPARISON_OPERATOR),
            "AttributeValueList": Member(ListOf(VALUE)),
        },
    )
)

CONDITIONS = MapOf(
    Struct(
        "Condition",
        {
            "ComparisonOperator": Member(COMPARISON_OPERATOR, required=True),
            "AttributeValueList": Member(ListOf(VALUE)),
        },
    )
)

ATTRIBUTE_UPDATES = MapOf(
    Struct(
        "AttributeValueUpdate",
        {
            "Action": Member(text_choices("ADD", "DELETE", "PUT")),
            "Value": Member(VALUE_MEMBER),
        },
    )
)


def single_write(target: str, changes: dict[str, Member | Kind] | None = None) -> dict[str, Member | Kind]:
    """The members of PutItem, UpdateItem and DeleteItem, in the order in which their errors are reported."""
    return {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "ReturnItemCollectionMetrics": shapes.RETURN_ITEM_COLLECTION_METRICS,
        "TableName": Member(shapes.TABLE_NAME, required=True),
        "ReturnValues": shapes.RETURN_VALUES,
        target: Member(ATTRIBUTES, required=True),
        "ConditionalOperator": shapes.CONDITIONAL_OPERATOR,
        "Expected": EXPECTED,
        **(changes or {}),
        "ConditionExpression": Text(),
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": ATTRIBUTES,
        "ReturnValuesOnConditionCheckFailure": shapes.RETURN_VALUES_ON_FAILURE,
    }
