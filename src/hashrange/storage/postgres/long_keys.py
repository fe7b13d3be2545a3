"""Keys that are too long for an index of PostgreSQL's, which takes 2,704 bytes of a row at most.

A key of `HEAD_BYTES` or more is split. Its first bytes, the head, are a row of their own in `rows`, with an
empty value: it stands for all keys that begin with it, and whoever reads or writes one of them locks it. It goes
with the last of them.
The values are in `long_rows`, by head and digest of the rest. So a head sorts where its keys do, and is what
locks and scans meet; all else knows only short keys.
"""

import hashlib
from collections.abc import Callable, Iterator

from psycopg.pq.abc import PGresult

from hashrange.storage.postgres import statements
from hashrange.storage.postgres.arrays import int8
from hashrange.storage.postgres.pipeline import Call

HEAD_BYTES = 2000
_PAGE_ROWS = 50

Row = tuple[bytes, bytes]


def is_long(key: bytes) -> bool:
    """Whether a key has to be split."""
    return len(key) >= HEAD_BYTES


def head_of(key: bytes) -> bytes:
    """What stands for the key in `rows`: a short key is its own head."""
    return key[:HEAD_BYTES]


def first_head(start: bytes) -> bytes:
    """Where a range begins among heads."""
    return start[:HEAD_BYTES]


def get_call(key: bytes) -> Call:
    """Read the value of a long key."""
    return Call(statements.LONG_GET, (key[:HEAD_BYTES], _digest(key)))


def put_call(key: bytes, value: bytes) -> Call:
    """Write the value of a long key; its head must be locked."""
    return Call(statements.LONG_PUT, (key[:HEAD_BYTES], _digest(key), key[HEAD_BYTES:], value))


def delete_call(key: bytes) -> Call:
    """Remove a long key; its head must be locked."""
    return Call(statements.LONG_DELETE, (key[:HEAD_BYTES], _digest(key)))


def drop_head_call(head: bytes) -> Call:
    """Remove a head that stands for no key any more; it must be locked, so that no key can come up meanwhile."""
    return Call(statements.LONG_DROP_HEAD, (head,))


def group(
    run: Callable[[Call], PGresult], head: bytes, start: bytes, end: bytes, *, reverse: bool
) -> Iterator[Row]:
    """Give the rows of a range whose keys have this head."""
    name = statements.LONG_SCAN_REVERSE if reverse else statements.LONG_SCAN
    if reverse:
        bound = end[HEAD_BYTES:] if end.startswith(head) else None
    else:
        bound = start[HEAD_BYTES:] if start.startswith(head) else b""
    while True:
        page = run(Call(name, (head, bound, int8(_PAGE_ROWS))))
        for number in range(page.ntuples):
            tail = page.get_value(number, 0) or b""
            key = head + tail
            if not start <= key < end:
                return
            yield key, page.get_value(number, 1) or b""
            bound = tail if reverse else tail + b"\0"
        if page.ntuples < _PAGE_ROWS:
            return


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key[HEAD_BYTES:]).digest()
