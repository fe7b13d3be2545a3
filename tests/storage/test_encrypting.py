"""Encrypted rows: whose data key they are under, and what becomes of keys whose commit failed."""

from functools import partial
from pathlib import Path

import pytest

from hashrange.core.keys.encoding import prefix_end
from hashrange.kms.wrapping import Wrapping
from hashrange.storage import layout, past
from hashrange.storage.data_keys import STORE, DataKeys, number_of
from hashrange.storage.encrypting import EncryptedEngine, open_encrypted
from hashrange.storage.engine import Engine, Joined, Reader, Transaction
from hashrange.storage.errors import DamagedRow
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine

ROOT = Wrapping(bytes(32))
ROW = layout.rows_prefix(7, 0) + b"key"


class Boom(Exception):
    """A step has failed."""


def opened(engine: Engine, root: Wrapping = ROOT) -> EncryptedEngine:
    encrypted = open_encrypted(engine, DataKeys(root))
    assert isinstance(encrypted, EncryptedEngine)
    return encrypted


def data_keys(engine: Engine) -> list[bytes]:
    """The numbers that have a data key."""
    keys = engine.read(lambda reader: list(reader.scan(layout.DATA_KEY, prefix_end(layout.DATA_KEY))))
    return [key.removeprefix(layout.DATA_KEY) for key, _ in keys]


def test_a_table_gets_its_key_with_its_first_row() -> None:
    base = MemoryEngine()
    engine = opened(base)
    assert data_keys(base) == [STORE]
    engine.write(lambda tx: tx.put(ROW, b"value"))
    assert data_keys(base) == [STORE, b"\0\0\0\7"]
    stored = base.read(lambda reader: reader.get(ROW))
    assert stored is not None
    assert b"value" not in stored
    assert opened(base).read(lambda reader: reader.get(ROW)) == b"value"


def test_a_key_whose_step_failed_is_not_used_again() -> None:
    base = MemoryEngine()
    engine = opened(base)

    def fail(tx: Transaction) -> None:
        tx.put(ROW, b"lost")
        raise Boom

    with pytest.raises(Boom):
        engine.write(fail)
    assert data_keys(base) == [STORE]
    engine.write(lambda tx: tx.put(ROW, b"value"))
    assert opened(base).read(lambda reader: reader.get(ROW)) == b"value"


def test_rows_are_under_the_key_of_their_table() -> None:
    table = b"\0\0\0\7"
    for key in (
        ROW,
        layout.log_prefix(7, 1) + bytes(8),
    ):
        assert number_of(key) == table
    for key in (
        layout.log_head_key(7, 1),
        layout.backfill_key(7, 0),
        layout.CATALOGUE + b"a",
        layout.TOKEN + b"t",
        past.past_key(ROW, 8),
        layout.JOB + b"x",
    ):
        assert number_of(key) == STORE


def test_a_table_that_has_lost_its_key_is_damaged_and_is_not_given_another() -> None:
    base = MemoryEngine()
    opened(base).write(lambda tx: tx.put(ROW, b"value"))
    base.write(lambda tx: tx.delete(layout.DATA_KEY + b"\0\0\0\7"))
    with pytest.raises(DamagedRow):
        opened(base).read(lambda reader: reader.get(ROW))
    with pytest.raises(DamagedRow):
        opened(base).write(lambda tx: tx.put(ROW, b"value"))


def test_a_data_key_of_another_table_does_not_fit() -> None:
    base = MemoryEngine()
    engine = opened(base)
    other = layout.rows_prefix(8, 0) + b"key"
    engine.write(lambda tx: (tx.put(ROW, b"seven"), tx.put(other, b"eight")))

    def exchange(tx: Transaction) -> None:
        wrapped = tx.get(layout.DATA_KEY + b"\0\0\0\7")
        assert wrapped is not None
        tx.put(layout.DATA_KEY + b"\0\0\0\x08", wrapped)

    base.write(exchange)
    with pytest.raises(DamagedRow):
        opened(base).read(lambda reader: reader.get(other))


def test_another_root_key_opens_nothing() -> None:
    base = MemoryEngine()
    opened(base)
    with pytest.raises(DamagedRow):
        opened(base, Wrapping(b"\1" * 32))


def test_data_that_was_begun_in_the_clear_stays_so() -> None:
    base = MemoryEngine()
    base.write(lambda tx: tx.put(ROW, b"value"))
    assert open_encrypted(base, DataKeys(ROOT)) is None
    assert data_keys(base) == []


def test_a_plain_row_slipped_in_is_damaged() -> None:
    base = MemoryEngine()
    engine = opened(base)
    engine.write(lambda tx: tx.put(ROW, b"value"))
    base.write(lambda tx: tx.put(ROW, b'{"pk":{"S":"forged"}}' + bytes(40)))
    with pytest.raises(DamagedRow):
        engine.read(lambda reader: reader.get(ROW))


def test_clearing_everything_leaves_the_keys() -> None:
    base = MemoryEngine()
    engine = opened(base)
    engine.write(lambda tx: tx.put(ROW, b"value"))
    assert engine.write(lambda tx: tx.clear(b"", b"\xff", limit=10)) == 1
    assert data_keys(base) == [STORE, b"\0\0\0\7"]


@pytest.mark.parametrize("reverse", [False, True])
def test_joined_rows_are_those_of_a_scan(tmp_path: Path, reverse: bool) -> None:
    base = SqliteEngine.open(tmp_path / "data")
    prefix = layout.rows_prefix(7, 0)
    start, end = prefix + b"b", prefix + b"d"
    # Each opening writes with a salt of its own.
    for name in (b"a", b"b", b"c", b"d"):
        engine = opened(base)
        for number in range(4):
            value = b"h" * 4 + b"x" * number + name
            engine.write(partial(put, prefix + name + bytes([number]), value))

    def joined(reader: Reader) -> Joined | None:
        assert reader.joined is not None
        return reader.joined(start, end, head=4, limit=6, reverse=reverse)

    rows = engine.read(lambda reader: list(reader.scan(start, end, reverse=reverse, limit=6)))
    expected = Joined(6, rows[-1][0], b"hhhh" * 6, b",".join(value[4:] for _, value in rows))
    assert engine.read(joined) == expected
    engine.write(partial(put, rows[1][0], b"l" * 70_000))
    assert engine.read(joined) is None
    base.write(partial(put, rows[1][0], base.read(lambda reader: reader.get(rows[0][0])) or b""))
    assert engine.read(joined) is None
    with pytest.raises(DamagedRow):
        engine.read(lambda reader: list(reader.scan(start, end, reverse=reverse)))
    base.write(partial(put, rows[1][0], b""))
    assert engine.read(joined) is None
    empty = engine.read(lambda reader: reader.joined and reader.joined(end, end, head=4, limit=6))
    assert empty == Joined(0, b"", b"", b"")
    engine.close()


def put(key: bytes, value: bytes, tx: Transaction) -> None:
    tx.put(key, value)
