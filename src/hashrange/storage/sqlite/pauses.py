"""Pauses of long reads, without which the event loop would not get Python's lock (the GIL).

A thread that waits for the lock asks its holder to give it up after the switch interval (a millisecond: server.py). But
SQLite works without the lock, so a scan releases it at every row and takes it again a few microseconds later. Each
release wakes the waiting thread, too late, and begins its interval anew: it never asks, and starves for as long as the
scan goes on, or for as long as many short reads do. A thread that sleeps for a moment has really given the lock up.
"""

import time
from collections.abc import Callable, Iterable, Iterator

from hashrange.storage.checksums import opened

BUSY_SECONDS = 0.002  # of reading, between two pauses
PAUSE_SECONDS = 0.0001  # with what the system adds, enough to wake a thread


class Pauses:
    """Has what is read through one connection pause.

    Also the first read after a time without any is late: a pause is cheaper than to know of such times.
    """

    __slots__ = ("_clock", "_due_at", "_sleep")

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._due_at = clock() + BUSY_SECONDS

    def pause_if_due(self) -> None:
        """Sleep, if that was long ago."""
        if self._clock() > self._due_at:
            self._sleep(PAUSE_SECONDS)
            self._due_at = self._clock() + BUSY_SECONDS

    def opened_rows(self, rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        """Give scanned rows with their values, with a pause whenever one is due."""
        self.pause_if_due()  # also if there are no rows
        # Not a generator: one that an error has left would end at its next row, as if there were no more.
        return map(self._opened_row, rows)

    def _opened_row(self, row: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
        # Another call for every row would be a tenth of the time that a row takes.
        if self._clock() > self._due_at:
            self.pause_if_due()
        return row[0], opened(*row)
