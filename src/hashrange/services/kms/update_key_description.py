"""UpdateKeyDescription: describe a key anew."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import Description, KeyId, Nothing


class UpdateKeyDescription(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    description: Description


SHAPE = Shape(UpdateKeyDescription)
UpdateKeyDescriptionOutput = Nothing


def update_key_description(context: Context, request: UpdateKeyDescription) -> Plan:
    """The description is for people only."""
    return change_key(
        context, request.key_id, "UpdateKeyDescription", lambda _: {"description": request.description}
    )
