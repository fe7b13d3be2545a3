"""Grouped reads: requests that wait while a read is on its way share the next one."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import msgspec
from psycopg.pq.abc import PGresult

from hashrange.storage.engine import Deliver, Done, Reader
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.postgres import long_keys, statements
from hashrange.storage.postgres.appetite import Appetite
from hashrange.storage.postgres.arrays import bytea_array, int8, read_int8
from hashrange.storage.postgres.backoff import back_off
from hashrange.storage.postgres.committer import run_callbacks
from hashrange.storage.postgres.faults import Broken, Refused, translate
from hashrange.storage.postgres.link import Call, Link
from hashrange.storage.postgres.links import Source
from hashrange.storage.postgres.reader import end_snapshot, rows_of
from hashrange.storage.postgres.replicas import Stale

KEYS_MAX = 128  # a row may have 400 KB
STEPS_MAX = 16  # of those that read ranges
ROUNDS_MAX = 3
ATTEMPTS = 8

_SNAPSHOT = Call(statements.SNAPSHOT)
_COMMIT = Call(statements.COMMIT)

Callbacks = list[Callable[[], None]]


class ReadJob(NamedTuple):
    """A step that waits for its rows."""

    step: Callable[[Reader], Any]
    done: Done[Any]
    reads: Sequence[bytes]
    more: bool  # it will look at more than that


class Range(NamedTuple):
    """The beginning of a range."""

    start: bytes
    end: bytes
    reverse: bool
    rows: int

    def call(self) -> Call:
        """Read it; one row more than is wanted says whether there is more."""
        name = statements.SCAN_REVERSE if self.reverse else statements.SCAN
        return Call(name, (long_keys.first_head(self.start), self.end, int8(self.rows + 1)))


class Counter(NamedTuple):
    """A counter's key."""

    key: bytes


What = bytes | Range | Counter


class Wanted(BaseException):
    """The step wants something that was not read along. No step's own handlers are meant to catch this."""

    def __init__(self, what: What | None) -> None:
        super().__init__()
        self.what = what  # a key, a range, a counter; None for what cannot be read in a group


class Known(msgspec.Struct):
    """The engine's `Reader` over what was read together, and so in one snapshot."""

    appetite: Appetite
    rows: dict[bytes, bytes | None] = msgspec.field(default_factory=dict)
    ranges: dict[Range, PGresult] = msgspec.field(default_factory=dict)
    counters: dict[bytes, int] = msgspec.field(default_factory=dict)

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        try:
            return self.rows[key]
        except KeyError:
            raise Wanted(None if long_keys.is_long(key) else key) from None

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows with start <= key < end, as far as they were read."""
        if start >= end or (limit is not None and limit <= 0):
            return iter(())
        rows = self.appetite.rows(start)
        wanted = Range(start, end, reverse, rows if limit is None else min(limit, rows))
        if wanted not in self.ranges:
            raise Wanted(wanted)
        return islice(_rows_in(self.ranges[wanted], wanted.rows), limit)

    def counter(self, key: bytes) -> int:
        """Give a counter's committed value."""
        try:
            return self.counters[key]
        except KeyError:
            raise Wanted(Counter(key)) from None


def _rows_in(page: PGresult, complete: int) -> Iterator[tuple[bytes, bytes]]:
    for number in range(min(page.ntuples, complete)):
        key = page.get_value(number, 0) or b""
        if long_keys.is_long(key):
            raise Wanted(None)
        yield key, page.get_value(number, 1) or b""
    if page.ntuples > complete:
        raise Wanted(None)


class Grouping:
    """A thread that takes whatever steps wait and reads for all of them at once."""

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
        self._appetite = Appetite()
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
            try:
                outcomes, left = self._read_again(batch)
            except Stale:
                outcomes, left = [], []
                for job in batch:
                    self._read_elsewhere(job)
            except Exception as error:  # noqa: BLE001 - whatever it is, every step gets its answer
                outcomes, left = _fail_all(batch, translate(error)), []
            for job in left:
                self._read_alone(job)
            if outcomes:
                run_callbacks(self._deliver, outcomes)

    def _read_again(self, batch: list[ReadJob]) -> tuple[Callbacks, list[ReadJob]]:
        """Read, and once more if the snapshot collides with a write, which only serializable ones do."""
        for attempt in range(ATTEMPTS):
            try:
                return self._read(batch)
            except Refused as refusal:
                if not refusal.is_conflict or attempt == ATTEMPTS - 1:
                    raise
            back_off(attempt)
        raise AssertionError("the last attempt gives or raises")

    def _next(self) -> list[ReadJob]:
        with self._changed:
            while not self._jobs and not self._closing:
                self._changed.wait()
            batch: list[ReadJob] = []
            keys = 0
            while self._jobs and not self._is_full(len(batch), keys):
                batch.append(self._jobs.popleft())
                keys += len(batch[-1].reads)
            return batch

    def _is_full(self, steps: int, keys: int) -> bool:
        raise NotImplementedError

    def _read(self, batch: list[ReadJob]) -> tuple[Callbacks, list[ReadJob]]:
        """Run steps; gives callbacks, and the steps that need more. May be done again if it raises."""
        raise NotImplementedError


