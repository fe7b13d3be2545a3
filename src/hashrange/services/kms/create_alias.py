"""CreateAlias: give a key another name."""

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.keys import lookup, permitted, use
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.services.kms import aliases
from hashrange.services.kms.structures import AliasName, KeyId, Nothing
from hashrange.storage.engine import Transaction
from hashrange.storage.key_rows import ALIASES, Alias, alias_arn, find_key, save_alias


class CreateAlias(Request, kw_only=True):
    """The request."""

    alias_name: AliasName
    target_key_id: KeyId


SHAPE = Shape(CreateAlias)
CreateAliasOutput = Nothing


def create_alias(context: Context, request: CreateAlias) -> Plan:
    """The name must be new."""
    aliases.check(request.alias_name)
    place, now = lookup.place_of(context), context.clock.now()

    def step(tx: Transaction) -> Described:
        permitted.require_alias(context, "CreateAlias", request.alias_name)
        key = permitted.find_exact(context, tx, "CreateAlias", request.target_key_id)
        use.refuse_pending(place, key)
        use.refuse_managed(place, key, "CreateAlias")
        before = ALIASES.find(tx, place, request.alias_name)
        if before is not None and find_key(tx, place, before.key_id, now) is not None:
            arn = alias_arn(place, request.alias_name)
            raise ApiError("AlreadyExistsException", f"An alias with the name {arn} already exists")
        save_alias(tx, place, Alias(name=request.alias_name, key_id=key.id, created_at=now, updated_at=now))
        return Described(Nothing())

    return Write(step)
