"""New keys and new material."""

import json

import msgspec

from hashrange.auth.arns import account_root
from hashrange.kms.interface import KeyVault
from hashrange.storage.key_rows import Cause, KmsKey, Manager, StoredMaterial, key_arn
from hashrange.storage.setting_rows import Place

_DAY_SECONDS = 86_400


def default_policy(account_id: str) -> str:
    """The policy of a key that was made without one: the account's own policies decide."""
    statement = {
        "Sid": "Enable IAM User Permissions",
        "Effect": "Allow",
        "Principal": {"AWS": account_root(account_id)},
        "Action": "kms:*",
        "Resource": "*",
    }
    document = {"Version": "2012-10-17", "Id": "key-default-1", "Statement": [statement]}
    return json.dumps(document, indent=2, separators=(",", " : "))


def new_key(
    vault: KeyVault,
    place: Place,
    key_id: str,
    now: float,
    *,
    policy: str | None = None,
    bound_policy: str = "",
    description: str = "",
    tags: dict[str, str] | None = None,
    manager: Manager = "CUSTOMER",
) -> KmsKey:
    """A key with its first material."""
    return KmsKey(
        id=key_id,
        created_at=now,
        policy=policy or default_policy(place.account_id),
        bound_policy=bound_policy,
        materials=(_material(vault, place, key_id, 1, now, "CREATION"),),
        description=description,
        manager=manager,
        tags=tags or {},
    )


def rotated(vault: KeyVault, place: Place, key: KmsKey, now: float, cause: Cause) -> KmsKey:
    """A key with new material; the next rotation by itself is a whole period away."""
    number = key.materials[-1].number + 1
    materials = (*key.materials, _material(vault, place, key.id, number, now, cause))
    return msgspec.structs.replace(key, materials=materials, rotates_at=next_rotation(key.rotation_days, now))


def next_rotation(days: int | None, now: float) -> float | None:
    """When a key that is rotated so often is rotated next."""
    return None if days is None else now + days * _DAY_SECONDS


def _material(
    vault: KeyVault, place: Place, key_id: str, number: int, now: float, cause: Cause
) -> StoredMaterial:
    wrapped = vault.new_material(key_arn(place, key_id), number)
    return StoredMaterial(number=number, wrapped=wrapped, created_at=now, cause=cause)
