"""The names that aliases may have."""

import re

from hashrange.api import errors
from hashrange.api.errors import ApiError
from hashrange.api.keys.lookup import ALIAS, not_found
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import ALIASES, Alias, alias_arn
from hashrange.storage.setting_rows import Place

_NAME = re.compile(r"alias/[a-zA-Z0-9/_-]+")
_RESERVED = "alias/aws/"


def check(name: str) -> None:
    """Refuse a name that an alias of a user cannot have."""
    if not name.startswith(ALIAS):
        raise errors.validation(
            'Alias must start with the prefix "alias/". Please see '
            "https://docs.aws.amazon.com/kms/latest/developerguide/kms-alias.html"
        )
    if name.startswith(_RESERVED):
        raise ApiError("NotAuthorizedException", "")
    if _NAME.fullmatch(name) is None:
        raise ApiError("InvalidAliasNameException", "The alias name is not valid")


def find(reader: Reader, place: Place, name: str) -> Alias:
    """The alias with this name, which there must be."""
    alias = ALIASES.find(reader, place, name)
    if alias is None:
        raise not_found(f"Alias {alias_arn(place, name)} is not found.")
    return alias
