"""ListTagsForResource: the tags of a scalable target, all on one page."""

from msgspec import field

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.scaling import resources, targets
from hashrange.services.autoscaling.structures import TargetArn
from hashrange.storage.engine import Reader


class ListTagsForResource(Request, kw_only=True):
    """The request."""

    resource_arn: TargetArn = field(name="ResourceARN")


SHAPE = Shape(ListTagsForResource)


class ListTagsForResourceOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    tags: dict[str, str]


def list_tags_for_resource(context: Context, request: ListTagsForResource) -> Plan:
    """Fifty tags fit one page."""
    place = resources.place_of(context)

    def step(reader: Reader) -> Described:
        target = targets.by_arn(reader, place, request.resource_arn)
        return Described(ListTagsForResourceOutput(tags=target.tags))

    return Read(step)
