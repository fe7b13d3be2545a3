"""DeleteAlias: take a name off a key, which stays."""

from hashrange.api.context import Context
from hashrange.api.keys import lookup, permitted
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.services.kms import aliases
from hashrange.services.kms.structures import AliasName, Nothing
from hashrange.storage.engine import Transaction
from hashrange.storage.key_rows import ALIASES, find_key


class DeleteAlias(Request, kw_only=True):
    """The request."""

    alias_name: AliasName


SHAPE = Shape(DeleteAlias)
DeleteAliasOutput = Nothing


def delete_alias(context: Context, request: DeleteAlias) -> Plan:
    """Nothing else changes."""
    aliases.check(request.alias_name)
    place, now = lookup.place_of(context), context.clock.now()

    def step(tx: Transaction) -> Described:
        permitted.require_alias(context, "DeleteAlias", request.alias_name)
        alias = aliases.find(tx, place, request.alias_name)
        key = find_key(tx, place, alias.key_id, now)
        if key is not None:
            permitted.allowed(context, tx, "DeleteAlias", key, name=request.alias_name)
        ALIASES.remove(tx, place, request.alias_name)
        return Described(Nothing())

    return Write(step)
