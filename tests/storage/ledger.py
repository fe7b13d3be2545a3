"""What was written to a store that fails, and what has to be there afterwards."""

import threading
from functools import partial
from pathlib import Path

from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.sqlite import SqliteEngine
from storage.watched_loop import WatchedLoop


class Ledger:
    """What was tried and what was acknowledged: each entry is two rows and a count, in one step."""

    def __init__(self, loop: WatchedLoop | None = None) -> None:
        self.tried: set[int] = set()
        self.acknowledged: set[int] = set()
        self.refusals: list[BaseException] = []
        self.loop = loop  # which the engine was opened with

    def write(self, engine: SqliteEngine, numbers: range) -> None:
        """Submit one step per number, all at once, and wait until all are done."""
        left = threading.Semaphore(0)

        def done(number: int, _result: object, error: BaseException | None) -> None:
            if error is None:
                self.acknowledged.add(number)
            else:
                self.refusals.append(error)
            left.release()

        for number in numbers:
            self.tried.add(number)
            engine.submit(partial(entry, number), partial(done, number))
        for _ in numbers:
            if self.loop is None:
                assert left.acquire(timeout=60)
            else:
                self.loop.run_until(lambda: left.acquire(blocking=False))

    def check(self, directory: Path) -> None:
        """Open what is left and compare."""
        engine = SqliteEngine.open(directory)
        try:
            entries, count, integrity = engine.read(look), engine.read(counted), integrity_of(engine)
        finally:
            engine.close()
        assert integrity == "ok"
        assert set(entries) <= self.tried
        assert self.acknowledged <= set(entries)
        assert all(sides == {b"left", b"right"} for sides in entries.values())
        assert count == len(entries)


def entry(number: int, tx: Transaction) -> None:
    value = bytes([number % 256]) * (20_000 if number % 5 == 0 else 300)
    tx.put(b"%04d left" % number, value)
    tx.put(b"%04d right" % number, value)
    if number % 7 == 3:
        list(tx.scan(b"", b"0002"))
    tx.add(b"entries", 1)


def look(reader: Reader) -> dict[int, set[bytes]]:
    entries: dict[int, set[bytes]] = {}
    for key, value in reader.scan(b"", b"z"):
        number, side = key.split()
        assert value[:1] == bytes([int(number) % 256])
        entries.setdefault(int(number), set()).add(side)
    return entries


def counted(reader: Reader) -> int:
    return reader.counter(b"entries")


def integrity_of(engine: SqliteEngine) -> object:
    return engine._writer.execute("PRAGMA integrity_check").get
