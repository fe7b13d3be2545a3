"""UntagResource: take tags off a scalable target."""

from typing import Annotated

import msgspec
from msgspec import Meta, field

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.api.scaling import resources, targets
from hashrange.services.autoscaling.structures import Nothing, TargetArn
from hashrange.storage import scaling_rows
from hashrange.storage.engine import Transaction


class UntagResource(Request, kw_only=True):
    """The request."""

    resource_arn: TargetArn = field(name="ResourceARN")
    tag_keys: Annotated[list[str], Meta(max_length=200)]


SHAPE = Shape(UntagResource)
UntagResourceOutput = Nothing


def untag_resource(context: Context, request: UntagResource) -> Plan:
    """Keys that the target does not have are no error."""
    place = resources.place_of(context)
    keys = frozenset(request.tag_keys)

    def step(tx: Transaction) -> Described:
        target = targets.by_arn(tx, place, request.resource_arn)
        after = {key: value for key, value in target.tags.items() if key not in keys}
        scaling_rows.save_target(tx, place, msgspec.structs.replace(target, tags=after))
        return Described(Nothing())

    return Write(step)
