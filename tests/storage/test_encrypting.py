"""Encrypted rows: whose data key they are under, and what becomes of keys whose commit failed."""

import pytest

from hashrange.core.keys.encoding import prefix_end
from hashrange.kms.wrapping import Wrapping
from hashrange.storage import layout
from hashrange.storage.data_keys import STORE, DataKeys, number_of
from hashrange.storage.encrypting import EncryptedEngine, open_encrypted
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.errors import DamagedRow
from hashrange.storage.sqlite import MemoryEngine

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
        layout.log_head_key(7, 1),
        layout.log_shard_key(7, 1),
        layout.backfill_key(7, 0),
        layout.PAST + ROW + bytes(8),
    ):
        assert number_of(key) == table
    for key in (layout.CATALOGUE + b"a", layout.TOKEN + b"t", layout.PAST, layout.JOB + b"x"):
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
