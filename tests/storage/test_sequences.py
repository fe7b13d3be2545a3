"""Sequence numbers: in commit order, without gaps, seen in order by every reader."""

import threading

import pytest

from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.sequences import last_number, next_number

KEY = b"\xf0shard"


def append(tx: Transaction) -> int:
    number = next_number(tx, KEY)
    tx.put(b"\xf1%08d" % number, b"record")
    return number


def test_numbers_start_at_one_and_follow_each_other(engine: Engine) -> None:
    assert engine.read(lambda reader: last_number(reader, KEY)) == 0
    assert [engine.write(append) for _ in range(3)] == [1, 2, 3]
    assert engine.write(lambda tx: [next_number(tx, KEY), next_number(tx, KEY)]) == [4, 5]
    assert engine.read(lambda reader: last_number(reader, KEY)) == 5


def test_a_step_that_fails_takes_no_number(engine: Engine) -> None:
    def fail(tx: Transaction) -> None:
        append(tx)
        raise KeyError

    engine.write(append)
    with pytest.raises(KeyError):
        engine.write(fail)
    assert engine.write(append) == 2


def test_a_reader_never_sees_a_number_before_a_smaller_one(engine: Engine) -> None:
    stop = threading.Event()
    gaps: list[list[bytes]] = []

    def look(reader: Reader) -> tuple[list[bytes], int]:
        return [key for key, _ in reader.scan(b"\xf1", b"\xf2")], last_number(reader, KEY)

    def watch() -> None:
        while not stop.is_set():
            rows, last = engine.read(look)
            if rows != [b"\xf1%08d" % number for number in range(1, last + 1)]:
                gaps.append(rows)

    numbers: list[int] = []
    writers = [
        threading.Thread(target=lambda: numbers.extend(engine.write(append) for _ in range(40)))
        for _ in range(4)
    ]
    watcher = threading.Thread(target=watch)
    for thread in (watcher, *writers):
        thread.start()
    for thread in writers:
        thread.join(30)
    stop.set()
    watcher.join(10)
    assert not gaps
    assert sorted(numbers) == list(range(1, 161))
