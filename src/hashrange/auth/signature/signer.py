"""The other side: signing a request, for commands that ask a server that wants signatures."""

from collections.abc import Mapping
from hashlib import sha256
from hmac import digest
from typing import NamedTuple

from hashrange.auth.signature.canonical import canonical_request
from hashrange.auth.signature.claims import ALGORITHM
from hashrange.auth.signature.scope import TERMINATOR, Scope
from hashrange.auth.signature.verifier import derived


class SigningKey(NamedTuple):
    """An access key, and what is signed with it."""

    access_key: str
    secret: str
    token: str | None = None

    def __repr__(self) -> str:
        return f"<{self.access_key}>"


class Target(NamedTuple):
    """What a request asks, of whom."""

    method: str
    host: str  # with the port where one is sent
    path: str
    query: str
    region: str
    service: str


def signed_headers(
    target: Target, body: bytes, key: SigningKey, timestamp: str, own: Mapping[str, str] | None = None
) -> Mapping[str, str]:
    """The request's own headers, and those that it needs beside them; `timestamp` is in ISO 8601's basic form."""
    headers = {name.lower(): value for name, value in (own or {}).items()}
    headers |= {"host": target.host, "x-amz-date": timestamp}
    if key.token is not None:
        headers["x-amz-security-token"] = key.token
    fields = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    names = sorted(headers)
    canonical = canonical_request(
        target.method.encode(), target.path.encode(), target.query.encode(), fields, names, body
    )
    scope = Scope(key.access_key, timestamp[:8], target.region, target.service, TERMINATOR)
    place = "/".join(scope[1:])
    text = f"{ALGORITHM}\n{timestamp}\n{place}\n{sha256(canonical).hexdigest()}"
    signature = digest(derived(scope, key.secret), text.encode(), "sha256").hex()
    credential = f"{key.access_key}/{place}"
    headers["authorization"] = (
        f"{ALGORITHM} Credential={credential}, SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    return headers
