"""What the key service keeps: keys with their wrapped material, and aliases."""

from collections.abc import Iterator
from hashlib import md5
from typing import Literal
from uuid import UUID

import msgspec

from hashrange.core.schema import KeyState
from hashrange.kms.interface import Material
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.setting_rows import Place, SettingRows

Manager = Literal["CUSTOMER", "AWS"]
Cause = Literal["CREATION", "AUTOMATIC", "ON_DEMAND"]


class StoredMaterial(msgspec.Struct, frozen=True, kw_only=True):
    """Wrapped key material; what was encrypted under it can be decrypted as long as the key is there."""

    number: int
    wrapped: bytes
    created_at: float
    cause: Cause


class KmsKey(msgspec.Struct, frozen=True, kw_only=True):
    """A symmetric key. Its newest material encrypts, every one decrypts."""

    id: str
    created_at: float
    policy: str  # as it was sent
    materials: tuple[StoredMaterial, ...]
    description: str = ""
    manager: Manager = "CUSTOMER"
    enabled: bool = True
    deletes_at: float | None = None  # it is pending deletion until then
    unusable_since: float | None = None  # None: it is enabled
    tags: dict[str, str] = {}
    rotation_days: int | None = None  # None: it is not rotated by itself
    rotates_at: float | None = None
    bound_policy: str = ""  # the policy with the ids of those it names; empty: as it was sent

    @property
    def enforced_policy(self) -> str:
        """The policy that decides."""
        return self.bound_policy or self.policy


class Alias(msgspec.Struct, frozen=True, kw_only=True):
    """Another name of a key."""

    name: str  # with `alias/` before it
    key_id: str
    created_at: float
    updated_at: float


MANAGED_ALIAS = "alias/aws/dynamodb"
KEYS = SettingRows("kms-key", KmsKey)
ALIASES = SettingRows("kms-alias", Alias)


def key_arn(place: Place, key_id: str) -> str:
    """The ARN of a key."""
    return f"arn:aws:kms:{place.region}:{place.account_id}:key/{key_id}"


def alias_arn(place: Place, name: str) -> str:
    """The ARN of an alias."""
    return f"arn:aws:kms:{place.region}:{place.account_id}:{name}"


def material(place: Place, key: KmsKey, number: int | None = None) -> Material | None:
    """Some material of a key: the newest, which encrypts, or the one of a number, if it has that."""
    stored = next((one for one in reversed(key.materials) if number in (None, one.number)), None)
    return None if stored is None else Material(key_arn(place, key.id), stored.number, stored.wrapped)


def managed_arn(place: Place) -> str:
    """The ARN of the key that the service manages for tables: each account has one in a region; it never changes."""
    digest = md5(alias_arn(place, MANAGED_ALIAS).encode(), usedforsecurity=False).digest()
    return key_arn(place, str(UUID(bytes=digest, version=4)))


def state_of(key: KmsKey | None) -> KeyState | None:
    """Why a key cannot be used; None if it can."""
    if key is None:
        return "missing"
    if key.deletes_at is not None:
        return "pending"
    return None if key.enabled else "disabled"


def save_key(tx: Transaction, place: Place, key: KmsKey) -> None:
    """Write a key."""
    KEYS.save(tx, place, key.id, key)


def save_alias(tx: Transaction, place: Place, alias: Alias) -> None:
    """Write an alias."""
    ALIASES.save(tx, place, alias.name, alias)


def find_key(reader: Reader, place: Place, key_id: str, now: float) -> KmsKey | None:
    """The key with this id; one whose waiting period is over is gone, whether or not it was swept away."""
    key = KEYS.find(reader, place, key_id)
    return None if key is None or is_deleted(key, now) else key


def is_deleted(key: KmsKey, now: float) -> bool:
    """Whether a key's waiting period is over."""
    return key.deletes_at is not None and key.deletes_at <= now


def remove_key(tx: Transaction, place: Place, key_id: str) -> None:
    """Delete a key and its aliases: what is encrypted under it is lost."""
    KEYS.remove(tx, place, key_id)
    for alias in list(aliases_of(tx, place, key_id)):
        ALIASES.remove(tx, place, alias.name)


def aliases_of(reader: Reader, place: Place, key_id: str) -> Iterator[Alias]:
    """The aliases of a key."""
    for _, alias in ALIASES.of_region(reader, place):
        if alias.key_id == key_id:
            yield alias
