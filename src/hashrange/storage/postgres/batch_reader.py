"""Batched reads: requests that wait while a read is on its way share the next one."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice, repeat
from typing import Any, ClassVar, NamedTuple

import msgspec
from psycopg.pq.abc import PGresult

from hashrange.core.errors import forget_frames
from hashrange.storage import layout
from hashrange.storage.batch_worker import BatchWorker
from hashrange.storage.delivery import Callbacks, run_callbacks
from hashrange.storage.engine import Columns, Deliver, Done, Joined, Reader
from hashrange.storage.errors import StorageError
from hashrange.storage.postgres import joined_results, long_keys, statements
from hashrange.storage.postgres.arrays import bytea_array, int8
from hashrange.storage.postgres.backoff import back_off
from hashrange.storage.postgres.counters import summed_counter
from hashrange.storage.postgres.faults import Broken, Refused, translate
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from hashrange.storage.postgres.pool import ConnectionSource
from hashrange.storage.postgres.read_ahead import ReadAhead
from hashrange.storage.postgres.replicas import Stale
from hashrange.storage.postgres.snapshot import end_snapshot, rows_of

ROUNDS_MAX = 3
_HASH_END = layout.ROWS_PREFIX_BYTES + 8  # docs/design/002
ATTEMPTS = 8

_SNAPSHOT = Call(statements.SNAPSHOT)
_COMMIT = Call(statements.COMMIT)


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


ReadKey = bytes | Range | Counter


class Part(NamedTuple):
    """Rows of a page that a step takes at once."""

    page: PGresult
    first: int
    last: int  # and not that one
    complete: int  # the page's rows that are there for steps
    range: Range


class Missing(BaseException):
    """The step reads something that was not prefetched. No step's own handlers are meant to catch this."""

    def __init__(self, read_key: ReadKey | None) -> None:
        super().__init__()
        self.read_key = read_key  # None for what cannot be read in a batch


class Prefetched(msgspec.Struct):
    """The engine's `Reader` over what was read together, and so in one snapshot."""

    joined: ClassVar[None] = None
    read_ahead: ReadAhead
    rows: dict[bytes, bytes | None] = msgspec.field(default_factory=dict)
    ranges: dict[Range, PGresult] = msgspec.field(default_factory=dict)
    counters: dict[bytes, PGresult] = msgspec.field(default_factory=dict)
    continued: dict[tuple[bytes, bytes, bool], tuple[PGresult, int, int]] = msgspec.field(
        default_factory=dict
    )

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        try:
            return self.rows[key]
        except KeyError:
            raise Missing(None if long_keys.is_long(key) else key) from None

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows with start <= key < end, as far as they were read."""
        if start >= end or (limit is not None and limit <= 0):
            return iter(())
        rows = self.read_ahead.rows(start)
        key_range = Range(start, end, reverse, rows if limit is None else min(limit, rows))
        if key_range not in self.ranges:
            raise Missing(key_range)
        return islice(_rows_in(self.ranges[key_range], key_range.rows), limit)

    def rows_ahead(self, start: bytes, /) -> int:
        """How many rows `columns` has of an item collection that begins here."""
        return self.read_ahead.joined_rows(start)

    def columns(self, start: bytes, end: bytes, *, limit: int, reverse: bool = False) -> Columns | None:
        """Give the first rows of an item collection, or those behind a part that was given before.

        None if they are large or their keys long. What a collection has beyond that the step gets by itself.
        """
        part = self._part(start, end, limit, reverse=reverse)
        if part is None:
            return None
        numbers = range(part.first, part.last)
        keys = [key or b"" for key in map(part.page.get_value, numbers, repeat(0))]
        if not keys:
            return Columns([], [])
        if max(map(len, keys)) >= long_keys.HEAD_BYTES:
            return None
        values = [value or b"" for value in map(part.page.get_value, numbers, repeat(1))]
        self._continue_behind(part, keys[-1], values[-1])
        return Columns(keys, values)

    def joined_opened(
        self,
        start: bytes,
        end: bytes,
        *,
        head: int,
        limit: int,
        reverse: bool = False,
        separator: bytes = b",",
    ) -> Joined | None:
        """Give the same rows in one piece, opened; None where `columns` is to give them, if it can."""
        part = self._part(start, end, limit, reverse=reverse)
        if part is None or part.first == part.last:
            return None
        rows = joined_results.join(part.page, part.first, part.last, head=head, separator=separator)
        if rows is None:
            return None
        self._continue_behind(part, rows.last, rows.stored)
        return Joined(part.last - part.first, rows.last, rows.heads, rows.rest)

    def _part(self, start: bytes, end: bytes, limit: int, *, reverse: bool) -> Part | None:
        """The first rows of an item collection, as far as they were read; None if it was not read as one."""
        page, offset, complete = self._page(start, end, limit, reverse=reverse)
        if page is None:
            return None
        last = min(offset + limit, complete, page.ntuples)
        if last < offset + limit and page.ntuples > complete:
            raise Missing(None)
        return Part(page, offset, last, complete, Range(start, end, reverse, limit))

    def _continue_behind(self, part: Part, key: bytes, stored: bytes) -> None:
        """Note where the step goes on; at the last row it looks again, for the last evaluated key."""
        self.rows[key] = stored
        start, end, reverse, _ = part.range
        rest = (start, key, reverse) if reverse else (key + b"\0", end, reverse)
        self.continued[rest] = part.page, part.last, part.complete

    def _page(
        self, start: bytes, end: bytes, limit: int, *, reverse: bool
    ) -> tuple[PGresult | None, int, int]:
        """A page that was read, where in it the range begins, and how many of its rows are there for a step."""
        if (start, end, reverse) in self.continued:
            return self.continued[start, end, reverse]
        rows = self.read_ahead.joined_rows(start)
        if limit > rows or start >= end or not _is_collection(start, end):
            return None, 0, 0
        key_range = Range(start, end, reverse, rows)
        if key_range not in self.ranges:
            raise Missing(key_range)
        return self.ranges[key_range], 0, rows

    def counter(self, key: bytes) -> int:
        """Give a counter's committed value."""
        try:
            sums = self.counters[key]
        except KeyError:
            raise Missing(Counter(key)) from None
        return summed_counter(key, sums)


