"""DisableKeyRotation: leave a key with the material it has."""

from hashrange.api.context import Context
from hashrange.api.keys import use
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import KeyId, Nothing


class DisableKeyRotation(Request, kw_only=True):
    """The request."""

    key_id: KeyId


SHAPE = Shape(DisableKeyRotation)
DisableKeyRotationOutput = Nothing


def disable_key_rotation(context: Context, request: DisableKeyRotation) -> Plan:
    """Its old material is kept."""
    return change_key(
        context,
        request.key_id,
        "DisableKeyRotation",
        lambda _: {"rotation_days": None, "rotates_at": None},
        check=use.refuse_unusable,
    )
