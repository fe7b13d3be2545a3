"""UntagResource: take tags from an alarm."""

from typing import Annotated

import msgspec
from msgspec import Meta, field

from hashrange.api.cloudwatch import alarms
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.cloudwatch import errors, tags
from hashrange.services.cloudwatch.tags import ResourceArn
from hashrange.storage.engine import Transaction


class UntagResource(Request, kw_only=True):
    """The request."""

    resource_arn: ResourceArn = field(name="ResourceARN")
    tag_keys: list[Annotated[str, Meta(min_length=1, max_length=128)]]


SHAPE = Shape(UntagResource)


class UntagResourceOutput(Response, kw_only=True):
    """The answer, which has no members."""


def untag_resource(context: Context, request: UntagResource) -> Plan:
    """Keys that the alarm does not have are passed over."""

    def step(tx: Transaction) -> Described:
        alarm = tags.tagged(tx, context, request.resource_arn)
        gone = set(request.tag_keys)
        after = {key: value for key, value in alarm.tags.items() if key not in gone}
        alarms.save(tx, alarms.place_of(context), msgspec.structs.replace(alarm, tags=after))
        return Described(UntagResourceOutput())

    return Write(step, conflict=errors.conflict)
