"""Access keys: whose they are, and how new ones are made."""

import base64
import secrets
from typing import NamedTuple

from hashrange.api.context import Context
from hashrange.api.errors import validation
from hashrange.auth.principals import PrincipalKind
from hashrange.kms.root_key import RootKeyInvalid
from hashrange.services.iam import errors
from hashrange.services.iam.entities import USERS, new_id, place
from hashrange.storage.directory import Seals
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import ACCESS_KEYS, AccessKey

_SECRET_BYTES = 30  # 40 characters of base64


class Owner(NamedTuple):
    """Whose keys they are."""

    name: str | None
    row_id: str | None  # None: the account's root


def owner(reader: Reader, context: Context, user_name: str | None) -> Owner:
    """The user of a request; without a name, whoever asks."""
    if user_name is not None:
        name = USERS.get(reader, context, user_name).name
        return Owner(name, name.lower())
    caller = context.caller()
    if caller.is_root:
        return Owner(None, None)
    if caller.kind is not PrincipalKind.USER:
        raise validation("Must specify userName when calling with non-User credentials")
    return Owner(caller.name, caller.name.lower())


def own_key(reader: Reader, context: Context, whose: Owner, key_id: str) -> AccessKey:
    """A key of this owner."""
    key = ACCESS_KEYS.find(reader, place(context), key_id)
    if key is None or key.user != whose.row_id:
        raise errors.no_such_entity(f"The Access Key with id {key_id} cannot be found.")
    return key


def new_pair(prefix: str = "AKIA") -> tuple[str, str]:
    """A new access key id and its secret."""
    return new_id(prefix)[:20], base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def seals(context: Context) -> Seals:
    """What seals secrets."""
    if context.directory is None:
        raise errors.no_root_key("this server keeps no secrets")
    try:
        return context.directory.seals()
    except RootKeyInvalid as problem:
        raise errors.no_root_key(str(problem)) from None
