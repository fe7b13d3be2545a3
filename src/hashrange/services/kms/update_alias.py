"""UpdateAlias: have an alias name another key."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.keys import lookup, permitted, use
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.services.kms import aliases
from hashrange.services.kms.structures import AliasName, KeyId, Nothing
from hashrange.storage.engine import Transaction
from hashrange.storage.key_rows import find_key, save_alias


class UpdateAlias(Request, kw_only=True):
    """The request."""

    alias_name: AliasName
    target_key_id: KeyId


SHAPE = Shape(UpdateAlias)
UpdateAliasOutput = Nothing


def update_alias(context: Context, request: UpdateAlias) -> Plan:
    """Tables that were given the alias keep the key that it named then."""
    aliases.check(request.alias_name)
    place, now = lookup.place_of(context), context.clock.now()

    def step(tx: Transaction) -> Described:
        permitted.require_alias(context, "UpdateAlias", request.alias_name)
        alias = aliases.find(tx, place, request.alias_name)
        former = find_key(tx, place, alias.key_id, now)
        if former is not None:
            permitted.allowed(context, tx, "UpdateAlias", former, name=request.alias_name)
        key = permitted.find_exact(context, tx, "UpdateAlias", request.target_key_id)
        use.refuse_pending(place, key)
        use.refuse_managed(place, key, "UpdateAlias")
        save_alias(tx, place, msgspec.structs.replace(alias, key_id=key.id, updated_at=now))
        return Described(Nothing())

    return Write(step)
