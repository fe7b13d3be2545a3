"""Logs: rows without gaps, in the order of their commits, with times that never go back."""

import threading

import pytest

from hashrange.storage import appends
from hashrange.storage.appends import Append, Head
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import DamagedRow

HEADS = (b"\xf0one", b"\xf0two")
PREFIXES = (b"\xf1one", b"\xf1two")


@pytest.fixture
def log(engine: Engine) -> Engine:
    """An engine with two open logs."""

    def opened(tx: Transaction) -> None:
        for head in HEADS:
            tx.put(head, Head(1, 0).encode())

    engine.write(opened)
    return engine


def note(tx: Transaction, value: bytes, time_us: int = 0, log: int = 0) -> None:
    tx.append(Append(HEADS[log], PREFIXES[log], time_us, value))


def rows(engine: Engine, log: int = 0) -> list[tuple[int, int, bytes]]:
    def read(reader: Reader) -> list[tuple[int, int, bytes]]:
        prefix = PREFIXES[log]
        return [
            (appends.position_of(key), appends.time_of(row), row[appends.TIME_BYTES :])
            for key, row in reader.scan(prefix, prefix + b"\xff" * 9)
        ]

    return engine.read(read)


def test_rows_follow_each_other_from_the_position_in_the_head(log: Engine) -> None:
    log.write(lambda tx: note(tx, b"a", 5))
    log.write(lambda tx: [note(tx, b"b", 6), note(tx, b"c", 6)])
    assert rows(log) == [(1, 5, b"a"), (2, 6, b"b"), (3, 6, b"c")]
    assert log.read(lambda reader: reader.get(HEADS[0])) == Head(4, 6).encode()
    assert rows(log, 1) == []


def test_times_never_go_back(log: Engine) -> None:
    for time_us in (7, 3, 8):
        log.write(lambda tx, time_us=time_us: note(tx, b"x", time_us))
    assert [time_us for _, time_us, _ in rows(log)] == [7, 7, 8]


def test_all_that_a_step_appends_has_one_time(log: Engine) -> None:
    """So that a moment never lies in the middle of a transaction, whatever its shards have seen before."""
    log.write(lambda tx: note(tx, b"before", 9, log=1))
    log.write(lambda tx: [note(tx, b"x", 4, log=0), note(tx, b"y", 4, log=1)])
    assert rows(log, 0) == [(1, 9, b"x")]
    assert rows(log, 1) == [(1, 9, b"before"), (2, 9, b"y")]


def test_a_step_that_fails_leaves_nothing(log: Engine) -> None:
    def fail(tx: Transaction) -> None:
        note(tx, b"lost")
        raise KeyError

    with pytest.raises(KeyError):
        log.write(fail)
    log.write(lambda tx: note(tx, b"kept"))
    assert [value for _, _, value in rows(log)] == [b"kept"]


def test_a_log_without_a_head_is_not_begun_anew(engine: Engine) -> None:
    with pytest.raises(DamagedRow):
        engine.write(lambda tx: note(tx, b"x"))
    assert rows(engine) == []


def test_a_reader_never_sees_a_row_before_an_earlier_one(log: Engine) -> None:
    stop = threading.Event()
    wrong: list[list[int]] = []

    def watch() -> None:
        while not stop.is_set():
            positions = [position for position, _, _ in rows(log)]
            if positions != list(range(1, len(positions) + 1)):
                wrong.append(positions)

    def write() -> None:
        for number in range(40):
            log.write(lambda tx, number=number: note(tx, b"%d" % number, number))

    writers = [threading.Thread(target=write) for _ in range(4)]
    watcher = threading.Thread(target=watch)
    for thread in (watcher, *writers):
        thread.start()
    for thread in writers:
        thread.join(60)
    stop.set()
    watcher.join(30)
    assert not wrong
    assert len(rows(log)) == 160
