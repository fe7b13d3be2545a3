"""RotateKeyOnDemand: give a key new material now."""

from hashrange.api.context import Context
from hashrange.api.errors import limit_exceeded
from hashrange.api.keys import lookup, permitted, use
from hashrange.api.keys.new_keys import rotated
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.core.limits import KEY_ROTATIONS_ON_DEMAND_MAX
from hashrange.services.kms.structures import KeyId
from hashrange.storage import table_keys
from hashrange.storage.engine import Transaction
from hashrange.storage.key_rows import key_arn, save_key


class RotateKeyOnDemand(Request, kw_only=True):
    """The request."""

    key_id: KeyId


SHAPE = Shape(RotateKeyOnDemand)


class RotateKeyOnDemandOutput(Response, kw_only=True):
    """The answer."""

    key_id: str


def rotate_key_on_demand(context: Context, request: RotateKeyOnDemand) -> Plan:
    """Rotation by itself goes on, a whole period from now."""
    vault, place, now = use.vault_of(context), lookup.place_of(context), context.clock.now()

    def step(tx: Transaction) -> Described:
        key = permitted.find_exact(context, tx, "RotateKeyOnDemand", request.key_id)
        use.refuse_managed(place, key, "RotateKeyOnDemand")
        use.refuse_unusable(place, key)
        if sum(material.cause == "ON_DEMAND" for material in key.materials) >= KEY_ROTATIONS_ON_DEMAND_MAX:
            raise limit_exceeded(f"A key is rotated on demand at most {KEY_ROTATIONS_ON_DEMAND_MAX} times")
        save_key(tx, place, rotated(vault, place, key, now, "ON_DEMAND"))
        table_keys.wrap_again(tx, key_arn(place, key.id))
        return Described(RotateKeyOnDemandOutput(key_id=key_arn(place, key.id)))

    return Write(step)
