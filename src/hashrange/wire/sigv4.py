"""Who asks, for which region: read from the signature's credential scope. Signatures are not verified yet."""

from collections.abc import Mapping
from typing import NamedTuple

from hashrange.api.errors import ApiError
from hashrange.auth.signature.claims import claims
from hashrange.auth.signature.rejection import Rejected
from hashrange.auth.signature.scope import check_region, scope_of

_MULTI_REGION = "AWS4-ECDSA-P256-SHA256"  # SigV4A: its scope names no region
_MULTI_REGION_PARTS = 4


class Identity(NamedTuple):
    """A credential scope: who, and where. No region means the server's own."""

    access_key: str
    region: str | None


def identify(headers: Mapping[bytes, bytes], url: bytes) -> Identity:
    """Read the caller's identity from the Authorization header or, as in presigned URLs, from the query."""
    try:
        claimed = claims(headers, url.partition(b"?")[2])
        return _from_credential(claimed.credential, claimed.algorithm)
    except Rejected as rejected:
        raise ApiError(rejected.code, rejected.message) from None


def _from_credential(credential: str, algorithm: str) -> Identity:
    parts = credential.split("/")
    if algorithm == _MULTI_REGION and len(parts) == _MULTI_REGION_PARTS:
        return Identity(parts[0], None)
    scope = scope_of(credential)
    check_region(scope)
    return Identity(scope.access_key, scope.region)
