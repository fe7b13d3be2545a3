"""TagResource: give an alarm tags; those that it has by the same keys are replaced."""

import msgspec
from msgspec import field

from hashrange.api.cloudwatch import alarms
from hashrange.api.cloudwatch.structures import Tag
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.core.limits import ALARM_TAGS_MAX
from hashrange.services.cloudwatch import errors, tags
from hashrange.services.cloudwatch.tags import ResourceArn
from hashrange.storage.engine import Transaction


class TagResource(Request, kw_only=True):
    """The request."""

    resource_arn: ResourceArn = field(name="ResourceARN")
    tags: list[Tag]


SHAPE = Shape(TagResource)


class TagResourceOutput(Response, kw_only=True):
    """The answer, which has no members."""


def tag_resource(context: Context, request: TagResource) -> Plan:
    """Fifty tags at most."""

    def step(tx: Transaction) -> Described:
        alarm = tags.tagged(tx, context, request.resource_arn)
        after = alarm.tags | {tag.key: tag.value for tag in request.tags}
        if len(after) > ALARM_TAGS_MAX:
            raise errors.limit_exceeded(f"An alarm has at most {ALARM_TAGS_MAX} tags.")
        alarms.save(tx, alarms.place_of(context), msgspec.structs.replace(alarm, tags=after))
        return Described(TagResourceOutput())

    return Write(step, conflict=errors.conflict)
