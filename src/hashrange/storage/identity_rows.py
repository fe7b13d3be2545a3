"""What identities are kept as: users, groups, roles, managed policies and access keys of all accounts.

They are settings without a region. Names differ in more than their case, so rows are found by the lower-case name.
Every change raises the generation, a row of its own that names the rows which were changed last: processes see by it
that there was a change, and read those rows alone.
"""

import secrets
from collections.abc import Iterator
from typing import Literal, TypeVar

import msgspec

from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.setting_rows import Place, SettingRows

GENERATION_READS = (layout.IDENTITY_GENERATION,)
_NONCE_BYTES = 8
_CHANGES_MAX = 64  # whoever has missed more reads everything

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
    trusted: dict[str, str] = {}  # whom it names: their ids when it was written, by ARN
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


class AccountAlias(msgspec.Struct, frozen=True, kw_only=True):
    """The name of an account, which is the id of its row."""

    created_at: float


class _Change(msgspec.Struct, frozen=True, array_like=True):
    """The row that a generation changed."""

    generation: bytes  # random, so that two histories of a database are told apart
    row: bytes


class _History(msgspec.Struct, frozen=True, array_like=True):
    """What the generation's row holds: the last changes, oldest first, and the generation before them."""

    before: bytes
    changes: tuple[_Change, ...]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_History).decode
T = TypeVar("T", bound=msgspec.Struct)


class IdentityRows(SettingRows[T]):
    """Rows whose changes are all noted."""

    def save(self, tx: Transaction, place: Place, setting_id: str, record: T) -> None:
        """Write a record, whatever was there."""
        super().save(tx, place, setting_id, record)
        _note(tx, self.row_key(place, setting_id))

    def remove(self, tx: Transaction, place: Place, setting_id: str) -> None:
        """Delete a record, if it is there."""
        super().remove(tx, place, setting_id)
        _note(tx, self.row_key(place, setting_id))


USERS = IdentityRows("iam-user", User)
GROUPS = IdentityRows("iam-group", Group)
ROLES = IdentityRows("iam-role", Role)
POLICIES = IdentityRows("iam-policy", ManagedPolicy)
ACCESS_KEYS = IdentityRows("iam-access-key", AccessKey)
ACCOUNT_ALIASES = SettingRows("iam-account-alias", AccountAlias)  # nobody is known by it


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


def changed_since(reader: Reader, known: bytes) -> list[bytes] | None:
    """The keys of the rows that were changed since a generation; None if that is not known any more."""
    stored = generation(reader)
    if stored == known:
        return []
    if not stored or not known:
        return None
    last = _last(_decode(known))
    history = _decode(stored)
    generations = [history.before, *(change.generation for change in history.changes)]
    if last not in generations:
        return None
    changes = history.changes[generations.index(last) :]
    return list(dict.fromkeys(change.row for change in changes))


def _last(history: _History) -> bytes:
    return history.changes[-1].generation if history.changes else history.before


def _note(tx: Transaction, row: bytes) -> None:
    """Say that a row was changed."""
    stored = generation(tx)
    history = _decode(stored) if stored else _History(b"", ())
    changes = (*history.changes, _Change(secrets.token_bytes(_NONCE_BYTES), row))
    before = history.before
    if len(changes) > _CHANGES_MAX:
        before, changes = changes[0].generation, changes[1:]
    tx.put(layout.IDENTITY_GENERATION, _encode(_History(before, changes)))
