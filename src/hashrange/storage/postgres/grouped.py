"""Grouped reads: requests that wait while a read is on its way share the next one."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from hashrange.storage.engine import Deliver, Done, Reader
from hashrange.storage.errors import Closed
from hashrange.storage.postgres import long_keys, statements
from hashrange.storage.postgres.arrays import bytea_array
from hashrange.storage.postgres.committer import run_callbacks
from hashrange.storage.postgres.faults import translate
from hashrange.storage.postgres.link import Call
from hashrange.storage.postgres.links import Source
from hashrange.storage.postgres.reader import rows_of
from hashrange.storage.postgres.replicas import Stale

log = logging.getLogger(__name__)

KEYS_MAX = 256  # a row may have 400 KB


class Undeclared(BaseException):
    """The step wants more than it declared. No step's own handlers are meant to catch this."""


class ReadJob(NamedTuple):
    """A step that waits for its rows."""

    step: Callable[[Reader], Any]
    done: Done[Any]
    reads: Sequence[bytes]


class DeclaredReader:
    """The engine's `Reader` over rows that were read together, in one statement and so in one snapshot."""

    __slots__ = ("_rows",)

    def __init__(self, rows: dict[bytes, bytes | None]) -> None:
        self._rows = rows

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        try:
            return self._rows[key]
        except KeyError:
            raise Undeclared from None

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give up: ranges are not declared."""
        raise Undeclared

    def counter(self, key: bytes) -> int:
        """Give up: counters are not declared."""
        raise Undeclared


class GroupReader:
    """A thread that reads for many steps at once."""

    def __init__(
        self,
        source: Source,
        deliver: Deliver,
        read_alone: Callable[[ReadJob], None],
        read_elsewhere: Callable[[ReadJob], None],
    ) -> None:
        """Start the thread; steps that need more go their own way, and all do when the source is stale."""
        self._source = source
        self._deliver = deliver
        self._read_alone = read_alone
        self._read_elsewhere = read_elsewhere
        self._jobs: deque[ReadJob] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="hashrange-reader", daemon=True)
        self._thread.start()

    def submit(self, job: ReadJob) -> None:
        """Queue a step for the next read."""
        with self._changed:
            if not self._closing:
                self._jobs.append(job)
                self._changed.notify()
                return
        job.done(None, Closed("the engine is closed"))

    def close(self) -> None:
        """Finish everything queued and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next():
            run_callbacks(self._deliver, self._read(batch))

    def _next(self) -> list[ReadJob]:
        with self._changed:
            while not self._jobs and not self._closing:
                self._changed.wait()
            batch: list[ReadJob] = []
            keys = 0
            while self._jobs and keys < KEYS_MAX:
                batch.append(self._jobs.popleft())
                keys += len(batch[-1].reads)
            return batch

    def _read(self, batch: list[ReadJob]) -> list[Callable[[], None]]:
        keys = {key for job in batch for key in job.reads if not long_keys.is_long(key)}
        try:
            reader = DeclaredReader(self._fetch(list(keys)))
        except Stale:
            for job in batch:
                self._read_elsewhere(job)
            return []
        except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
            problem = translate(error)
            return [partial(job.done, None, type(problem)(*problem.args)) for job in batch]
        outcomes = [self._run_step(reader, job) for job in batch]
        return [callback for callback in outcomes if callback is not None]

    def _fetch(self, keys: list[bytes]) -> dict[bytes, bytes | None]:
        link, results = self._source.first([Call(statements.GET, (bytea_array(keys),))])
        rows: dict[bytes, bytes | None] = dict.fromkeys(keys)
        rows.update(rows_of(results[0]))
        self._source.give_back(link)
        return rows

    def _run_step(self, reader: DeclaredReader, job: ReadJob) -> Callable[[], None] | None:
        try:
            return partial(job.done, job.step(reader), None)
        except Undeclared:
            self._read_alone(job)
            return None
        except BaseException as error:  # noqa: BLE001 - whatever it raised is the step's outcome
            return partial(job.done, None, error)
