"""ListTagsOfResource: a table's tags, all on one page."""

from typing import Any

from hashrange.api import answers
from hashrange.api.context import Context
from hashrange.api.kinds import Text
from hashrange.api.plan import Answer, Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.tables import tags

SHAPE = Shape({"ResourceArn": Text(), "NextToken": Text()})


@operation("ListTagsOfResource", SHAPE)
def list_tags_of_resource(context: Context, request: dict[str, Any]) -> Plan:
    """Fifty tags fit one page; the service ignores a token it did not give out."""
    arn = request.get("ResourceArn")
    table = tags.tagged_table(context, str(arn), tags.table_name(context, arn))
    found = [{"Key": key, "Value": value} for key, value in table.tags.items()]
    return Answer(answers.body({"Tags": found}))
