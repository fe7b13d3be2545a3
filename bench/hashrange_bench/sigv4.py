"""Signature Version 4, the signing side: pure, without a clock, for any service, path and set of headers.

The signer lies here because only this client signs today; in the server's wheel nobody would call it. It knows nothing
of the load client and imports the standard library alone: when the server verifies signatures, it moves to the server's
auth room as it stands. To verify is to sign again and compare, so the verifier needs `canonical_request`,
`string_to_sign` and `signing_key`, the console needs `authorization`, and this client will import them from there.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class Credentials:
    access_key: str = "local"
    secret_key: str = "local"
    token: str = ""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Credentials":
        """Read the credentials where every AWS tool reads them."""
        return cls(
            environment.get("AWS_ACCESS_KEY_ID", "local"),
            environment.get("AWS_SECRET_ACCESS_KEY", "local"),
            environment.get("AWS_SESSION_TOKEN", ""),
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """What a signing key is good for."""

    day: str  # YYYYMMDD
    region: str
    service: str

    def __str__(self) -> str:
        return f"{self.day}/{self.region}/{self.service}/aws4_request"


@dataclass(frozen=True, slots=True)
class Message:
    """A request as the signature sees it; `headers` are those to be signed, in any case and order."""

    headers: Mapping[str, str]
    body: bytes
    method: str = "POST"
    path: str = "/"
    query: str = ""  # encoded and sorted already


def authorization(
    message: Message, *, moment: str, region: str, service: str, credentials: Credentials
) -> str:
    """Give the Authorization header; `moment` is that of X-Amz-Date, YYYYMMDD'T'HHMMSS'Z'."""
    scope = Scope(moment[:8], region, service)
    text = string_to_sign(canonical_request(message), moment, scope)
    signature = hmac.digest(signing_key(credentials.secret_key, scope), text.encode(), "sha256").hex()
    return (
        f"{ALGORITHM} Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={signed_headers(message.headers)}, Signature={signature}"
    )


def signed_headers(names: Iterable[str]) -> str:
    return ";".join(sorted(name.lower() for name in names))


def canonical_request(message: Message) -> str:
    """Step 1: the request in one form, whatever became of its spaces and capitals on the way."""
    headers = sorted((name.lower(), " ".join(value.split())) for name, value in message.headers.items())
    return "\n".join(
        (
            *(message.method, message.path, message.query),
            *(f"{name}:{value}" for name, value in headers),
            *("", signed_headers(message.headers)),
            hashlib.sha256(message.body).hexdigest(),
        )
    )


def string_to_sign(canonical: str, moment: str, scope: Scope) -> str:
    """Step 2."""
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return f"{ALGORITHM}\n{moment}\n{scope}\n{digest}"


def signing_key(secret_key: str, scope: Scope) -> bytes:
    """Step 3: the key of a day, a region and a service."""
    key = b"AWS4" + secret_key.encode()
    for part in (scope.day, scope.region, scope.service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
