"""ListResourceTags: the tags of a key."""

from hashrange.api.context import Context
from hashrange.api.keys import permitted
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.kms import pages
from hashrange.services.kms.structures import KeyId, Marker, PageLimit, TagDescription
from hashrange.storage.engine import Reader


class ListResourceTags(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    limit: PageLimit | None = None
    marker: Marker | None = None


SHAPE = Shape(ListResourceTags)


class ListResourceTagsOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    tags: list[TagDescription]
    truncated: bool


def list_resource_tags(context: Context, request: ListResourceTags) -> Plan:
    """Fifty tags fit one page, whatever the limit is: it is no promise."""
    pages.start_of(request.marker)

    def step(reader: Reader) -> Described:
        key = permitted.find_exact(context, reader, "ListResourceTags", request.key_id)
        tags = [TagDescription(tag_key=name, tag_value=value) for name, value in sorted(key.tags.items())]
        return Described(ListResourceTagsOutput(tags=tags, truncated=False))

    return Read(step)
