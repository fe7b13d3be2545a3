"""The policies of keys: each has one, with the name `default`."""

from hashrange.api.context import Context
from hashrange.api.errors import ApiError, limit_exceeded
from hashrange.api.keys.lookup import not_found
from hashrange.api.permissions import bound_principals
from hashrange.auth.policy import json_reader
from hashrange.auth.policy.documents import Kind, MalformedPolicy, parse_new
from hashrange.storage.key_rows import KmsKey

NAME = "default"
_BYTES_MAX = 32_768  # KMS Developer Guide: resource quotas, key policy document size


def bound_policy(context: Context, document: str) -> str:
    """The policy of a key with the ids of those whom it names; refuses what is no policy, or names nobody."""
    check_policy(document)
    directory = context.directory
    if directory is None:
        return ""
    if not all(map(directory.has_principal, bound_principals.named(json_reader.read(document)))):
        raise ApiError(
            "MalformedPolicyDocumentException",
            "Policy contains a statement with one or more invalid principals.",
        )
    return bound_principals.bound(document, directory)


def shown_policy(context: Context, key: KmsKey) -> str:
    """The policy of a key as it was sent, or with the ids of those who are gone."""
    if context.directory is None or not key.bound_policy:
        return key.policy
    return bound_principals.shown(key.policy, key.bound_policy, context.directory)


def check_policy(document: str) -> None:
    """Refuse what is no policy of a resource."""
    if len(document.encode()) > _BYTES_MAX:
        raise limit_exceeded(f"A key policy has at most {_BYTES_MAX} bytes")
    try:
        parse_new(document, Kind.RESOURCE, name=NAME)
    except MalformedPolicy as malformed:
        raise ApiError("MalformedPolicyDocumentException", str(malformed)) from None


def check_name(name: str | None) -> None:
    """Refuse a policy that no key has."""
    if name not in (None, NAME):
        raise not_found("No such policy exists")
