"""Under which key a table is encrypted: a request names one in some way, the table's record has its ARN."""

from typing import NamedTuple

import msgspec

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.keys import lookup, new_keys, permitted, remote, use, wording
from hashrange.api.keys.permitted import EncryptedTable
from hashrange.api.keys.remote import told_as_denied
from hashrange.api.permissions import key_policies
from hashrange.api.permissions.denials import AccessDenied
from hashrange.api.permissions.key_policies import KeyAsked
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
    table: EncryptedTable
    vault: KeyVault | None  # None: there is no root key, or nobody asks for the managed key

    @property
    def place(self) -> Place:
        """Where the keys of the table's account are: names of keys are names there, whoever asks."""
        return Place(self.table.account_id, self.context.region)


def keeper(context: Context, name: str | None, table_name: str, account_id: str | None = None) -> Keeper:
    """Who finds the key of this name for a table, of the caller's account unless another is given."""
    table = EncryptedTable(table_name, account_id or context.account_id)
    finder = Keeper(context, table, None)
    if name is None or not _is_managed(finder.place, name):
        return finder
    try:
        return Keeper(context, table, use.vault_of(context))
    except ApiError:
        # Servers on one database have no root key that was not named. Nothing is encrypted then, whatever is asked.
        return finder


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
    if _is_managed(finder.place, name):
        return ChosenKey(_managed(tx, finder))
    if finder.context.settings.kms_endpoint is not None:
        sealed = remote.table_key(finder.context, finder.table, name)
        return ChosenKey(sealed.key_arn, sealed.ciphertext)
    return ChosenKey(_own_key_arn(tx, finder, name))


def _own_key_arn(tx: Transaction, finder: Keeper, name: str) -> str:
    """The ARN of a key of this server's key service."""
    context, place = finder.context, _place_of_key(finder, name)
    is_foreign = place.account_id != context.account_id
    try:
        key = lookup.find(tx, place, name, context.clock.now())
    except ApiError as error:
        if is_foreign:
            raise _refused(context) from None  # nobody is told which keys another account has
        raise errors.validation(wording.missing(str(error.message))) from None
    found = key_rows.key_arn(place, key.id)
    shown = key_rows.alias_arn(place, name[name.index(lookup.ALIAS) :]) if lookup.ALIAS in name else None
    try:
        with told_as_denied():
            about = KeyAsked(found, key, owner=place.account_id, shown=shown)
            permitted.require_for_table(context, finder.table, about)
    except AccessDenied as denied:
        if is_foreign:
            denied.message = _refused(context).message
        raise
    state = key_rows.state_of(key)
    if state is not None:
        raise errors.validation(wording.unusable(found, state))
    return found


def _place_of_key(finder: Keeper, name: str) -> Place:
    """Where a key is that a request names.

    Only those of the table's account choose a key of another one, which then has to grant that. Otherwise somebody who
    may update a table of another account could put it under a key of their own, and take it away.
    """
    context, place = finder.context, finder.place
    arn = arns.parsed(name) if name.startswith("arn:") else None
    if arn is None or arn.region != place.region or arn.account_id == place.account_id:
        owner = place
    else:
        owner = Place(arn.account_id, place.region)
    is_own_table = context.account_id == place.account_id
    if owner.account_id != context.account_id and not key_policies.is_asked(context):
        raise _refused(context)  # there are no permissions that could allow it
    if owner != place and not is_own_table:
        raise _refused(context)
    return owner


def _refused(context: Context) -> ApiError:
    return ApiError("AccessDeniedException", wording.foreign(context.caller().arn))


def _is_managed(place: Place, name: str) -> bool:
    return name in (MANAGED, key_rows.alias_arn(place, MANAGED), key_rows.managed_arn(place))


def _managed(tx: Transaction, finder: Keeper) -> str:
    """The managed key, which is made when somebody first asks for it."""
    place, vault, now = finder.place, finder.vault, finder.context.clock.now()
    arn = key_rows.managed_arn(place)
    if vault is not None and ALIASES.find(tx, place, MANAGED) is None:
        key_id = arn.rpartition("/")[2]
        key = new_keys.new_key(vault, place, key_id, now, description=_DESCRIPTION, manager="AWS")
        root_key_record.claim(tx, vault.check_value)
        key_rows.save_key(tx, place, key)
        alias = Alias(name=MANAGED, key_id=key_id, created_at=now, updated_at=now)
        key_rows.save_alias(tx, place, alias)
    return arn
