"""The rows of idempotency tokens: the outcome that belongs to a token, and the index by which old ones expire.

A token row holds when it expires (8 bytes, epoch seconds), the digest of its request (32 bytes), and the size of every
item that the transaction wrote (4 bytes each). For every token row there is an expiry row with an empty value, whose
key begins with the time, so that a scan of the expiry rows meets the oldest tokens first. A token that is used again
after its time gets a second expiry row; the first one must not delete it.
"""

import struct

import msgspec

from hashrange.storage import layout
from hashrange.storage.errors import Corrupt

DIGEST_BYTES = 32
_TIME = struct.Struct(">Q")
_HEAD = struct.Struct(f">Q{DIGEST_BYTES}s")
_SIZE_BYTES = 4


class TokenRow(msgspec.Struct, frozen=True):
    """What the server must know to answer a repeated request."""

    expires_epoch_seconds: int
    digest: bytes  # of the request that the token stood for
    item_sizes: tuple[int, ...]  # that the request was charged for, in its order

    def is_expired(self, now: float) -> bool:
        """Whether the token may stand for another request by now."""
        return self.expires_epoch_seconds <= now


def pack(row: TokenRow) -> bytes:
    """Give the stored form."""
    if len(row.digest) != DIGEST_BYTES:
        raise ValueError(f"a digest has {DIGEST_BYTES} bytes")
    head = _HEAD.pack(row.expires_epoch_seconds, row.digest)
    return head + struct.pack(f">{len(row.item_sizes)}I", *row.item_sizes)


def unpack(stored: bytes) -> TokenRow:
    """Read the stored form."""
    count, rest = divmod(len(stored) - _HEAD.size, _SIZE_BYTES)
    if count < 0 or rest:
        raise Corrupt("the row of an idempotency token is damaged")
    expires, digest = _HEAD.unpack_from(stored)
    return TokenRow(expires, digest, struct.unpack_from(f">{count}I", stored, _HEAD.size))


def token_key(account_id: str, region: str, token: str) -> bytes:
    """The row of a transaction's idempotency token; see `token_rows`."""
    return layout.TOKEN + f"{account_id}\0{region}\0{token}".encode()


def expiry_key(expires_epoch_seconds: int, token_key: bytes) -> bytes:
    """The key of a token's expiry row."""
    return layout.TOKEN_EXPIRY + _TIME.pack(expires_epoch_seconds) + token_key


def unpack_expiry_key(key: bytes) -> tuple[int, bytes]:
    """The time and the token row's key in the key of an expiry row."""
    start = len(layout.TOKEN_EXPIRY)
    (expires,) = _TIME.unpack_from(key, start)
    return expires, key[start + _TIME.size :]


def expired_range(now: float) -> tuple[bytes, bytes]:
    """Where the expiry rows of all tokens that have expired by now begin and end."""
    return layout.TOKEN_EXPIRY, layout.TOKEN_EXPIRY + _TIME.pack(int(now) + 1)
