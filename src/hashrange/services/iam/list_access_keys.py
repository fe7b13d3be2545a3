"""ListAccessKeys: the access keys of a user, or of whoever asks."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import access_keys
from hashrange.services.iam.entities import place, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import AccessKeyMetadata, Marker, MaxItems, Name
from hashrange.services.iam.views import key_view
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import keys_of_user


class ListAccessKeys(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListAccessKeys)


class ListAccessKeysOutput(Response, kw_only=True):
    """The answer."""

    access_key_metadata: list[AccessKeyMetadata]
    is_truncated: bool | None = None
    marker: str | None = None


def list_access_keys(context: Context, request: ListAccessKeys) -> Plan:
    """The access keys of a user, or of whoever asks."""

    def step(reader: Reader) -> ListAccessKeysOutput:
        owner = access_keys.owner(reader, context, request.user_name)
        keys = keys_of_user(reader, place(context), owner.row_id)
        rows = ((key.id, key_view(key, owner.name)) for key in keys)
        listed, more, marker = page(rows, marker=request.marker, max_items=request.max_items)
        return ListAccessKeysOutput(access_key_metadata=listed, is_truncated=more, marker=marker)

    return shown(step)
