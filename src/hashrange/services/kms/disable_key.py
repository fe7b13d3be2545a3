"""DisableKey: have a key refuse to be used until it is enabled again."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import KeyId, Nothing


class DisableKey(Request, kw_only=True):
    """The request."""

    key_id: KeyId


SHAPE = Shape(DisableKey)
DisableKeyOutput = Nothing


def disable_key(context: Context, request: DisableKey) -> Plan:
    """What is encrypted under it stays as it is."""
    now = context.clock.now()
    return change_key(
        context,
        request.key_id,
        "DisableKey",
        lambda key: {"enabled": False, "unusable_since": key.unusable_since or now},
    )
