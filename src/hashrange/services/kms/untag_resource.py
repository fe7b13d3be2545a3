"""UntagResource: take tags off a key."""

from typing import Annotated, Any

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import KeyId, Nothing
from hashrange.storage.key_rows import KmsKey


class UntagResource(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    tag_keys: list[Annotated[str, Meta(min_length=1, max_length=128)]]


SHAPE = Shape(UntagResource)
UntagResourceOutput = Nothing


def untag_resource(context: Context, request: UntagResource) -> Plan:
    """Tags that it does not have are no mistake."""
    unwanted = frozenset(request.tag_keys)

    def edit(key: KmsKey) -> dict[str, Any]:
        return {"tags": {name: value for name, value in key.tags.items() if name not in unwanted}}

    return change_key(context, request.key_id, "UntagResource", edit)
