"""Under which key a table is encrypted: a request names one in some way, the table's record has its ARN."""

from typing import NamedTuple

import msgspec

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.keys import lookup, new_keys, permitted, remote, use, wording
from hashrange.api.keys.remote import told_as_denied
from hashrange.auth import arns
from hashrange.core.schema import Table, changed
from hashrange.kms.interface import KeyVault
from hashrange.storage import key_rows, root_key_record
from hashrange.storage.engine import Transaction
from hashrange.storage.key_rows import ALIASES, MANAGED_ALIAS, Alias
from hashrange.storage.setting_rows import Place

MANAGED = MANAGED_ALIAS  # for tables that ask for a key and name none
_DESCRIPTION = "Default key that protects my DynamoDB data when no other key is defined"


class Keeper(msgspec.Struct, frozen=True):
    """What is needed to find a key inside a transaction, or to make the managed one."""

    context: Context
    table_name: str
    vault: KeyVault | None  # None: there is no root key, or nobody asks for the managed key


def keeper(context: Context, name: str | None, table_name: str) -> Keeper:
    """Who finds the key of this name for a table."""
    place = lookup.place_of(context)
    vault = None
    if name is not None and _is_managed(place, name):
        try:
            vault = use.vault_of(context)
        except ApiError:
            # Servers on one database have no root key that was not named. Nothing is encrypted then, whatever is asked.
            vault = None
    return Keeper(context, table_name, vault)


class ChosenKey(NamedTuple):
    """The key of a table."""

    arn: str | None  # None: the service's own
    ciphertext: bytes = b""  # of the table's own key, if another key service has wrapped it


def with_key(tx: Transaction, finder: Keeper, table: Table) -> Table:
    """The table with the ARN of the key that it names; refuses keys that cannot be used."""
    if table.sse_key is None:
        return table
    key = chosen_key(tx, finder, table.sse_key)
    return changed(table, sse_key=key.arn, sse_table_key=key.ciphertext)


def chosen_key(tx: Transaction, finder: Keeper, name: str) -> ChosenKey:
    """A key that can be used, in whichever way it is named."""
    context = finder.context
    if _is_managed(lookup.place_of(context), name):
        return ChosenKey(_managed(tx, finder))
    if context.settings.kms_endpoint is not None:
        sealed = remote.table_key(context, finder.table_name, name)
        return ChosenKey(sealed.key_arn, sealed.ciphertext)
    return ChosenKey(_own_key_arn(tx, finder, name))


def _own_key_arn(tx: Transaction, finder: Keeper, name: str) -> str:
    """The ARN of a key of this server's key service."""
    context = finder.context
    place = lookup.place_of(context)
    arn = arns.parsed(name) if name.startswith("arn:") else None
    if arn is not None and arn.region == place.region and arn.account_id != place.account_id:
        raise ApiError("AccessDeniedException", wording.foreign(context.caller().arn))
    try:
        key = lookup.find(tx, place, name, context.clock.now())
    except ApiError as error:
        raise errors.validation(wording.missing(str(error.message))) from None
    found = key_rows.key_arn(place, key.id)
    with told_as_denied():
        permitted.require_for_table(context, finder.table_name, found, key)
    state = key_rows.state_of(key)
    if state is not None:
        raise errors.validation(wording.unusable(found, state))
    return found


def _is_managed(place: Place, name: str) -> bool:
    return name in (MANAGED, key_rows.alias_arn(place, MANAGED), key_rows.managed_arn(place))


def _managed(tx: Transaction, finder: Keeper) -> str:
    """The managed key, which is made when somebody first asks for it."""
    place, vault, now = lookup.place_of(finder.context), finder.vault, finder.context.clock.now()
    arn = key_rows.managed_arn(place)
    if vault is not None and ALIASES.find(tx, place, MANAGED) is None:
        key_id = arn.rpartition("/")[2]
        key = new_keys.new_key(vault, place, key_id, now, description=_DESCRIPTION, manager="AWS")
        root_key_record.claim(tx, vault.check_value)
        key_rows.save_key(tx, place, key)
        alias = Alias(name=MANAGED, key_id=key_id, created_at=now, updated_at=now)
        key_rows.save_alias(tx, place, alias)
    return arn
