"""Tokens of identity providers: JSON Web Tokens, signed by a key that the provider publishes.

Only RS256 and ES256. The algorithm is that of the published key; a token whose header names another is refused, so that
no token can choose how it is checked.
"""

# The library takes a while to load, so only those wait for it who have such a token.
# ruff: noqa: PLC0415

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    _PublicKey = RSAPublicKey | EllipticCurvePublicKey

TOKEN_CHARS_MAX = 20_000
_PARTS = 3
_RSA_BITS_MIN, _RSA_BITS_MAX = 2048, 8192
_COORDINATE_BYTES = 32
_SKEW_SECONDS = 60
# It becomes a condition key and is shown: no control characters, and no halves of characters.
_SUBJECT = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]{1,255}")
_ALGORITHMS = {"RSA": "RS256", "EC": "ES256"}


class InvalidKeys(Exception):
    """What a provider publishes cannot be read; the message is meant for the operator."""


class InvalidToken(Exception):
    """The token is not what it should be; the message is for the client."""


class ExpiredToken(InvalidToken):
    """The token was valid once."""


@dataclass(frozen=True, slots=True)
class PublishedKey:
    """A key that a provider signs with."""

    id: str | None
    algorithm: str
    key: "_PublicKey"


@dataclass(frozen=True, slots=True)
class Provider:
    """An identity provider: who it says it is, whom its tokens are for, and its keys."""

    issuer: str
    audiences: frozenset[str]
    keys: Sequence[PublishedKey]

    @property
    def name(self) -> str:
        """What policies call it: the issuer without its scheme."""
        return self.issuer.partition("://")[2]


@dataclass(frozen=True, slots=True)
class WebIdentity:
    """Whom a provider vouches for."""

    provider: Provider
    subject: str
    audience: str


def published_keys(document: str | bytes) -> list[PublishedKey]:
    """The keys in a JSON Web Key Set that can be used; those for other purposes are left out."""
    try:
        listed = json.loads(document)["keys"]
        keys = [_published(entry) for entry in listed if entry.get("use", "sig") == "sig"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidKeys(f"the key set cannot be read: {type(error).__name__}") from None
    usable = [key for key in keys if key is not None]
    if not usable:
        raise InvalidKeys("the key set has neither an RSA key nor one of the curve P-256")
    return usable


def _published(entry: Mapping[str, Any]) -> PublishedKey | None:
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    kind = entry.get("kty")
    if entry.get("alg", _ALGORITHMS.get(str(kind))) != _ALGORITHMS.get(str(kind)):
        return None
    key: _PublicKey
    if kind == "RSA":
        modulus, exponent = _number(entry["n"]), _number(entry["e"])
        if not _RSA_BITS_MIN <= modulus.bit_length() <= _RSA_BITS_MAX:
            return None
        key = rsa.RSAPublicNumbers(exponent, modulus).public_key()
    elif kind == "EC" and entry.get("crv") == "P-256":
        key = ec.EllipticCurvePublicNumbers(
            _number(entry["x"]), _number(entry["y"]), ec.SECP256R1()
        ).public_key()
    else:
        return None
    return PublishedKey(entry.get("kid"), _ALGORITHMS[kind], key)


def verified(token: str, providers: Sequence[Provider], now: float) -> WebIdentity:
    """Whom a token is about; raises `InvalidToken`."""
    parts = token.split(".")
    if len(token) > TOKEN_CHARS_MAX or len(parts) != _PARTS:
        raise InvalidToken("The ID Token provided is not a valid JWT.")
    header, claims = _object(parts[0]), _object(parts[1])
    provider = next((known for known in providers if known.issuer == claims.get("iss")), None)
    if provider is None:
        raise InvalidToken("No OpenIDConnect provider found in your account for the issuer of the token")
    if "crit" in header:
        raise InvalidToken("The ID Token provided is not a valid JWT.")
    signed, signature = f"{parts[0]}.{parts[1]}".encode(), _bytes(parts[2])
    if not any(_is_signed(key, signed, signature) for key in _candidates(provider, header)):
        raise InvalidToken("Couldn't verify the signature of the token with the keys of its provider")
    _check_times(claims, now)
    subject = claims.get("sub")
    if not isinstance(subject, str) or not _SUBJECT.fullmatch(subject):
        raise InvalidToken("The token has no subject, or one that cannot be used")
    return WebIdentity(provider, subject, _audience(provider, claims))


def _candidates(provider: Provider, header: Mapping[str, Any]) -> list[PublishedKey]:
    same = [key for key in provider.keys if key.algorithm == header.get("alg")]
    if header.get("kid") is None:
        return same
    return [key for key in same if key.id == header["kid"]]


def _is_signed(key: PublishedKey, signed: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    try:
        if isinstance(key.key, rsa.RSAPublicKey):
            key.key.verify(signature, signed, padding.PKCS1v15(), SHA256())
            return True
        if len(signature) != 2 * _COORDINATE_BYTES:
            return False
        halves = signature[:_COORDINATE_BYTES], signature[_COORDINATE_BYTES:]
        pair = encode_dss_signature(*(int.from_bytes(half, "big") for half in halves))
        key.key.verify(pair, signed, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    times = {name: claims[name] for name in ("exp", "nbf", "iat") if name in claims}
    # JSON has no infinity, but a number may be too large for one: such a token would never end.
    if "exp" not in times or not all(
        type(time) in {int, float} and isfinite(time) for time in times.values()
    ):
        raise InvalidToken("The token must say when it expires")
    if now >= times["exp"] + _SKEW_SECONDS:
        raise ExpiredToken("Token expired: the current time is behind its expiration")
    if max(times.get("nbf", now), times.get("iat", now)) > now + _SKEW_SECONDS:
        raise InvalidToken("The token is not valid yet")


def _audience(provider: Provider, claims: Mapping[str, Any]) -> str:
    """The audience that counts: the client that the token was made for, where it says so, as in OpenID Connect."""
    sent = claims.get("aud")
    listed = sent if isinstance(sent, list) else [sent]
    for audience in [claims["azp"]] if "azp" in claims else listed:
        if isinstance(audience, str) and audience in provider.audiences:
            return audience
    raise InvalidToken("Incorrect token audience")


def _object(part: str) -> dict[str, Any]:
    try:
        content = json.loads(_bytes(part).decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InvalidToken("The ID Token provided is not a valid JWT.")
    return content


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object; of two with one name others might have read the other one."""
    content = dict(members)
    if len(content) != len(members):
        raise ValueError("a member is there twice")
    return content


def _no_number(name: str) -> float:
    raise ValueError(name)


def _bytes(part: str) -> bytes:
    try:
        raw = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise InvalidToken("The ID Token provided is not a valid JWT.") from None
    if base64.urlsafe_b64encode(raw).rstrip(b"=") != part.encode():
        raise InvalidToken("The ID Token provided is not a valid JWT.")
    return raw


def _number(text: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")
