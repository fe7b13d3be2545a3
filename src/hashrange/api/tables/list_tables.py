"""ListTables: the names of the account's tables in this region, in order, by pages."""

from typing import Any

from hashrange.api import answers
from hashrange.api.context import Context
from hashrange.api.kinds import Text, Whole
from hashrange.api.plan import Answer, Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import NAME_PATTERN, Shape
from hashrange.core.limits import LIST_TABLES_MAX, NAME_CHARS_MAX, NAME_CHARS_MIN

SHAPE = Shape(
    {
        "Limit": Whole(least=1, most=LIST_TABLES_MAX),
        "ExclusiveStartTableName": Text(least=NAME_CHARS_MIN, most=NAME_CHARS_MAX, pattern=NAME_PATTERN),
    }
)


@operation("ListTables", SHAPE)
def list_tables(context: Context, request: dict[str, Any]) -> Plan:
    """Take one name more than asked for, to know whether there is a next page."""
    limit = request.get("Limit", LIST_TABLES_MAX)
    names = context.catalogue.names(
        context.account_id,
        context.region,
        after=request.get("ExclusiveStartTableName"),
        limit=limit + 1,
        now=context.clock.now(),
    )
    body: dict[str, Any] = {"TableNames": names[:limit]}
    if len(names) > limit:
        body["LastEvaluatedTableName"] = names[limit - 1]
    return Answer(answers.body(body))
