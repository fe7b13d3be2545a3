"""Finding the key that a request is about, for a caller who may do that with it."""

from collections.abc import Mapping
from typing import NamedTuple

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.keys import lookup
from hashrange.api.permissions import key_policies
from hashrange.api.permissions.key_policies import KeyAsked, KmsKeys
from hashrange.api.permissions.targets import spelt
from hashrange.kms import table_key
from hashrange.storage import key_rows
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import KmsKey
from hashrange.storage.setting_rows import Place


class EncryptedTable(NamedTuple):
    """The table that a key is for, which may be another account's than the caller's."""

    name: str
    account_id: str


_VIA = {"kms:grantisforawsresource": "true"}


def find(
    context: Context,
    reader: Reader,
    action: str,
    name: str,
    *,
    encryption_context: Mapping[str, str] | None = None,
) -> KmsKey:
    """The key that a request names, in whichever way."""
    place, now = lookup.place_of(context), context.clock.now()
    try:
        key = lookup.find(reader, place, name, now)
    except ApiError:
        _require_unknown(context, action, place, name)
        raise
    return allowed(context, reader, action, key, name=name, encryption_context=encryption_context)


def find_exact(context: Context, reader: Reader, action: str, name: str) -> KmsKey:
    """The key that a request names by its id or ARN: aliases are not taken here."""
    place, now = lookup.place_of(context), context.clock.now()
    try:
        key = lookup.find_exact(reader, place, name, now)
    except ApiError:
        _require_unknown(context, action, place, name)
        raise
    return allowed(context, reader, action, key)


def allowed(
    context: Context,
    reader: Reader,
    action: str,
    key: KmsKey,
    *,
    name: str = "",
    encryption_context: Mapping[str, str] | None = None,
) -> KmsKey:
    """The key, if the caller may do that with it."""
    if key_policies.is_asked(context):
        place = lookup.place_of(context)
        known = {"kms:calleraccount": context.caller().account_id}
        shown = None
        if lookup.ALIAS in name:
            alias = known["kms:requestalias"] = name[name.index(lookup.ALIAS) :]
            shown = key_rows.alias_arn(place, alias)
        keys = KmsKeys(
            known,
            key=key,
            aliases=[alias.name for alias in key_rows.aliases_of(reader, place, key.id)],
            encryption_context=encryption_context,
        )
        about = KeyAsked(key_rows.key_arn(place, key.id), key, shown=shown)
        key_policies.require(context, f"kms:{action}", about, keys)
    return key


def require_alias(context: Context, action: str, alias: str) -> None:
    """Refuse what the caller may not do with an alias, whose key is asked about besides."""
    arn = key_rows.alias_arn(lookup.place_of(context), alias)
    key_policies.require(context, f"kms:{action}", KeyAsked(arn), KmsKeys())


def require_for_table(context: Context, encrypted: EncryptedTable, about: KeyAsked) -> None:
    """Refuse a key that the caller may not have a table encrypted under: the service asks on the caller's behalf.

    A key of another key service has its policy there, and the caller's own ones decide here.
    """
    if not key_policies.is_asked(context):
        return
    known = {
        "kms:calleraccount": context.caller().account_id,
        "kms:viaservice": f"dynamodb.{context.region}.amazonaws.com",
        **_VIA,
    }
    context_of_table = table_key.encryption_context(*encrypted)
    keys = KmsKeys(known, key=about.key, encryption_context=context_of_table)
    for action in ("kms:DescribeKey", "kms:CreateGrant"):
        key_policies.require(context, action, about, keys)


def require_remote_name(context: Context, name: str) -> None:
    """Refuse to tell what another key service says of a name, if the caller may not ask for it."""
    _require_unknown(context, "DescribeKey", lookup.place_of(context), name)


def _require_unknown(context: Context, action: str, place: Place, name: str) -> None:
    """Nobody who may not ask for a key is told that there is none."""
    arn = spelt(name)
    if not name.startswith("arn:"):
        is_alias = name.startswith(lookup.ALIAS)
        arn = key_rows.alias_arn(place, name) if is_alias else key_rows.key_arn(place, name)
    key_policies.require(context, f"kms:{action}", KeyAsked(arn), KmsKeys())
