"""Grantees: whom a statement of a resource or trust policy is about."""

import enum
import re
from collections.abc import Mapping
from typing import NamedTuple

from hashrange.auth import arns

_EVERYBODY = "*"
_ACCOUNT_DIGITS = 12
_UNIQUE_ID = re.compile(r"A(?:ID|RO)A[A-Z0-9]{12,124}")


class Caller(NamedTuple):
    """Whoever asks, as far as a Principal element can name them."""

    account_id: str
    arn: str  # of a user, of a role session, or of an account's root
    role_arn: str | None = None  # of a role session: its role's
    is_root: bool = False
    provider: str | None = None  # who vouches for a federated caller
    service: str | None = None
    unique_id: str | None = None  # of the user, or of the session's role


class Naming(enum.IntEnum):
    """How closely a Principal element names a caller: that decides what else must allow the request."""

    NOT = 0
    ACCOUNT = 1  # delegates to the account: the caller's own policies must allow it too
    LOOSELY = 2  # by role, or as one of everybody: boundary and session policy still limit it
    DIRECTLY = 3  # by user or session: no other policy needs to allow it


class Grantees(NamedTuple):
    """A compiled Principal or NotPrincipal element."""

    everybody: bool = False
    accounts: frozenset[str] = frozenset()
    arns: frozenset[str] = frozenset()  # and unique ids
    providers: frozenset[str] = frozenset()
    services: frozenset[str] = frozenset()
    negated: bool = False

    def naming(self, caller: Caller) -> Naming:
        """How the element names a caller."""
        if self.negated:
            return Naming.NOT if self._excludes(caller) else Naming.LOOSELY
        by_id = caller.unique_id in self.arns
        if caller.arn in self.arns or (by_id and caller.role_arn is None):
            return Naming.DIRECTLY
        if (
            self.everybody
            or by_id
            or caller.role_arn in self.arns
            or caller.provider in self.providers
            or caller.service in self.services
        ):
            return Naming.LOOSELY
        return Naming.ACCOUNT if caller.account_id in self.accounts else Naming.NOT

    def _excludes(self, caller: Caller) -> bool:
        """A caller is excluded if the element lists them with their account, and a session with its role."""
        if self.everybody or caller.service in self.services or caller.provider in self.providers:
            return True
        if caller.account_id not in self.accounts:
            return False
        role_or_user = caller.role_arn or caller.arn
        named = caller.unique_id in self.arns or role_or_user in self.arns
        return caller.is_root or (named and (caller.role_arn is None or caller.arn in self.arns))


class InvalidPrincipal(Exception):
    """An element that names nobody there could be; the text is how the service quotes it."""


def compiled(element: str | Mapping[str, list[str]], *, negated: bool = False) -> Grantees:
    """The grantees of an element: the star, or lists by kind of principal."""
    if isinstance(element, str):
        if element != _EVERYBODY:
            raise InvalidPrincipal(element)
        return Grantees(everybody=True, negated=negated)
    everybody = False
    accounts, named = set[str](), set[str]()
    for value in element.get("AWS", []):
        account_id = account_of(value)
        if value == _EVERYBODY:
            everybody = True
        elif account_id is not None:
            accounts.add(account_id)
        elif _is_principal_arn(value) or is_unique_id(value):
            named.add(value)
        else:
            raise InvalidPrincipal(f'"AWS":"{value}"')
    return Grantees(
        everybody=everybody,
        accounts=frozenset(accounts),
        arns=frozenset(named),
        providers=frozenset(element.get("Federated", [])),
        services=frozenset(element.get("Service", [])),
        negated=negated,
    )


def account_of(principal: str) -> str | None:
    """The account that a principal stands for as a whole: by its number, or by its root's ARN."""
    if len(principal) == _ACCOUNT_DIGITS and principal.isascii() and principal.isdigit():
        return principal
    arn = arns.parsed(principal)
    if arn is None or (arn.service, arn.resource) != ("iam", "root"):
        return None
    return arn.account_id


def is_unique_id(text: str) -> bool:
    """Whether it is the id of a user or role, which a stored policy has in place of the ARN."""
    return _UNIQUE_ID.fullmatch(text) is not None


def _is_principal_arn(text: str) -> bool:
    arn = arns.parsed(text)
    if arn is None or "*" in text or "?" in text:
        return False
    kind, slash, name = arn.resource.partition("/")
    kinds = {"iam": {"user", "role"}, "sts": {"assumed-role", "federated-user"}}
    return bool(slash and name) and kind in kinds.get(arn.service, set())
