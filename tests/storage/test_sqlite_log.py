"""The write-ahead log: short under load, empty when idle, gone when closed."""

import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hashrange.storage import layout
from hashrange.storage.engine import Reader
from hashrange.storage.sqlite import SqliteEngine, checkpoint
from hashrange.storage.sqlite.checkpoint import Checkpointer
from hashrange.storage.sqlite.schema import BUSY_TIMEOUT_MS, PAGE_BYTES

START = 100


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "LOG_PAGES_START", START)
    monkeypatch.setattr(checkpoint, "WRITER_WAIT_SECONDS_MAX", 0.02)
    monkeypatch.setattr(checkpoint, "IDLE_SECONDS", 0.1)
    monkeypatch.setattr(checkpoint, "KEPT_SECONDS", 0.1)


def log_pages(directory: Path) -> int:
    return (directory / "data" / "hashrange.db-wal").stat().st_size // PAGE_BYTES


def write_commits(engine: SqliteEngine, count: int, first: int = 0) -> None:
    """Each commit changes several pages."""
    for number in range(first, first + count):
        engine.write(
            lambda tx, number=number: [
                tx.put(b"%05d" % (number * step % 997), b"%d" % number * 300) for step in (1, 31, 57)
            ]
        )


def eventually(true: Callable[[], bool], seconds: float = 60) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.02)
    return False


