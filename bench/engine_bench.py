"""How fast the embedded engine is by itself, without HTTP: puts, gets and scans per second.

python bench/engine_bench.py [--rows 100000] [--seconds 2] [--directory DIR]
"""

import argparse
import asyncio
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine

VALUE = bytes(range(200)) * 2
# SQLite does not write a page whose bytes did not change, so each put must change its row.
VALUES = [bytes([number]) + VALUE[1:] for number in range(256)]


def key_of(number: int) -> bytes:
    """Give the row key of a number: 60 bytes that look random, the same every time."""
    return random.Random(number).randbytes(60)


def fill(engine: Engine, rows: int) -> list[bytes]:
    """Store rows and give a sample of their keys."""
    keys = sorted(key_of(number) for number in range(rows))
    for first in range(0, rows, 20_000):
        part = keys[first : first + 20_000]
        engine.write(lambda tx, part=part: [tx.put(key, VALUE) for key in part])
    return random.sample(keys, min(rows, 50_000))


class Clients:
    """So many clients on an event loop, each putting again as soon as its last put is on disk."""

    def __init__(self, engine: Engine, keys: list[bytes], seconds: float) -> None:
        """Prepare; nothing is sent yet."""
        self.engine, self.keys = engine, keys
        self.until = time.perf_counter() + seconds
        self.latencies: list[float] = []
        self.running = 0
        self.over = asyncio.Event()

    async def run(self, count: int) -> tuple[float, float, float]:
        """Run `count` clients; give puts per second, median and 99th percentile in ms."""
        self.running, began = count, time.perf_counter()
        for _ in range(count):
            self.send()
        await self.over.wait()
        elapsed = time.perf_counter() - began
        cuts = statistics.quantiles(self.latencies, n=100)
        return len(self.latencies) / elapsed, cuts[49] * 1e3, cuts[98] * 1e3

    def send(self) -> None:
        """Submit one put the way an item write does it: read the old, write the new, count."""
        key = random.choice(self.keys)

        def step(tx: Transaction) -> int:
            old = tx.get(key)
            tx.put(key, random.choice(VALUES))
            tx.add(b"bytes", 0 if old else len(VALUE))
            return 1

        self.engine.submit(step, partial(self.done, time.perf_counter()))

    def done(self, began: float, _result: object, error: BaseException | None) -> None:
        """Note the latency and go on."""
        if error:
            raise error
        now = time.perf_counter()
        self.latencies.append(now - began)
        if now < self.until:
            self.send()
            return
        self.running -= 1
        if not self.running:
            self.over.set()


def timed(work: Callable[[], object], seconds: float) -> float:
    """Give microseconds per call."""
    began, calls = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - began) < seconds:
        for _ in range(100):
            work()
        calls += 100
    return elapsed / calls * 1e6


def reads(engine: Engine, keys: list[bytes], seconds: float) -> None:
    """Print what reads cost."""

    def get(reader: Reader) -> bytes | None:
        return reader.get(random.choice(keys))

    def hundred(reader: Reader) -> int:
        return len(list(reader.scan(random.choice(keys), b"\xff" * 61, limit=100)))

    print(f"  get              {timed(lambda: engine.read(get), seconds):8.1f} us")
    print(f"  scan of 100      {timed(lambda: engine.read(hundred), seconds):8.1f} us")


async def disk(directory: Path, rows: int, seconds: float) -> None:
    """Measure the engine on disk."""
    loop = asyncio.get_running_loop()

    def deliver(callbacks: list[Callable[[], None]]) -> None:
        loop.call_soon_threadsafe(lambda: [callback() for callback in callbacks])

    engine = SqliteEngine.open(directory, deliver=deliver)
    try:
        keys = await asyncio.to_thread(fill, engine, rows)
        await asyncio.sleep(2)  # the log is emptied when idle
        print(f"{engine.description}, {rows} rows of {len(VALUE)} bytes")
        reads(engine, keys, seconds)
        for count in (1, 16, 64, 256):
            rate, median, worst = await Clients(engine, keys, seconds).run(count)
            wal = directory / "hashrange.db-wal"
            print(
                f"  put, {count:3} in flight {rate:8.0f} /s   p50 {median:.2f} ms  p99 {worst:.2f} ms"
                f"  log {wal.stat().st_size >> 20} MB"
            )
    finally:
        engine.close()
    began = time.perf_counter()
    engine = SqliteEngine.open(directory)
    engine.read(lambda reader: reader.get(b"x"))
    print(f"  open, first get  {(time.perf_counter() - began) * 1e3:8.1f} ms")
    engine.close()


def memory(rows: int, seconds: float) -> None:
    """Measure the engine in memory."""
    engine = MemoryEngine()
    keys = fill(engine, rows)
    print(f"{engine.description}, {rows} rows of {len(VALUE)} bytes")
    reads(engine, keys, seconds)
    print(f"  put              {timed(lambda: engine.write(put_one(keys)), seconds):8.1f} us")
    engine.close()


def put_one(keys: list[bytes]) -> Callable[[Transaction], None]:
    """Give a step that puts one row."""
    return lambda tx: tx.put(random.choice(keys), random.choice(VALUES))


def main() -> None:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--directory", type=Path)
    arguments = parser.parse_args()
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="hashrange-bench-"))
    try:
        asyncio.run(disk(directory, arguments.rows, arguments.seconds))
    finally:
        if not arguments.directory:
            shutil.rmtree(directory, ignore_errors=True)
    memory(min(arguments.rows, 100_000), arguments.seconds)
    print(f"  peak memory      {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:8} MB")


if __name__ == "__main__":
    main()