def _is_collection(start: bytes, end: bytes) -> bool:
    """Whether a range is within one hash, as a Query's is; a Scan has more rows than are worth reading here."""
    return start[:_HASH_END] == end[:_HASH_END] and not long_keys.is_long(start)


def _rows_in(page: PGresult, complete: int) -> Iterator[tuple[bytes, bytes]]:
    for number in range(min(page.ntuples, complete)):
        key = page.get_value(number, 0) or b""
        if long_keys.is_long(key):
            raise Missing(None)
        yield key, page.get_value(number, 1) or b""
    if page.ntuples > complete:
        raise Missing(None)


class BatchReader:
    """A thread that takes whatever steps wait and reads for all of them at once."""

    jobs_max = sys.maxsize
    keys_max = sys.maxsize

    def __init__(
        self,
        source: ConnectionSource,
        deliver: Deliver,
        read_alone: Callable[[ReadJob], None],
        read_elsewhere: Callable[[ReadJob], None],
    ) -> None:
        """Start the thread; steps that need more go their own way, and all do when the source is stale."""
        self._source = source
        self._deliver = deliver
        self._read_alone = read_alone
        self._read_elsewhere = read_elsewhere
        self._read_ahead = ReadAhead()
        self._worker = BatchWorker(
            "hashrange-reader", self._run, jobs_max=self.jobs_max, keys_max=self.keys_max
        )

    def submit(self, job: ReadJob) -> None:
        """Queue a step for the next read."""
        self._worker.submit(job)

    def close(self) -> None:
        """Finish everything queued and end the thread."""
        self._worker.close()

    def _run(self, batch: list[ReadJob]) -> None:
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

    def _read(self, batch: list[ReadJob]) -> tuple[Callbacks, list[ReadJob]]:
        """Run steps; gives callbacks, and the steps that need more. May be done again if it raises."""
        raise NotImplementedError


class RowReader(BatchReader):
    """Reads single rows for steps that say which: one statement, and no transaction around it."""

    # A row may have 400 KB. GetItem looks at an item, the catalogue's epoch and the version of its table.
    keys_max = 64 * 3

    def _read(self, batch: list[ReadJob]) -> tuple[Callbacks, list[ReadJob]]:
        keys = list({key for job in batch for key in job.reads if not long_keys.is_long(key)})
        get = Call(statements.GET, (bytea_array(keys),))
        calls = [_SNAPSHOT, get, _COMMIT] if self._source.serializable else [get]
        connection, results = self._source.begin(calls)
        rows: dict[bytes, bytes | None] = dict.fromkeys(keys)
        rows.update(rows_of(results[calls.index(get)]))
        self._source.release(connection)
        prefetched = Prefetched(self._read_ahead, rows)
        outcomes: Callbacks = []
        left: list[ReadJob] = []
        for job in batch:
            try:
                outcomes.append(outcome(prefetched, job))
            except Missing:
                left.append(job)
        return outcomes, left