def test_an_idle_log_keeps_its_space_for_a_while_and_starts_over(
    sqlite: SqliteEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "KEPT_SECONDS", 1e9)
    monkeypatch.setattr(checkpoint, "KEPT_PAGES", 10)
    write_commits(sqlite, 20)
    before = log_pages(tmp_path)
    assert eventually(lambda: 0 < sqlite._commit_version.log_pages() < 3)
    write_commits(sqlite, 1, 5000)
    assert 0 < sqlite._commit_version.log_pages() < 10
    assert log_pages(tmp_path) == before
    monkeypatch.setattr(checkpoint, "KEPT_SECONDS", 0.1)
    assert eventually(lambda: log_pages(tmp_path) == 0)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_of_an_idle_log_nothing_old_counts(
    sqlite: SqliteEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    """It has been copied: somebody who cuts a part of it off must not bring an older state back."""
    monkeypatch.setattr(checkpoint, "KEPT_SECONDS", 1e9)
    monkeypatch.setattr(checkpoint, "KEPT_PAGES", 10)
    for value in (b"one", b"two"):
        for number in range(30):
            sqlite.write(lambda tx, number=number, value=value: tx.put(b"%d" % number, value * 500))
    assert eventually(lambda: 0 < sqlite._commit_version.log_pages() < 3)
    copy = shutil.copytree(tmp_path / "data", tmp_path / "copy")
    log = copy / "hashrange.db-wal"
    assert log.stat().st_size > 10 * PAGE_BYTES
    os.truncate(log, int(log.stat().st_size * share))
    (copy / "hashrange.db-shm").unlink()
    reopened = SqliteEngine.open(copy)
    stored = reopened.read(lambda reader: [reader.get(b"%d" % number) for number in range(30)])
    reopened.close()
    assert stored == [b"two" * 500] * 30


def test_rows_stay_at_hand_when_an_idle_log_starts_over(
    sqlite: SqliteEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "KEPT_SECONDS", 1e9)
    monkeypatch.setattr(checkpoint, "KEPT_PAGES", 10)
    key = layout.ROWS + b"key"
    sqlite.write(lambda tx: tx.put(key, b"value"))
    write_commits(sqlite, 20)
    assert sqlite.read(lambda reader: reader.get(key), seconds=1.0) == b"value"
    assert eventually(lambda: 0 < sqlite._commit_version.log_pages() < 3)
    assert sqlite.at_hand(key) == b"value"


@pytest.mark.slow
def test_the_log_stays_short_under_constant_load(sqlite: SqliteEngine, tmp_path: Path) -> None:
    for part in range(20):
        write_commits(sqlite, 60, part * 60)
    assert log_pages(tmp_path) < 3 * START


@pytest.mark.slow
def test_a_slow_checkpoint_holds_the_writer_back(
    sqlite: SqliteEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = checkpoint.Checkpointer._checkpoint

    def slow(self: Checkpointer, connection: Any, mode: int) -> Any:
        if connection is sqlite._checkpointer._connection:
            time.sleep(0.3)
        return real(self, connection, mode)

    monkeypatch.setattr(checkpoint.Checkpointer, "_checkpoint", slow)
    write_commits(sqlite, 600)
    assert log_pages(tmp_path) < 3 * START


def test_an_idle_engine_empties_its_log(sqlite: SqliteEngine, tmp_path: Path) -> None:
    """Readers that have done their work do not hold it back, however they left."""
    write_commits(sqlite, 20)
    assert sqlite.read(lambda reader: reader.get(b"00001"))
    assert sqlite.read(
        lambda outer: (next(outer.scan(b"", b"z")), sqlite.read(lambda inner: inner.get(b"x")))
    )
    assert log_pages(tmp_path) > 0
    assert eventually(lambda: log_pages(tmp_path) == 0)
    write_commits(sqlite, 1, 5000)
    assert log_pages(tmp_path) > 0
    assert eventually(lambda: log_pages(tmp_path) == 0)


@pytest.mark.slow
def test_a_long_read_keeps_its_snapshot_and_the_log_recovers_after_it(
    sqlite: SqliteEngine, tmp_path: Path
) -> None:
    write_commits(sqlite, 30)
    reading, enough = threading.Event(), threading.Event()
    seen: list[object] = []

    def long_read(reader: Reader) -> None:
        seen.append(dict(reader.scan(b"", b"z")))
        reading.set()
        enough.wait(60)
        seen.append(dict(reader.scan(b"", b"z")))

    thread = threading.Thread(target=lambda: sqlite.read(long_read))
    thread.start()
    assert reading.wait(60)
    write_commits(sqlite, 300, 1000)  # without a wait for a checkpoint that cannot get on
    grown = log_pages(tmp_path)
    enough.set()
    thread.join(60)
    assert seen[0] == seen[1]
    assert grown > 3 * START
    assert eventually(lambda: log_pages(tmp_path) == 0)
    write_commits(sqlite, 300, 2000)
    assert log_pages(tmp_path) < grown


def test_a_long_read_while_the_engine_is_idle_does_not_hold_up_the_next_write(sqlite: SqliteEngine) -> None:
    """Emptying the log needs every reader gone; it must not wait for that with the writer locked out."""
    write_commits(sqlite, 5)
    reading, enough = threading.Event(), threading.Event()

    def long_read(reader: Reader) -> None:
        reader.get(b"00001")
        reading.set()
        enough.wait(60)

    thread = threading.Thread(target=lambda: sqlite.read(long_read))
    thread.start()
    assert reading.wait(60)
    time.sleep(0.5)
    began = time.monotonic()
    sqlite.write(lambda tx: tx.put(b"k", b"v"))
    elapsed = time.monotonic() - began
    enough.set()
    thread.join(60)
    assert elapsed < 0.9 * BUSY_TIMEOUT_MS / 1000


def test_many_readers_at_once_leave_few_connections(sqlite: SqliteEngine) -> None:
    together = threading.Barrier(12, timeout=60)
    threads = [
        threading.Thread(target=lambda: sqlite.read(lambda reader: (reader.get(b"k"), together.wait())))
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert 1 <= len(sqlite._idle_readers) <= 5


def test_closing_leaves_only_the_file(sqlite: SqliteEngine, tmp_path: Path) -> None:
    write_commits(sqlite, 20)
    sqlite.close()
    names = {path.name for path in (tmp_path / "data").iterdir()}
    assert names == {"hashrange.db", "hashrange.lock", "hashrange.reserve"}


def test_closing_while_somebody_reads_is_safe(sqlite: SqliteEngine, tmp_path: Path) -> None:
    write_commits(sqlite, 20)
    reading, enough = threading.Event(), threading.Event()
    seen: list[int] = []

    def long_read(reader: Reader) -> None:
        scan = reader.scan(b"", b"z")
        next(scan)
        reading.set()
        enough.wait(60)
        seen.append(sum(1 for _ in scan))

    thread = threading.Thread(target=lambda: sqlite.read(long_read))
    thread.start()
    assert reading.wait(60)
    sqlite.close()
    enough.set()
    thread.join(60)
    assert seen[0] > 30
    engine = SqliteEngine.open(tmp_path / "data")
    assert engine.read(lambda reader: sum(1 for _ in reader.scan(b"", b"z"))) == seen[0] + 1
    engine.close()
