"""GetKeyRotationStatus: whether and when a key gets new material."""

from hashrange.api.context import Context
from hashrange.api.keys import lookup, permitted
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.tables.description import timestamp
from hashrange.services.kms.structures import KeyId
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import key_arn


class GetKeyRotationStatus(Request, kw_only=True):
    """The request."""

    key_id: KeyId


SHAPE = Shape(GetKeyRotationStatus)


class GetKeyRotationStatusOutput(Response, kw_only=True):
    """The answer."""

    key_rotation_enabled: bool
    key_id: str
    rotation_period_in_days: int | None = None
    next_rotation_date: float | None = None


def get_key_rotation_status(context: Context, request: GetKeyRotationStatus) -> Plan:
    """Whatever its state is."""
    place = lookup.place_of(context)

    def step(reader: Reader) -> Described:
        key = permitted.find_exact(context, reader, "GetKeyRotationStatus", request.key_id)
        return Described(
            GetKeyRotationStatusOutput(
                key_rotation_enabled=key.rotation_days is not None,
                key_id=key_arn(place, key.id),
                rotation_period_in_days=key.rotation_days,
                next_rotation_date=None if key.rotates_at is None else timestamp(key.rotates_at),
            )
        )

    return Read(step)
