"""DeleteAccessKey: delete an access key; sessions that were begun with it end."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import access_keys
from hashrange.services.iam.entities import changed, place
from hashrange.services.iam.structures import AccessKeyId, Name
from hashrange.storage import last_uses
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import ACCESS_KEYS


class DeleteAccessKey(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None
    access_key_id: AccessKeyId


SHAPE = Shape(DeleteAccessKey)


def delete_access_key(context: Context, request: DeleteAccessKey) -> Plan:
    """Delete an access key; sessions that were begun with it end."""

    def step(tx: Transaction) -> None:
        owner = access_keys.owner(tx, context, request.user_name)
        key = access_keys.own_key(tx, context, owner, request.access_key_id)
        ACCESS_KEYS.remove(tx, place(context), key.id)
        last_uses.forget(tx, place(context), key.id)

    return changed(context, step)
