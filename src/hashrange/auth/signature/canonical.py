"""The canonical request: the one spelling of a request that both sides sign."""

from collections.abc import Sequence
from hashlib import sha256
from urllib.parse import quote, unquote_to_bytes

Fields = Sequence[tuple[bytes, bytes]]

_UNRESERVED = "-_.~"


def canonical_request(
    method: bytes,
    path: bytes,
    query: bytes,
    fields: Fields,
    signed_headers: Sequence[str],
    body: bytes | bytearray,
) -> bytes:
    """The canonical request, over the bytes that came.

    `fields` are all headers; `signed_headers` are sorted and in lower case.
    """
    values = _joined(fields, signed_headers)
    lines = [f"{name}:{values.get(name, '')}\n" for name in signed_headers]
    text = "\n".join(
        [
            method.decode("latin-1"),
            canonical_path(path),
            canonical_query(query),
            "".join(lines),
            ";".join(signed_headers),
            sha256(body).hexdigest(),
        ]
    )
    # Names from a query may have any character; those that no header has cannot have been sent.
    return text.encode("latin-1", "xmlcharrefreplace")


def _joined(fields: Fields, names: Sequence[str]) -> dict[str, str]:
    """The values of headers by lower-case name; those of a header that was sent several times in their order."""
    wanted = set(names)
    joined: dict[str, str] = {}
    for sent, value in fields:
        name = sent.decode("latin-1").lower()
        if name in wanted:
            text = b" ".join(value.split()).decode("latin-1")
            joined[name] = f"{joined[name]},{text}" if name in joined else text
    return joined


def canonical_path(path: bytes) -> str:
    """The path without dots and empty segments, each segment encoded once more than it was sent."""
    if path in {b"/", b""}:
        return "/"
    segments: list[bytes] = []
    for segment in path.split(b"/"):
        if segment == b"..":
            if segments:
                segments.pop()
        elif segment not in {b"", b"."}:
            segments.append(segment)
    encoded = "/" + "/".join(quote(segment, safe="~") for segment in segments)
    return encoded + "/" if path.endswith(b"/") and segments else encoded


def canonical_query(query: bytes) -> str:
    """The parameters in order, encoded in one way; without the signature."""
    if not query:
        return ""
    pairs = []
    for part in query.split(b"&"):
        if not part:
            continue
        name, _, value = part.partition(b"=")
        pair = _encoded(name), _encoded(value)
        if pair[0] != "X-Amz-Signature":
            pairs.append(pair)
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def _encoded(sent: bytes) -> str:
    return quote(unquote_to_bytes(sent.replace(b"+", b" ")), safe=_UNRESERVED)
