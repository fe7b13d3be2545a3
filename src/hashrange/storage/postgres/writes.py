"""The end of a transaction: its writes as a few statements, the last look at what it scanned, the commit."""

from collections.abc import Iterator

import msgspec
from psycopg.pq.abc import PGresult

from hashrange.storage.postgres import long_keys, statements
from hashrange.storage.postgres.arrays import bytea_array, int4, int8_array
from hashrange.storage.postgres.faults import Refused
from hashrange.storage.postgres.link import Call
from hashrange.storage.postgres.transaction import Scanned, WriteTransaction

COMMIT_CALL = Call(statements.COMMIT)
_CHANGED = "40001"


class Writes(msgspec.Struct):
    """Rows by what is to be done with them."""

    inserts: dict[bytes, bytes] = msgspec.field(default_factory=dict)  # known to be missing: must still be
    puts: dict[bytes, bytes] = msgspec.field(default_factory=dict)
    deletes: set[bytes] = msgspec.field(default_factory=set)
    long: list[Call] = msgspec.field(default_factory=list)
    alone: bool = False  # writes a row that everyone reads


def sort_out(tx: WriteTransaction) -> Writes:
    """What the batch's writes and its guarded rows come to."""
    writes = Writes()
    for key, value in tx.overlay.accepted.items():
        if key.startswith(tx.read_mostly):
            writes.alone = True
        if long_keys.is_long(key):
            _add_long(tx, writes, key, value)
        elif value is None:
            _add_delete(tx, writes, key)
        elif _is_missing(tx, key):
            writes.inserts[key] = value
        else:
            writes.puts[key] = value
    kept = {long_keys.head_of(key) for key, value in tx.overlay.accepted.items() if value is not None}
    for head in tx.overlay.accepted_emptied - kept:
        writes.puts.pop(head, None)
        writes.deletes.add(head)
    for key in tx.guarded:
        if key not in writes.inserts and key not in writes.puts:
            writes.inserts[key] = b""
            writes.deletes.add(key)
    return writes


def _add_delete(tx: WriteTransaction, writes: Writes, key: bytes) -> None:
    if tx.stored.get(key, b"") is None:
        # Nothing to remove, as long as nobody puts something there.
        tx.guarded.add(key)
    else:
        writes.deletes.add(key)


def _add_long(tx: WriteTransaction, writes: Writes, key: bytes, value: bytes | None) -> None:
    head = long_keys.head_of(key)
    (writes.inserts if _is_missing(tx, head) else writes.puts)[head] = b""
    writes.long.append(long_keys.delete_call(key) if value is None else long_keys.put_call(key, value))


def _is_missing(tx: WriteTransaction, key: bytes) -> bool:
    """Whether a step has seen that there is no such row."""
    if key in tx.stored:
        return tx.stored[key] is None
    return any(seen.start <= key < seen.end and key not in seen.rows for seen in tx.scanned)


def calls(tx: WriteTransaction, writes: Writes, shard: int) -> list[Call]:
    """The statements; first those that may have to wait for others, each in key order."""
    found = [Call(statements.FENCE_ALONE)] if writes.alone else []
    for name, rows in ((statements.INSERT, writes.inserts), (statements.PUT, writes.puts)):
        if rows:
            keys = sorted(rows)
            found.append(Call(name, (bytea_array(keys), bytea_array([rows[key] for key in keys]))))
    if writes.deletes:
        found.append(Call(statements.DELETE, (bytea_array(sorted(writes.deletes)),)))
    found += writes.long
    adds = {key: amount for key, amount in sorted(tx.overlay.accepted_adds.items()) if amount}
    if adds:
        amounts = int8_array(list(adds.values()))
        found.append(Call(statements.ADD, (bytea_array(list(adds)), int4(shard), amounts)))
    return found


def confirm(tx: WriteTransaction, writes: Writes, todo: list[Call]) -> None:
    """Write, and see that the ranges which were read are still the same apart from these writes."""
    written = writes.inserts.keys() | writes.puts.keys() | writes.deletes
    seen = {key: digest for each in tx.scanned for key, digest in each.rows.items()}
    both = sorted(written & seen.keys())
    if both:
        _expect_unchanged(seen, both, tx.run([Call(statements.LOCK_DIGESTS, (bytea_array(both),))])[0])
    looks = [Call(statements.DIGESTS, (long_keys.first_head(each.start), each.end)) for each in tx.scanned]
    results = tx.run([*todo, *looks])[len(todo) :]
    for each, result in zip(tx.scanned, results, strict=True):
        _expect_same(tx, each, result, written)


def _expect_unchanged(seen: dict[bytes, bytes | None], keys: list[bytes], rows: PGresult) -> None:
    found = dict(_digests(rows))
    if any(key not in found or seen[key] not in (None, found[key]) for key in keys):
        raise Refused(_CHANGED, "a scanned row has changed")


def _expect_same(tx: WriteTransaction, seen: Scanned, rows: PGresult, written: set[bytes]) -> None:
    expected = {key: digest for key, digest in seen.rows.items() if key not in written}
    for key, digest in _digests(rows):
        if long_keys.is_long(key):
            if key not in tx.stored and key not in written:
                raise Refused(_CHANGED, "a long key has come into a scanned range")
        elif key not in written and expected.pop(key, b"") not in (None, digest):
            raise Refused(_CHANGED, "a row has come into a scanned range, or has changed")
    if any(not long_keys.is_long(key) for key in expected):
        raise Refused(_CHANGED, "a row has gone from a scanned range")


def _digests(rows: PGresult) -> Iterator[tuple[bytes, bytes]]:
    for number in range(rows.ntuples):
        yield rows.get_value(number, 0) or b"", bytes.fromhex((rows.get_value(number, 1) or b"").decode())
