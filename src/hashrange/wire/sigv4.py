"""Who asks, for which region: read from the signature's credential scope. Signatures are not verified yet."""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl

from hashrange.api.errors import ApiError

_ALGORITHM_PREFIX = "AWS4-"
_MULTI_REGION = "AWS4-ECDSA-P256-SHA256"  # SigV4A: its scope names no region
_HEADER_PARAMETERS = ("Credential", "Signature", "SignedHeaders")
_QUERY_PARAMETERS = (
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
    "X-Amz-Date",
)
_SEPARATORS = re.compile(r"[,\s]+")
_REGION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


class Identity(NamedTuple):
    """A credential scope: who, and where. No region means the server's own."""

    access_key: str
    region: str | None


def identify(headers: Mapping[bytes, bytes], url: bytes) -> Identity:
    """Read the caller's identity from the Authorization header or, as in presigned URLs, from the query."""
    header = headers.get(b"Authorization", b"").decode("latin-1").strip()
    query = dict(parse_qsl(url.partition(b"?")[2].decode("latin-1"), keep_blank_values=True))
    if "X-Amz-Algorithm" in query:
        if header:
            raise ApiError(
                "InvalidSignatureException",
                "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
            )
        return _from_query(query)
    if not header.startswith(_ALGORITHM_PREFIX):
        raise ApiError("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    return _from_header(header, dated=b"X-Amz-Date" in headers or b"Date" in headers)


def _from_header(header: str, *, dated: bool) -> Identity:
    algorithm, *pairs = (part for part in _SEPARATORS.split(header) if part)
    parameters = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise _incomplete(
                "Invalid key=value pair (missing equal-sign) in Authorization header (hashed with SHA-256 and encoded "
                f"with Base64): '{_digest(header)}'."
            )
        parameters[name] = value
    problems = [
        f"Authorization header requires '{name}' parameter."
        for name in _HEADER_PARAMETERS
        if not parameters.get(name)
    ]
    if not dated:
        problems.append(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."
        )
    if problems:
        raise _incomplete(
            f"{' '.join(problems)} (Hashed with SHA-256 and encoded with Base64) Authorization={_digest(header)}"
        )
    return _from_credential(parameters["Credential"], algorithm)


def _from_query(query: Mapping[str, str]) -> Identity:
    problems = [
        f"AWS query-string parameters must include '{name}'."
        for name in _QUERY_PARAMETERS
        if not query.get(name)
    ]
    if problems:
        raise _incomplete(f"{' '.join(problems)} Re-examine the query-string parameters.")
    return _from_credential(query["X-Amz-Credential"], query["X-Amz-Algorithm"])


def _from_credential(credential: str, algorithm: str) -> Identity:
    parts = credential.split("/")
    if algorithm == _MULTI_REGION and len(parts) == 4:
        return Identity(parts[0], None)
    if len(parts) != 5:
        raise _incomplete(
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
            f"got '{credential}'"
        )
    access_key, _, region, _, _ = parts
    if not _REGION.fullmatch(region):
        raise ApiError("InvalidSignatureException", "Credential should be scoped to a valid region. ")
    return Identity(access_key, region)


def _digest(header: str) -> str:
    """What is shown of a header: enough for its sender to know it again, and no part of a signature for a log."""
    return b64encode(sha256(header.encode("latin-1")).digest()).decode()


def _incomplete(message: str) -> ApiError:
    return ApiError("IncompleteSignatureException", message)
