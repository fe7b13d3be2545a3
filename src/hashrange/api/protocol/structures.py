"""Structures of the service's model as msgspec structures: decoded from JSON at once where a request is well-formed.

A member that is null counts as absent, as it does for the service, so absent members are `None`. Constraints that are
cheap (types, enumerations, bounds, lengths) are part of the type and make decoding fail; patterns are `Rule`s, which
only the slow path reads: a name that breaks its pattern cannot be found, so the request fails anyway.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from hashrange.api.protocol import kinds
from hashrange.core.limits import NAME_CHARS_MAX, NAME_CHARS_MIN

_ABBREVIATIONS = {"Sse": "SSE", "Kms": "KMS", "Ok": "OK"}


def aws_name(field: str) -> str:
    """The service's name of a member: `table_name` is TableName, `sse_type` is SSEType."""
    words = (word.capitalize() for word in field.split("_"))
    return "".join(_ABBREVIATIONS.get(word, word) for word in words)


class Structure(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False, rename=aws_name):
    """A structure of the service's model. Fields stand in the order in which the service reports what is wrong."""

    def __bool__(self) -> bool:
        """Whether any member was sent: the service often takes an empty structure for an absent one."""
        return any(getattr(self, field) is not None for field in self.__struct_fields__)


class Request(Structure, kw_only=True):
    """The input of an operation."""


class Response(msgspec.Struct, kw_only=True, omit_defaults=True, rename=aws_name):
    """A structure of an operation's output; members that are None are left out."""


NAME_PATTERN = r"[a-zA-Z0-9_.-]+"

if TYPE_CHECKING:
    AttributeValue = dict[str, Any]
else:
    # Null is let through here and refused by core/values, so that the names in a map are looked at before it.
    AttributeValue = Annotated[dict[str, Any] | None, kinds.VALUE]
AttributeMap = dict[str, AttributeValue]
AttributeNames = dict[str, str]  # ExpressionAttributeNames
Limit = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Long = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1), kinds.Whole(java="Long")]

# The table of a data operation: looked up, so an impossible name need not be refused while decoding.
TableName = Annotated[
    str, kinds.TableName(least=1, most=NAME_CHARS_MAX, pattern=kinds.compiled(NAME_PATTERN))
]
# The same where a batch has it as the key of a map.
TableNameKey = Annotated[
    str, kinds.TableName(least=NAME_CHARS_MIN, most=NAME_CHARS_MAX, pattern=kinds.compiled(NAME_PATTERN))
]
IndexName = Annotated[str, kinds.Text(least=3, most=NAME_CHARS_MAX, pattern=kinds.compiled(NAME_PATTERN))]
# The table of a control operation; likewise.
TableNameOrArn = Annotated[
    str, kinds.NameOrArn(least=NAME_CHARS_MIN, most=NAME_CHARS_MAX, pattern=kinds.compiled(NAME_PATTERN))
]
# A name for something new: nothing but the pattern keeps an impossible one out.
NewName = Annotated[
    str,
    Meta(min_length=NAME_CHARS_MIN, max_length=NAME_CHARS_MAX, pattern=rf"\A{NAME_PATTERN}\Z"),
    kinds.Name(least=NAME_CHARS_MIN, most=NAME_CHARS_MAX, pattern=kinds.compiled(NAME_PATTERN)),
]

# Enumerations list their values in the order in which the service's errors do.
Select = Literal["SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"]
ReturnConsumedCapacity = Literal["INDEXES", "TOTAL", "NONE"]
ReturnItemCollectionMetrics = Literal["SIZE", "NONE"]
ReturnValues = Literal["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"]
ReturnValuesOnConditionCheckFailure = Literal["ALL_OLD", "NONE"]
ConditionalOperator = Literal["OR", "AND"]
# The newer layer leaves these to the handlers.
UncheckedSelect = Annotated[str, kinds.Text(choices=get_args(Select))]
UncheckedConditionalOperator = Annotated[str, kinds.Text(choices=get_args(ConditionalOperator))]
ComparisonOperator = Literal[
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
]
UncheckedComparisonOperator = Annotated[str, kinds.Text(choices=get_args(ComparisonOperator))]
