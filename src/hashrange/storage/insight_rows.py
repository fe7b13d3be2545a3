"""The rows of Contributor Insights: the heaviest keys of every minute, of every worker; readers add them up.

A worker writes the row of a minute again and again while the minute lasts, each time with all that it knows of it.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from hashrange.capacity.heavy_hitters import Summary
from hashrange.capacity.key_sketches import RULES, Rule, Sketched
from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction

KEPT_SECONDS = 24 * 3600
_COUNTERS = 50  # of a row; a report shows 25 keys at most
_MINUTE_BYTES = 8
_PREFIX_BYTES = 8

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Summary).decode


def packed(summary: Summary) -> bytes:
    """The value of a row."""
    return _encode(summary.heaviest(_COUNTERS))


def write(tx: Transaction, worker: bytes, rows: Sequence[tuple[Sketched, bytes]]) -> None:
    """Write a worker's rows, in place of what it wrote before."""
    for sketched, value in rows:
        tx.put(_prefix(sketched) + sketched.minute.to_bytes(_MINUTE_BYTES, "big") + worker, value)


def _prefix(sketched: Sketched) -> bytes:
    return layout.insights_prefix(sketched.table_number, sketched.slot, RULES.index(sketched.rule))


def read(
    reader: Reader, table_number: int, slot: int, rule: Rule, start: int, end: int
) -> Iterator[tuple[int, Summary]]:
    """The summaries of the minutes from `start` to before `end`; as many of a minute as workers saw keys in it."""
    prefix = layout.insights_prefix(table_number, slot, RULES.index(rule))
    first, behind = (prefix + max(0, moment).to_bytes(_MINUTE_BYTES, "big") for moment in (start, end))
    for key, value in reader.scan(first, behind):
        yield int.from_bytes(key[len(prefix) : len(prefix) + _MINUTE_BYTES], "big"), _decode(value)


def old_rows(reader: Reader, now: float, most: int) -> list[bytes]:
    """Keys of rows that are older than a day; those of deleted tables grow old like all others."""
    oldest = max(0, int(now) - KEPT_SECONDS).to_bytes(_MINUTE_BYTES, "big")
    keys: list[bytes] = []
    start, end = layout.INSIGHT, encoding.prefix_end(layout.INSIGHT)
    while len(keys) < most:
        first = next((key for key, _ in reader.scan(start, end, limit=1)), None)
        if first is None:
            break
        prefix = first[:_PREFIX_BYTES]
        rows = reader.scan(prefix, prefix + oldest)
        keys += [key for key, _ in islice(rows, most - len(keys))]
        start = encoding.prefix_end(prefix)
    return keys
