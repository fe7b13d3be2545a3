"""The verifier: whether a request was signed by whom it says, in the service's order of checks."""

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest, digest
from typing import NamedTuple, Protocol

from hashrange.auth.principals import Credential
from hashrange.auth.signature.canonical import Fields, canonical_request
from hashrange.auth.signature.claims import ALGORITHM, Claims, claims
from hashrange.auth.signature.rejection import Rejected, incomplete, invalid, unrecognized
from hashrange.auth.signature.scope import (
    TERMINATOR,
    Scope,
    check,
    check_time,
    scope_of,
    signed_at,
    valid_seconds,
)

SKEW_SECONDS = 15 * 60
_KEYS_MAX = 4096
_SIGNATURE_CHARS = 64
_HEX = frozenset("0123456789abcdef")
_NOBODYS_SECRET = "0" * 40
_MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details."
)


class Directory(Protocol):
    """Who has which access key."""

    def credential(self, access_key: str, token: str | None, /) -> Credential | None:
        """The credential of an access key; that of a session may be in its token. Any thread may ask."""


class SignedRequest(NamedTuple):
    """A request as it came."""

    method: bytes
    path: bytes
    query: bytes
    headers: Mapping[bytes, bytes]  # by Title-Case name
    fields: Fields  # all of them, repeats included, in order
    body: bytes | bytearray


class Verified(NamedTuple):
    """Who has signed a request, for where."""

    credential: Credential
    scope: Scope
    claims: Claims
    signed_headers: tuple[str, ...]  # in lower case, sorted
    key: bytes  # that the signature was made with

    def __repr__(self) -> str:
        return f"<signed by {self.scope.access_key}>"  # without the key


class Verifier:
    """Verifies signatures, with the keys of the day at hand."""

    def __init__(self, directory: Directory, *, skew_seconds: int = SKEW_SECONDS) -> None:
        self._directory = directory
        self._skew_seconds = skew_seconds
        self._keys = _SigningKeys()

    def verified(self, request: SignedRequest, service: str, now: float) -> Verified:
        """Who has signed a request to a service; raises `Rejected`."""
        claimed = claims(request.headers, request.query)
        signed = signed_at(claimed.timestamp)
        check_time(
            signed,
            now,
            skew_seconds=self._skew_seconds,
            valid_seconds=valid_seconds(claimed.expires) if claimed.expires is not None else None,
        )
        names = sorted(set(claimed.signed_headers.lower().split(";")))
        if "host" not in names:
            raise invalid("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.")
        # Otherwise whoever sees a signed request could have the same body taken for another operation's.
        if b"X-Amz-Target" in request.headers and "x-amz-target" not in names:
            raise invalid("'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.")
        if claimed.algorithm != ALGORITHM:
            raise incomplete(
                f"Unsupported AWS 'algorithm': '{claimed.algorithm}' (only {ALGORITHM} for now). "
            )
        scope = scope_of(claimed.credential)
        check(scope, service, signed)
        credential = self._directory.credential(scope.access_key, claimed.token)
        # As much work for a key that nobody has, so that the time tells nothing.
        key = (
            derived(scope, _NOBODYS_SECRET)
            if credential is None
            else self._keys.key(scope, credential.secret)
        )
        canonical = canonical_request(
            request.method, request.path, request.query, request.fields, names, request.body
        )
        is_right = _is_right(claimed.signature, key, scope, signed.text, canonical)
        if credential is None:
            raise unrecognized("The security token included in the request is invalid.")
        if not is_right:
            mismatch = invalid(_MISMATCH)
            mismatch.canonical = canonical
            raise mismatch
        _check_state(credential, claimed, now)
        return Verified(credential, scope, claimed, tuple(names), key)


def _is_right(signature: str, key: bytes, scope: Scope, time: str, canonical: bytes) -> bool:
    day = f"{scope.date}/{scope.region}/{scope.service}/{TERMINATOR}"
    signed_text = f"{ALGORITHM}\n{time}\n{day}\n{sha256(canonical).hexdigest()}"
    expected = digest(key, signed_text.encode(), "sha256").hex()
    is_hex = len(signature) == _SIGNATURE_CHARS and _HEX.issuperset(signature)
    return is_hex and compare_digest(expected, signature)


def _check_state(credential: Credential, claimed: Claims, now: float) -> None:
    if not credential.is_active:
        raise unrecognized("The security token included in the request is invalid.")
    if (credential.token or "") != (claimed.token or ""):
        raise unrecognized("The security token included in the request is invalid")
    if credential.expires_at is not None and now >= credential.expires_at:
        raise Rejected("ExpiredTokenException", "The security token included in the request is expired")


class _SigningKeys:
    """The derived keys of the day; each is as secret as what it was derived from."""

    def __init__(self) -> None:
        self._keys: dict[Scope, tuple[str, bytes]] = {}

    def __repr__(self) -> str:
        return f"<{len(self._keys)} signing keys>"

    def key(self, scope: Scope, secret: str) -> bytes:
        """The key of a scope."""
        known = self._keys.get(scope)
        if known is not None and known[0] == secret:
            return known[1]
        key = derived(scope, secret)
        if len(self._keys) >= _KEYS_MAX:
            self._keys.clear()
        self._keys[scope] = secret, key
        return key


def derived(scope: Scope, secret: str) -> bytes:
    """The signing key of a day, region and service."""
    key = f"AWS4{secret}".encode()
    for piece in scope[1:]:
        key = digest(key, piece.encode("latin-1"), "sha256")
    return key
