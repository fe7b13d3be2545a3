"""EnableKey: let a key be used again."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import KeyId, Nothing


class EnableKey(Request, kw_only=True):
    """The request."""

    key_id: KeyId


SHAPE = Shape(EnableKey)
EnableKeyOutput = Nothing


def enable_key(context: Context, request: EnableKey) -> Plan:
    """One that is pending deletion has to be saved first."""
    return change_key(
        context, request.key_id, "EnableKey", lambda _: {"enabled": True, "unusable_since": None}
    )
