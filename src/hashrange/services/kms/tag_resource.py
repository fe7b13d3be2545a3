"""TagResource: add tags to a key, or give them new values."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.kms import tags
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import KeyId, Nothing, Tag


class TagResource(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    tags: list[Tag]


SHAPE = Shape(TagResource)
TagResourceOutput = Nothing


def tag_resource(context: Context, request: TagResource) -> Plan:
    """All tags are taken, or none."""
    return change_key(
        context, request.key_id, "TagResource", lambda key: {"tags": tags.merged(key.tags, request.tags)}
    )
