"""Claims: who a request says has signed it, when, for what and over which headers. Nothing of it is verified here."""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl

from hashrange.auth.signature.rejection import Rejected, incomplete, invalid

ALGORITHM = "AWS4-HMAC-SHA256"
_ALGORITHM_PREFIX = "AWS4-"
_HEADER_PARAMETERS = ("Credential", "Signature", "SignedHeaders")
_QUERY_PARAMETERS = (
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
    "X-Amz-Date",
)
_BLANKS = " \t"  # what HTTP has between words; str.strip() without it takes more
_SEPARATORS = re.compile(r"[, \t]+")


class Claims(NamedTuple):
    """What a request says of its signature."""

    algorithm: str
    credential: str
    signed_headers: str
    signature: str
    timestamp: str  # as sent
    expires: str | None = None  # of a presigned URL; None: signed in the header
    token: str | None = None  # of a session
    presigned: bool = False

    def __repr__(self) -> str:
        return f"<claims of {self.credential}>"  # neither signature nor token


def claims(headers: Mapping[bytes, bytes], query: bytes) -> Claims:
    """Read the Authorization header or, as in presigned URLs, the query. Header names are in Title-Case."""
    header = headers.get(b"Authorization", b"").decode("latin-1").strip(_BLANKS)
    parameters = _parameters(query) if query else {}
    if "X-Amz-Algorithm" in parameters:
        if header:
            raise invalid(
                "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."
            )
        return _from_query(parameters, headers)
    if not header.startswith(_ALGORITHM_PREFIX):
        raise Rejected("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    return _from_header(header, headers)


def _parameters(query: bytes) -> dict[str, str]:
    """The parameters of a query; of those with one name the first counts."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    return dict(reversed(pairs))


def _from_header(header: str, headers: Mapping[bytes, bytes]) -> Claims:
    algorithm, *pairs = (part for part in _SEPARATORS.split(header) if part)
    parameters = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise incomplete(
                "Invalid key=value pair (missing equal-sign) in Authorization header (hashed with SHA-256 and encoded "
                f"with Base64): '{_digest(header)}'."
            )
        parameters[name] = value
    timestamp = (headers.get(b"X-Amz-Date") or headers.get(b"Date") or b"").decode("latin-1").strip(_BLANKS)
    problems = [
        f"Authorization header requires '{name}' parameter."
        for name in _HEADER_PARAMETERS
        if not parameters.get(name)
    ]
    if not timestamp:
        problems.append(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."
        )
    if problems:
        raise incomplete(
            f"{' '.join(problems)} (Hashed with SHA-256 and encoded with Base64) Authorization={_digest(header)}"
        )
    token = headers.get(b"X-Amz-Security-Token")
    return Claims(
        algorithm,
        parameters["Credential"],
        parameters["SignedHeaders"],
        parameters["Signature"],
        timestamp,
        token=None if token is None else token.decode("latin-1").strip(_BLANKS),
    )


def _from_query(parameters: Mapping[str, str], headers: Mapping[bytes, bytes]) -> Claims:
    problems = [
        f"AWS query-string parameters must include '{name}'."
        for name in _QUERY_PARAMETERS
        if not parameters.get(name)
    ]
    if problems:
        raise incomplete(f"{' '.join(problems)} Re-examine the query-string parameters.")
    token = parameters.get("X-Amz-Security-Token")
    if token is None and b"X-Amz-Security-Token" in headers:
        token = headers[b"X-Amz-Security-Token"].decode("latin-1").strip(_BLANKS)
    return Claims(
        parameters["X-Amz-Algorithm"],
        parameters["X-Amz-Credential"],
        parameters["X-Amz-SignedHeaders"],
        parameters["X-Amz-Signature"],
        parameters["X-Amz-Date"],
        expires=parameters.get("X-Amz-Expires", ""),
        token=token,
        presigned=True,
    )


def _digest(header: str) -> str:
    """What is shown of a header: enough for its sender to know it again, and no part of a signature for a log."""
    return b64encode(sha256(header.encode("latin-1")).digest()).decode()
