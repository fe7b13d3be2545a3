"""TagResource: add tags to a scalable target, or give them new values."""

import msgspec
from msgspec import field

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.api.scaling import resources, targets
from hashrange.services.autoscaling import tags
from hashrange.services.autoscaling.structures import Nothing, TargetArn
from hashrange.storage import scaling_rows
from hashrange.storage.engine import Transaction


class TagResource(Request, kw_only=True):
    """The request."""

    resource_arn: TargetArn = field(name="ResourceARN")
    tags: dict[str, str]


SHAPE = Shape(TagResource)
TagResourceOutput = Nothing


def tag_resource(context: Context, request: TagResource) -> Plan:
    """All tags are taken, or none."""
    tags.check(request.tags)
    place = resources.place_of(context)

    def step(tx: Transaction) -> Described:
        target = targets.by_arn(tx, place, request.resource_arn)
        after = tags.merged(target.tags, request.tags, request.resource_arn)
        scaling_rows.save_target(tx, place, msgspec.structs.replace(target, tags=after))
        return Described(Nothing())

    return Write(step)