class RangeReader(BatchReader):
    """Finds out by trying what steps read: each round reads, for all of them, what they stopped at."""

    jobs_max = 16

    def _read(self, batch: list[ReadJob]) -> tuple[Callbacks, list[ReadJob]]:
        prefetched = Prefetched(self._read_ahead)
        outcomes: Callbacks = []
        alone: list[ReadJob] = []
        stopped = batch
        connection: PipelineConnection | None = None
        confirm = self._source.serializable
        try:
            for _ in range(ROUNDS_MAX):
                stopped, missing = self._try(prefetched, stopped, outcomes, alone)
                if not stopped:
                    break
                try:
                    connection = self._fetch(connection, prefetched, missing)
                except (Broken, Refused):
                    if connection is None or confirm:
                        raise
                    break  # the snapshot is lost: those who stopped get one of their own
            else:
                stopped, _ = self._try(prefetched, stopped, outcomes, alone)
            if connection is not None:
                if not connection.broken:
                    end_snapshot(connection, confirm=confirm)
                self._source.release(connection)
        except BaseException as error:
            if connection is None:
                raise
            self._source.abandon(connection)
            if not isinstance(error, Broken | Refused) or (isinstance(error, Refused) and error.is_conflict):
                raise
            return [], batch  # what has no commit does not count: everyone gets a snapshot of their own
        self._learn(prefetched)
        return outcomes, alone + stopped

    def _learn(self, prefetched: Prefetched) -> None:
        # Not before the batch is over: within it, the same scan has to ask for the same.
        for key_range, page in prefetched.ranges.items():
            if page.ntuples:
                self._read_ahead.learn(key_range.start, len(page.get_value(0, 1) or b""))

    def _try(
        self, prefetched: Prefetched, jobs: Sequence[ReadJob], outcomes: Callbacks, alone: list[ReadJob]
    ) -> tuple[list[ReadJob], set[ReadKey]]:
        """Run steps as far as they come; gives those who stopped, and what they stopped at."""
        stopped: list[ReadJob] = []
        missing: set[ReadKey] = set()
        for job in jobs:
            try:
                outcomes.append(outcome(prefetched, job))
            except Missing as stop:
                if stop.read_key is None:
                    alone.append(job)
                else:
                    stopped.append(job)
                    missing.add(stop.read_key)
                    missing.update(key for key in job.reads if key not in prefetched.rows)
        return stopped, missing

    def _fetch(
        self, connection: PipelineConnection | None, prefetched: Prefetched, missing: set[ReadKey]
    ) -> PipelineConnection:
        keys = [key for key in missing if isinstance(key, bytes)]
        ranges = [key for key in missing if isinstance(key, Range)]
        counters = [key for key in missing if isinstance(key, Counter)]
        calls = [Call(statements.GET, (bytea_array(keys),))]
        calls += [key_range.call() for key_range in ranges]
        calls += [Call(statements.COUNTER, (counter.key,)) for counter in counters]
        if connection is None:
            connection, (_, *results) = self._source.begin([_SNAPSHOT, *calls])
        else:
            results = connection.run(calls)
        prefetched.rows.update(dict.fromkeys(keys))
        prefetched.rows.update(rows_of(results[0]))
        prefetched.ranges.update(zip(ranges, results[1 : len(ranges) + 1], strict=True))
        sums = results[len(ranges) + 1 :]
        prefetched.counters.update(zip((counter.key for counter in counters), sums, strict=True))
        return connection


def outcome(prefetched: Prefetched, job: ReadJob) -> Callable[[], None]:
    """Run a step on what was prefetched, and give its callback."""
    try:
        return partial(job.done, job.step(prefetched), None)
    except Missing:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it raised is the step's outcome
        forget_frames(error)
        return partial(job.done, None, error)


def _fail_all(batch: Sequence[ReadJob], error: StorageError) -> Callbacks:
    return [partial(job.done, None, type(error)(*error.args)) for job in batch]
