"""EnableKeyRotation: have a key get new material again and again."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.keys import use
from hashrange.api.keys.new_keys import next_rotation
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import KeyId, Nothing

_DAYS_DEFAULT = 365


class EnableKeyRotation(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    rotation_period_in_days: Annotated[int, Meta(ge=90, le=2560)] | None = None


SHAPE = Shape(EnableKeyRotation)
EnableKeyRotationOutput = Nothing


def enable_key_rotation(context: Context, request: EnableKeyRotation) -> Plan:
    """Old material is kept: what was encrypted with it can be decrypted."""
    days, now = request.rotation_period_in_days or _DAYS_DEFAULT, context.clock.now()
    return change_key(
        context,
        request.key_id,
        "EnableKeyRotation",
        lambda _: {"rotation_days": days, "rotates_at": next_rotation(days, now)},
        check=use.refuse_unusable,
    )
