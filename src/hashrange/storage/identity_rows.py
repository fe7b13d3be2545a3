"""What identities are kept as: users, groups, roles, managed policies and access keys of all accounts.

They are settings without a region. Names differ in more than their case, so rows are found by the lower-case name.
Every change raises the generation, a row of its own, by which other processes see that there was one.
"""

import secrets
from collections.abc import Iterator
from typing import Literal

import msgspec

from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.setting_rows import Place, SettingRows

GENERATION_READS = (layout.IDENTITY_GENERATION,)
_NUMBER_BYTES = 8
_NONCE_BYTES = 8

KeyStatus = Literal["Active", "Inactive"]


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """What users, groups and roles have in common."""

    name: str
    path: str
    id: str  # AIDA…, AGPA… or AROA…
    created_at: float
    policies: dict[str, str] = {}  # inline: documents by name
    attached: tuple[str, ...] = ()  # ARNs of managed policies
    tags: dict[str, str] = {}
    boundary: str | None = None  # ARN of a managed policy


class User(Entity, frozen=True, kw_only=True):
    """A user."""

    groups: tuple[str, ...] = ()  # names in lower case


class Group(Entity, frozen=True, kw_only=True):
    """A group; its users know that they belong to it."""


class Role(Entity, frozen=True, kw_only=True):
    """A role."""

    trust: str  # document
    description: str | None = None
    max_session_seconds: int = 3600


class Version(msgspec.Struct, frozen=True):
    """One version of a managed policy."""

    number: int
    document: str
    created_at: float

    @property
    def id(self) -> str:
        """As the service writes it."""
        return f"v{self.number}"


class ManagedPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A managed policy with the versions that it still has, oldest first."""

    name: str
    path: str
    id: str  # ANPA…
    created_at: float
    updated_at: float
    description: str | None = None
    tags: dict[str, str] = {}
    versions: tuple[Version, ...]
    default: int  # number of the version that counts
    last: int  # number that was given last

    def default_version(self) -> Version:
        """The version that counts."""
        return next(version for version in self.versions if version.number == self.default)


class AccessKey(msgspec.Struct, frozen=True, kw_only=True):
    """A long-term access key."""

    id: str
    user: str | None  # name in lower case; None: the account's root
    status: KeyStatus = "Active"
    created_at: float
    sealed: bytes  # the secret: see kms/sealing.py


USERS = SettingRows("iam-user", User)
GROUPS = SettingRows("iam-group", Group)
ROLES = SettingRows("iam-role", Role)
POLICIES = SettingRows("iam-policy", ManagedPolicy)
ACCESS_KEYS = SettingRows("iam-access-key", AccessKey)


def place_of(account_id: str) -> Place:
    """Where the identities of an account are: in no region."""
    return Place(account_id, "")


def arn_of(account_id: str, entity: Entity | ManagedPolicy) -> str:
    """The ARN."""
    kinds = {User: "user", Group: "group", Role: "role", ManagedPolicy: "policy"}
    return f"arn:aws:iam::{account_id}:{kinds[type(entity)]}{entity.path}{entity.name}"


def keys_of_user(reader: Reader, place: Place, user: str | None) -> Iterator[AccessKey]:
    """The access keys of a user, by the name in lower case, or of the account's root."""
    for _, key in ACCESS_KEYS.of_region(reader, place):
        if key.user == user:
            yield key


def generation(reader: Reader) -> bytes:
    """A value that is another one after every change of any identity."""
    return reader.get(layout.IDENTITY_GENERATION) or b""


def raise_generation(tx: Transaction) -> None:
    """Say that something has changed; a random part tells two histories of a database apart."""
    number = int.from_bytes(generation(tx)[:_NUMBER_BYTES], "big") + 1
    tx.put(
        layout.IDENTITY_GENERATION,
        number.to_bytes(_NUMBER_BYTES, "big") + secrets.token_bytes(_NONCE_BYTES),
    )
