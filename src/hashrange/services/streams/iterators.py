"""Shard iterators: a place in a shard and the time it was given out, signed, so that only the server can make one.

They say everything themselves and are signed with a secret that is stored with the stream. So they outlive a restart,
and every server on the same data takes them.
"""

import base64
import hmac
from hashlib import blake2b
from struct import Struct

import msgspec

from hashrange.api import errors
from hashrange.api.errors import ApiError
from hashrange.core.limits import SHARD_ITERATOR_SECONDS
from hashrange.services.streams import arns
from hashrange.services.streams.arns import StreamName
from hashrange.storage.stream_rows import Stream

_VERSION = "1"
_FIELDS = Struct(">?IQQ")
_SIGNATURE_BYTES = 16
_MILLISECONDS = 1000
_EXPIRED = (
    "The shard iterator has expired and can no longer be used to retrieve stream records for the shard. "
    "A shard iterator expires 15 minutes after it is retrieved using the GetShardIterator action."
)


class ShardIterator(msgspec.Struct, frozen=True):
    """What an iterator says."""

    shard: int
    position: int
    issued_ms: int
    from_horizon: bool = False  # from the oldest record that there is when it is used, whatever the position

    def is_expired(self, now: float) -> bool:
        """Whether it was given out too long ago."""
        return now * _MILLISECONDS > self.issued_ms + SHARD_ITERATOR_SECONDS * _MILLISECONDS


def issue(stream: Stream, shard: int, position: int, now: float, *, from_horizon: bool = False) -> str:
    """The text of an iterator that is given out now."""
    fields = _FIELDS.pack(from_horizon, shard, position, int(now * _MILLISECONDS))
    content = base64.b64encode(fields + _signature(stream, fields)).decode("ascii")
    return f"{stream.arn}|{_VERSION}|{content}"


def stream_arn(text: str) -> str:
    """The ARN of the stream that an iterator says it belongs to."""
    return text.partition("|")[0]


class Unverified(msgspec.Struct, frozen=True):
    """An iterator as a client has sent it: the stream has the secret that tells whether it is a real one."""

    stream: StreamName
    fields: bytes
    signature: bytes

    def verified(self, stream: Stream) -> ShardIterator:
        """What the iterator says, if the server has made it."""
        if not hmac.compare_digest(self.signature, _signature(stream, self.fields)):
            raise _invalid()
        from_horizon, shard, position, issued_ms = _FIELDS.unpack(self.fields)
        return ShardIterator(shard, position, issued_ms, from_horizon)


def parse(text: str) -> Unverified:
    """Take the text of an iterator apart; ValidationException if it is none."""
    arn, _, rest = text.partition("|")
    version, _, content = rest.partition("|")
    try:
        sent = base64.b64decode(content, validate=True)
        name = arns.parse(arn)
    except (ValueError, ApiError):
        raise _invalid() from None
    if version != _VERSION or len(sent) != _FIELDS.size + _SIGNATURE_BYTES:
        raise _invalid()
    return Unverified(name, sent[: _FIELDS.size], sent[_FIELDS.size :])


def expired() -> ApiError:
    """ExpiredIteratorException."""
    return ApiError("ExpiredIteratorException", _EXPIRED)


def _invalid() -> ApiError:
    return errors.validation("Invalid ShardIterator")


def _signature(stream: Stream, fields: bytes) -> bytes:
    return blake2b(
        stream.arn.encode() + fields,
        key=stream.secret,
        digest_size=_SIGNATURE_BYTES,
        person=b"shard-iterator",
    ).digest()
