"""Requests like others before them: one client's on one day differ in their body, their time and their signature only.

Everything else of a request that was verified is kept, by its Authorization header up to the signature. This way only
ever accepts. Whatever it does not accept, for whichever reason, `Verifier` looks at, and finds the words for it.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest
from operator import itemgetter

from hashrange.auth.signature.claims import ALGORITHM
from hashrange.auth.signature.rejection import Rejected
from hashrange.auth.signature.scope import TERMINATOR, signed_at
from hashrange.auth.signature.verifier import SKEW_SECONDS, Directory, Verified

_SIGNATURE = b"Signature="
_SIGNATURE_CHARS = 64
_BLOCK_BYTES = 64
_INNER = bytes(byte ^ 0x36 for byte in range(256))  # RFC 2104
_OUTER = bytes(byte ^ 0x5C for byte in range(256))
_KNOWN_MAX = 4096
_EMPTY = sha256()  # to copy, which spares OpenSSL the search for the algorithm


class _Known:
    """What all requests with the same beginning of an Authorization header have in common."""

    __slots__ = (
        "access_key",
        "canonical",
        "credential",
        "date",
        "expires_at",
        "inner",
        "outer",
        "scope",
        "service",
        "signed_values",
        "signs_target",
        "token",
        "token_sent",
        "verified",
    )

    def __init__(self, verified: Verified, headers: Mapping[bytes, bytes]) -> None:
        scope, names = verified.scope, verified.signed_headers
        self.verified = verified
        self.credential = verified.credential
        self.expires_at = verified.credential.expires_at
        self.access_key = scope.access_key
        self.service = scope.service
        self.date = scope.date.encode()
        self.token = verified.claims.token
        self.token_sent = None if self.token is None else self.token.encode("latin-1")
        self.signed_values = _getter([_spelled(name.encode("latin-1"), headers) for name in names])
        self.signs_target = "x-amz-target" in names
        lines = "".join(f"{_escaped(name)}:%b\n" for name in names)
        self.canonical = f"POST\n/\n\n{lines}\n{_escaped(';'.join(names))}\n%b".encode("latin-1")
        self.scope = f"{scope.date}/{scope.region}/{scope.service}/{TERMINATOR}\n".encode()
        # HMAC with the key's half of the work done: hmac.digest takes twice as long.
        block = verified.key.ljust(_BLOCK_BYTES, b"\0")
        self.inner = sha256(block.translate(_INNER) + ALGORITHM.encode() + b"\n")
        self.outer = sha256(block.translate(_OUTER))

    def __repr__(self) -> str:
        return f"<requests of {self.access_key}>"  # the hashes are as secret as the key


class Repeats:
    """Accepts what is signed like something that was accepted before."""

    def __init__(self, directory: Directory, *, skew_seconds: int = SKEW_SECONDS) -> None:
        self._credential = directory.credential
        self._skew_seconds = skew_seconds
        self._known: dict[bytes, _Known] = {}
        self._moment = (
            b"",
            0.0,
        )  # the last timestamp, and what it means: most requests of a second have the same

    def verified(
        self, headers: Mapping[bytes, bytes], body: bytes | bytearray, service: str, now: float
    ) -> Verified | None:
        """Who has signed a POST to / without a query, none of whose headers was sent twice; None: ask the verifier."""
        authorization = headers.get(b"Authorization", b"")
        known = self._known.get(authorization[:-_SIGNATURE_CHARS])
        timestamp = headers.get(b"X-Amz-Date")
        if (
            known is None
            or timestamp is None
            or known.service != service
            or not timestamp.startswith(known.date)
            or headers.get(b"X-Amz-Security-Token") != known.token_sent
            or not (known.signs_target or b"X-Amz-Target" not in headers)
        ):
            return None
        credential = known.credential
        if (
            self._credential(known.access_key, known.token) is not credential
            or not credential.is_active
            or (known.expires_at is not None and now >= known.expires_at)
            or not -self._skew_seconds <= self._seconds(timestamp) - now <= self._skew_seconds
        ):
            return None
        try:
            # As they are: nearly nobody sends blanks that are not signed, and who does is left to the verifier.
            values = known.signed_values(headers)
        except KeyError:
            return None
        hashed = _EMPTY.copy()
        hashed.update(body)
        canonical = known.canonical % (*values, hashed.hexdigest().encode())
        inner, outer = known.inner.copy(), known.outer.copy()
        inner.update(b"%b\n%b%b" % (timestamp, known.scope, sha256(canonical).hexdigest().encode()))
        outer.update(inner.digest())
        # As bytes: a header may have others than those of ASCII, which text may not be compared with.
        is_right = compare_digest(outer.hexdigest().encode(), authorization[-_SIGNATURE_CHARS:])
        return known.verified if is_right else None

    def remember(self, headers: Mapping[bytes, bytes], verified: Verified) -> None:
        """Keep what a request that was verified has in common with others of its client."""
        authorization = headers.get(b"Authorization", b"")
        beginning, signature = authorization[:-_SIGNATURE_CHARS], authorization[-_SIGNATURE_CHARS:]
        claimed = verified.claims
        if (
            claimed.presigned
            or not beginning.endswith((b" " + _SIGNATURE, b"," + _SIGNATURE))
            or signature != claimed.signature.encode("latin-1")
            or not all(name.isascii() for name in verified.signed_headers)
        ):
            return
        if len(self._known) >= _KNOWN_MAX:
            self._known.clear()
        self._known[beginning] = _Known(verified, headers)

    def _seconds(self, timestamp: bytes) -> float:
        sent, seconds = self._moment
        if sent == timestamp:
            return seconds
        try:
            moment = signed_at(timestamp.decode("latin-1"))
        except Rejected:
            return float("-inf")
        if moment.text.encode() != timestamp:
            return float("-inf")  # the extended form, of which another one is signed
        self._moment = timestamp, moment.seconds
        return moment.seconds


def _spelled(name: bytes, headers: Mapping[bytes, bytes]) -> bytes:
    """How the name of a signed header stands among the headers: in Title-Case, or as SDKs spell it."""
    return name if name in headers else name.title()


def _getter(names: Sequence[bytes]) -> Callable[[Mapping[bytes, bytes]], tuple[bytes, ...]]:
    """What takes the values of these headers, and raises `KeyError` where one is missing."""
    if len(names) == 1:
        return lambda headers: (headers[names[0]],)
    return itemgetter(*names)


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