class RowReader(Grouping):
    """Reads single rows for steps that say which: one statement, and no transaction around it."""

    def _is_full(self, steps: int, keys: int) -> bool:
        return keys >= KEYS_MAX

    def _read(self, batch: list[ReadJob]) -> tuple[Callbacks, list[ReadJob]]:
        keys = list({key for job in batch for key in job.reads if not long_keys.is_long(key)})
        get = Call(statements.GET, (bytea_array(keys),))
        calls = [_SNAPSHOT, get, _COMMIT] if self._source.serializable else [get]
        link, results = self._source.first(calls)
        rows: dict[bytes, bytes | None] = dict.fromkeys(keys)
        rows.update(rows_of(results[calls.index(get)]))
        self._source.give_back(link)
        known = Known(self._appetite, rows)
        outcomes: Callbacks = []
        left: list[ReadJob] = []
        for job in batch:
            try:
                outcomes.append(outcome(known, job))
            except Wanted:
                left.append(job)
        return outcomes, left


class RangeReader(Grouping):
    """Finds out by trying what steps read: each round reads, for all of them, what they stopped at."""

    def _is_full(self, steps: int, keys: int) -> bool:
        return steps >= STEPS_MAX

    def _read(self, batch: list[ReadJob]) -> tuple[Callbacks, list[ReadJob]]:
        known = Known(self._appetite)
        outcomes: Callbacks = []
        alone: list[ReadJob] = []
        stopped = batch
        link: Link | None = None
        confirm = self._source.serializable
        try:
            for _ in range(ROUNDS_MAX):
                stopped, wanted = self._try(known, stopped, outcomes, alone)
                if not stopped:
                    break
                try:
                    link = self._fetch(link, known, wanted)
                except (Broken, Refused):
                    if link is None or confirm:
                        raise
                    break  # the snapshot is lost: those who stopped get one of their own
            else:
                stopped, _ = self._try(known, stopped, outcomes, alone)
            if link is not None:
                if not link.broken:
                    end_snapshot(link, confirm=confirm)
                self._source.give_back(link)
        except BaseException as error:
            if link is None:
                raise
            self._source.abandon(link)
            if not isinstance(error, Broken):
                raise
            return [], batch  # what has no commit does not count: everyone gets a snapshot of their own
        self._learn(known)
        return outcomes, alone + stopped

    def _learn(self, known: Known) -> None:
        # Not before the batch is over: within it, the same scan has to ask for the same.
        for each, page in known.ranges.items():
            if page.ntuples:
                self._appetite.learn(each.start, len(page.get_value(0, 1) or b""))

    def _try(
        self, known: Known, jobs: Sequence[ReadJob], outcomes: Callbacks, alone: list[ReadJob]
    ) -> tuple[list[ReadJob], set[What]]:
        """Run steps as far as they come; gives those who stopped, and what they stopped at."""
        stopped: list[ReadJob] = []
        wanted: set[What] = set()
        for job in jobs:
            try:
                outcomes.append(outcome(known, job))
            except Wanted as stop:
                if stop.what is None:
                    alone.append(job)
                else:
                    stopped.append(job)
                    wanted.add(stop.what)
                    wanted.update(key for key in job.reads if key not in known.rows)
        return stopped, wanted

    def _fetch(self, link: Link | None, known: Known, whats: set[What]) -> Link:
        keys = [what for what in whats if isinstance(what, bytes)]
        ranges = [what for what in whats if isinstance(what, Range)]
        counters = [what for what in whats if isinstance(what, Counter)]
        calls = [Call(statements.GET, (bytea_array(keys),))]
        calls += [each.call() for each in ranges]
        calls += [Call(statements.COUNTER, (each.key,)) for each in counters]
        if link is None:
            link, (_, *results) = self._source.first([_SNAPSHOT, *calls])
        else:
            results = link.run(calls)
        known.rows.update(dict.fromkeys(keys))
        known.rows.update(rows_of(results[0]))
        known.ranges.update(zip(ranges, results[1 : len(ranges) + 1], strict=True))
        sums = (read_int8(result.get_value(0, 0)) for result in results[len(ranges) + 1 :])
        known.counters.update(zip((each.key for each in counters), sums, strict=True))
        return link


def outcome(known: Known, job: ReadJob) -> Callable[[], None]:
    """Run a step on what is known, and give its callback."""
    try:
        return partial(job.done, job.step(known), None)
    except Wanted:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it raised is the step's outcome
        return partial(job.done, None, error)


def _fail_all(batch: Sequence[ReadJob], error: StorageError) -> Callbacks:
    return [partial(job.done, None, type(error)(*error.args)) for job in batch]
