"""Finding a key by its id, its ARN, an alias or the ARN of an alias."""

import re

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.auth import arns
from hashrange.storage import key_rows
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import ALIASES, KmsKey
from hashrange.storage.setting_rows import Place

ALIAS = "alias/"
_KEY_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|mrk-[0-9a-f]{32}")


def place_of(context: Context) -> Place:
    """Where the caller's keys are."""
    return Place(context.account_id, context.region)


def not_found(message: str) -> ApiError:
    """NotFoundException."""
    return ApiError("NotFoundException", message)


def find(reader: Reader, place: Place, name: str, now: float) -> KmsKey:
    """The key that a request names, in whichever way."""
    if name.startswith("arn:"):
        name = _local_name(place, name)
    if name.startswith(ALIAS):
        alias = ALIASES.find(reader, place, name)
        if alias is None:
            raise not_found(f"Alias {key_rows.alias_arn(place, name)} is not found.")
        name = alias.key_id
    return find_id(reader, place, name, now)


def find_exact(reader: Reader, place: Place, name: str, now: float) -> KmsKey:
    """The key that a request names by its id or ARN: aliases are not taken here."""
    local = _local_name(place, name) if name.startswith("arn:") else name
    if local.startswith(ALIAS):
        raise ApiError(
            "InvalidArnException" if name is not local else "NotFoundException", f"Invalid keyId '{name}'"
        )
    return find_id(reader, place, local, now)


def find_id(reader: Reader, place: Place, key_id: str, now: float) -> KmsKey:
    """The key with this id."""
    if _KEY_ID.fullmatch(key_id) is None:
        raise not_found(f"Invalid keyId '{key_id}'")
    key = key_rows.find_key(reader, place, key_id, now)
    if key is None:
        raise not_found(f"Key '{key_rows.key_arn(place, key_id)}' does not exist")
    return key


def _local_name(place: Place, text: str) -> str:
    """What an ARN names among the caller's keys: a key's id or an alias."""
    arn = arns.parsed(text)
    if arn is None or arn.service != "kms":
        raise ApiError("InvalidArnException", f"Invalid arn {text}")
    if arn.region != place.region:
        raise not_found(f"Invalid arn {arn.region}")
    if arn.account_id != place.account_id:
        # Keys of other accounts cannot be shared yet, and nobody is told whether they are there.
        raise not_found(f"Key '{text}' does not exist")
    return arn.resource.removeprefix("key/")
