"""Request members that the item operations share."""

from hashrange.api.kinds import VALUE, VALUE_MEMBER, Flag, ListOf, MapOf, Member, Struct, Text
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
