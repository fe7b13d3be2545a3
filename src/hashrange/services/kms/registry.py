"""The table of the operations of the key service, as api/registry.py has it for DynamoDB."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from hashrange.api.protocol.operation import Service
from hashrange.api.registry import Resources, control_operations, no_resource
from hashrange.services.kms import (
    cancel_key_deletion,
    create_alias,
    create_key,
    decrypt,
    delete_alias,
    describe_key,
    disable_key,
    disable_key_rotation,
    enable_key,
    enable_key_rotation,
    encrypt,
    generate_data_key,
    generate_data_key_without_plaintext,
    generate_random,
    get_key_policy,
    get_key_rotation_status,
    list_aliases,
    list_key_policies,
    list_key_rotations,
    list_keys,
    list_resource_tags,
    put_key_policy,
    re_encrypt,
    rotate_key_on_demand,
    schedule_key_deletion,
    tag_resource,
    untag_resource,
    update_alias,
    update_key_description,
)


def _key(request: Any) -> Iterable[str]:
    return () if request.key_id is None else (request.key_id,)


def _alias(request: Any) -> Iterable[str]:
    return (request.alias_name, request.target_key_id)


def _named_alias(request: Any) -> Iterable[str]:
    return (request.alias_name,)


def _two_keys(request: Any) -> Iterable[str]:
    return tuple(name for name in (request.source_key_id, request.destination_key_id) if name is not None)


_ROWS: tuple[tuple[str, ModuleType, Resources], ...] = (
    ("CancelKeyDeletion", cancel_key_deletion, _key),
    ("CreateAlias", create_alias, _alias),
    ("CreateKey", create_key, no_resource),
    ("Decrypt", decrypt, _key),
    ("DeleteAlias", delete_alias, _named_alias),
    ("DescribeKey", describe_key, _key),
    ("DisableKey", disable_key, _key),
    ("DisableKeyRotation", disable_key_rotation, _key),
    ("EnableKey", enable_key, _key),
    ("EnableKeyRotation", enable_key_rotation, _key),
    ("Encrypt", encrypt, _key),
    ("GenerateDataKey", generate_data_key, _key),
    ("GenerateDataKeyWithoutPlaintext", generate_data_key_without_plaintext, _key),
    ("GenerateRandom", generate_random, no_resource),
    ("GetKeyPolicy", get_key_policy, _key),
    ("GetKeyRotationStatus", get_key_rotation_status, _key),
    ("ListAliases", list_aliases, _key),
    ("ListKeyPolicies", list_key_policies, _key),
    ("ListKeyRotations", list_key_rotations, _key),
    ("ListKeys", list_keys, no_resource),
    ("ListResourceTags", list_resource_tags, _key),
    ("PutKeyPolicy", put_key_policy, _key),
    ("ReEncrypt", re_encrypt, _two_keys),
    ("RotateKeyOnDemand", rotate_key_on_demand, _key),
    ("ScheduleKeyDeletion", schedule_key_deletion, _key),
    ("TagResource", tag_resource, _key),
    ("UntagResource", untag_resource, _key),
    ("UpdateAlias", update_alias, _alias),
    ("UpdateKeyDescription", update_key_description, _key),
)

KMS = Service("kms", "TrentService.", "", control_operations("kms", _ROWS), "kms")
