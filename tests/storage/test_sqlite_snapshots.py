"""A reader goes on with its snapshot while nothing is committed, and never sees less than what is."""

from pathlib import Path
from typing import cast

import apsw
import pytest

from hashrange.storage.engine import Reader
from hashrange.storage.sqlite import SqliteEngine, cache_sizes, checkpoint
from hashrange.storage.sqlite.reader import SnapshotReader


def _put(engine: SqliteEngine, key: bytes, value: bytes) -> None:
    engine.write(lambda tx: tx.put(key, value))


def test_every_read_sees_every_commit_before_it(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    for number in range(200):
        _put(engine, b"k", b"%d" % number)
        for _ in range(number % 4):  # the second and later reads go on with the first one's snapshot
            assert engine.read(lambda reader: reader.get(b"k")) == b"%d" % number
            rows = engine.read(lambda reader: list(reader.scan(b"a", b"z")))
            assert rows == [(b"k", b"%d" % number)]
    engine.close()


@pytest.mark.slow
def test_a_kept_snapshot_does_not_keep_the_log_from_starting_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "LOG_PAGES_START", 4000)
    engine = SqliteEngine.open(tmp_path)
    log = tmp_path / "hashrange.db-wal"
    most = 0
    for number in range(400):
        _put(engine, b"k%d" % (number % 7), bytes([number % 256]) * 500_000)
        engine.read(lambda reader: reader.get(b"k"))
        engine.read(lambda reader: reader.get(b"k"))
        most = max(most, log.stat().st_size)
    engine.close()
    # 200 MB were written; the log may grow to twice its threshold of 32 MB and a commit more.
    assert most < 80 * 1024 * 1024


def test_an_idle_reader_lets_go_of_its_snapshot(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    _put(engine, b"k", b"v")
    for _ in range(3):
        engine.read(lambda reader: reader.get(b"k"))
    engine._release_snapshots(False)
    engine._release_snapshots(False)
    other = apsw.Connection(str(tmp_path / "hashrange.db"))
    assert other.execute("SELECT count(*) FROM rows").get == 1
    # It would raise BusyError if a reader still needed the log.
    other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    assert (tmp_path / "hashrange.db-wal").stat().st_size == 0
    other.close()
    assert engine.read(lambda reader: reader.get(b"k")) == b"v"
    engine.close()


def test_every_reader_has_its_share_of_the_caches(tmp_path: Path) -> None:
    def cache_kib(reader: Reader) -> int:
        kib: int = cast("SnapshotReader", reader)._connection.execute("PRAGMA cache_size").get
        return -kib

    engine = SqliteEngine.open(tmp_path)
    nested = engine.read(lambda reader: (cache_kib(reader), engine.read(cache_kib)))
    engine.close()
    assert nested == (cache_sizes.DEFAULT.reader_kib, cache_sizes.DEFAULT.reader_kib)
