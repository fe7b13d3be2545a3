"""The alias of an account: one name, which no other account has."""

from hashrange.api.context import Context
from hashrange.services.iam.entities import place
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import ACCOUNT_ALIASES


def alias_of(reader: Reader, context: Context) -> str | None:
    """The account's alias."""
    return next((alias for alias, _ in ACCOUNT_ALIASES.of_region(reader, place(context))), None)


def account_with(reader: Reader, alias: str) -> str | None:
    """The account that has an alias."""
    for where in ACCOUNT_ALIASES.places(reader):
        if ACCOUNT_ALIASES.find(reader, where, alias) is not None:
            return where.account_id
    return None
