"""Writes entries as fast as it can and says which are acknowledged, until it is killed.

python crash_writer.py DIRECTORY FIRST_NUMBER
"""

import itertools
import os
import sys
import threading
from functools import partial
from pathlib import Path

from hashrange.storage.engine import Transaction
from hashrange.storage.sqlite import SqliteEngine, checkpoint

IN_FLIGHT = 12


def entry(number: int, tx: Transaction) -> None:
    """Write one entry: two rows and a count."""
    value = b"%d " % number * (5000 if number % 50 == 0 else 60)
    tx.put(b"left %09d" % number, value)
    if number % 11 == 0:
        next(tx.scan(b"left", b"left~", reverse=True))
    tx.put(b"right %09d" % (number * 7919 % 1_000_003), b"%d" % number)
    tx.add(b"entries", 1)


def main() -> None:
    """Keep entries in flight; each acknowledgement starts the next."""
    checkpoint.LOG_PAGES_START = 200
    engine = SqliteEngine.open(Path(sys.argv[1]))
    numbers = itertools.count(int(sys.argv[2]))

    def send() -> None:
        number = next(numbers)
        engine.submit(partial(entry, number), partial(done, number))

    def done(number: int, _result: object, error: BaseException | None) -> None:
        if error:
            raise error
        os.write(1, b"%d\n" % number)
        send()

    for _ in range(IN_FLIGHT):
        send()
    threading.Event().wait()


if __name__ == "__main__":
    main()
