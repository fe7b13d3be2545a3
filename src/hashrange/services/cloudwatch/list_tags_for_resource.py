"""ListTagsForResource: the tags of an alarm."""

from msgspec import field

from hashrange.api.cloudwatch.structures import Tag
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.cloudwatch import tags
from hashrange.services.cloudwatch.tags import ResourceArn
from hashrange.storage.engine import Reader


class ListTagsForResource(Request, kw_only=True):
    """The request."""

    resource_arn: ResourceArn = field(name="ResourceARN")


SHAPE = Shape(ListTagsForResource)


class ListTagsForResourceOutput(Response, kw_only=True):
    """The answer."""

    tags: list[Tag]


def list_tags_for_resource(context: Context, request: ListTagsForResource) -> Plan:
    """All of them, on one page."""

    def step(reader: Reader) -> Described:
        alarm = tags.tagged(reader, context, request.resource_arn)
        shown = [Tag(key=key, value=value) for key, value in alarm.tags.items()]
        return Described(ListTagsForResourceOutput(tags=shown))

    return Read(step)
