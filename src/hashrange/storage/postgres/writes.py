"""The writes of a batch as a few statements."""

import msgspec

from hashrange.storage.postgres import counters, long_keys, statements
from hashrange.storage.postgres.arrays import bytea_array
from hashrange.storage.postgres.overlay import RangeOverlay
from hashrange.storage.postgres.pipeline import Call


class Writes(msgspec.Struct):
    """Rows by what is to be done with them."""

    inserts: dict[bytes, bytes] = msgspec.field(default_factory=dict)  # known to be missing: must still be
    holds: set[bytes] = msgspec.field(
        default_factory=set
    )  # to be deleted, and nobody knows if they are there
    puts: dict[bytes, bytes] = msgspec.field(default_factory=dict)
    deletes: set[bytes] = msgspec.field(default_factory=set)
    long: list[Call] = msgspec.field(default_factory=list)


def sort_out(overlay: RangeOverlay) -> Writes:
    """What the batch's writes come to."""
    todo = Writes()
    heads: set[bytes] = set()  # of long keys
    for key, value in overlay.accepted.items():
        if long_keys.is_long(key):
            heads.add(head := long_keys.head_of(key))
            todo.puts[head] = b""
            todo.long.append(long_keys.delete_call(key) if value is None else long_keys.put_call(key, value))
        elif value is None:
            todo.deletes.add(key)
        else:
            todo.puts[key] = value
    kept = {long_keys.head_of(key) for key, value in overlay.accepted.items() if value is not None}
    todo.long += [long_keys.drop_head_call(head) for head in sorted(heads - kept)]
    return todo


def calls(todo: Writes, overlay: RangeOverlay, shard: int) -> list[Call]:
    """The statements; first those that may have to wait for others, each in key order."""
    statement_calls = []
    if todo.inserts:
        statement_calls.append(_write_call(statements.INSERT, todo.inserts))
    if todo.holds:
        statement_calls.append(Call(statements.HOLD, (bytea_array(sorted(todo.holds)),)))
    if todo.puts:
        statement_calls.append(_write_call(statements.PUT, todo.puts))
    if todo.deletes:
        statement_calls.append(Call(statements.DELETE, (bytea_array(sorted(todo.deletes)),)))
    statement_calls += todo.long
    adds = dict(sorted(overlay.totals().items()))
    if adds:
        statement_calls.append(counters.add_call(adds, shard))
    return statement_calls


def _write_call(name: bytes, rows: dict[bytes, bytes]) -> Call:
    keys = sorted(rows)
    return Call(name, (bytea_array(keys), bytea_array([rows[key] for key in keys])))
