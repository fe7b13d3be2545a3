"""The policies of keys: each has one, with the name `default`."""

from hashrange.api.errors import ApiError, limit_exceeded
from hashrange.api.keys.lookup import not_found
from hashrange.auth.policy.documents import Kind, MalformedPolicy, parse_new

NAME = "default"
_BYTES_MAX = 32_768  # KMS Developer Guide: resource quotas, key policy document size


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
