"""Steps whose rows are read together on the event loop's thread: what is asked for them, and what has come."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from psycopg.pq.abc import PGresult

from hashrange.storage.delivery import Callbacks, run_inline
from hashrange.storage.postgres import long_keys, statements
from hashrange.storage.postgres.arrays import bytea_array
from hashrange.storage.postgres.batch_reader import (
    Counter,
    Missing,
    Prefetched,
    Range,
    ReadJob,
    ReadKey,
    outcome,
)
from hashrange.storage.postgres.large_rows import LARGE_BYTES, LargeRows
from hashrange.storage.postgres.pipeline import Call
from hashrange.storage.postgres.read_ahead import ReadAhead
from hashrange.storage.postgres.snapshot import rows_of


class Threads(NamedTuple):
    """Where a step goes that the event loop cannot serve, or should not."""

    batched: Callable[[ReadJob], None]  # it is read together with others
    alone: Callable[[ReadJob], None]  # it reads more than a batch can
    large: LargeRows


class Question(NamedTuple):
    """A statement, what is done with its result, and the steps that can run then."""

    call: Call
    store: Callable[[PGresult], object]
    jobs: Sequence[ReadJob] = ()


_BEGIN = Question(Call(statements.SNAPSHOT), lambda _: None)
_END = Question(Call(statements.COMMIT), lambda _: None)


class ReadBatch(msgspec.Struct):
    """One pipeline, which is a transaction of its own from its beginning to its end.

    A step runs as soon as its rows have come, while the database reads those of the next. Its caller is told at once,
    unless what was read counts only when it has committed.
    """

    prefetched: Prefetched
    questions: list[Question]
    threads: Threads
    confirms: bool
    callbacks: Callbacks = msgspec.field(default_factory=list)
    answered: int = 0
    failed: bool = False

    def calls(self) -> list[Call]:
        """What to send."""
        return [question.call for question in self.questions]

    def take(self, result: PGresult) -> None:
        """Take the next result, and run the steps that waited for it."""
        question = self.questions[self.answered]
        question.store(result)
        self.callbacks += [self._outcome(job) for job in question.jobs]
        self.answered += 1
        if not self.confirms:
            self.deliver()
        elif question is _END and result.command_status != b"COMMIT":
            self.failed = True

    def _outcome(self, job: ReadJob) -> Callable[[], None]:
        try:
            return outcome(self.prefetched, job)
        except Missing as stop:
            return partial(self.threads.alone if stop.read_key is None else self.threads.batched, job)

    @property
    def is_complete(self) -> bool:
        """Whether everything was read, and counts."""
        return not self.failed and self.answered == len(self.questions)

    def deliver(self) -> None:
        """Tell the callers what became of their steps."""
        callbacks, self.callbacks = self.callbacks, []
        run_inline(callbacks)

    def unanswered(self) -> list[ReadJob]:
        """The steps whose callers were told nothing."""
        first = 0 if self.confirms else self.answered
        return [job for question in self.questions[first:] for job in question.jobs]

    def learn(self) -> None:
        """Remember how large rows are."""
        for key, value in self.prefetched.rows.items():
            if value is not None and len(value) > LARGE_BYTES:
                self.threads.large.learn(key, len(value))
        for key_range, page in self.prefetched.ranges.items():
            if page.ntuples:
                row_bytes = len(page.get_value(0, 1) or b"")
                self.prefetched.read_ahead.learn(key_range.start, row_bytes)
                self.threads.large.learn(key_range.start, row_bytes)


def row_batch(
    jobs: Sequence[ReadJob], read_ahead: ReadAhead, threads: Threads, *, serializable: bool
) -> ReadBatch:
    """Read what steps have declared: one statement, which needs no transaction around it."""
    prefetched = Prefetched(read_ahead)
    rows = _row_question(prefetched, {key for job in jobs for key in job.reads}, jobs)
    questions = [_BEGIN, rows, _END] if serializable else [rows]
    return ReadBatch(prefetched, questions, threads, serializable)


def range_batch(
    jobs: Sequence[ReadJob], read_ahead: ReadAhead, threads: Threads, *, serializable: bool
) -> ReadBatch:
    """Find out by trying what each step reads first; one that reads more after that goes to the threads."""
    prefetched = Prefetched(read_ahead)
    keys: set[bytes] = set()
    for_rows: list[ReadJob] = []
    waiting: dict[Range | Counter, list[ReadJob]] = {}
    for job in jobs:
        key = _first_read(prefetched, job)
        if key is None:
            threads.alone(job)
        elif isinstance(key, Range) and threads.large.covers((key.start,)):
            threads.batched(job)
        elif isinstance(key, bytes):
            keys.update(job.reads, (key,))
            for_rows.append(job)
        else:
            keys.update(job.reads)
            waiting.setdefault(key, []).append(job)
    questions = [_BEGIN, _row_question(prefetched, keys, for_rows)]
    questions += [_question(prefetched, key, stopped) for key, stopped in waiting.items()]
    return ReadBatch(prefetched, [*questions, _END], threads, serializable)


def _first_read(prefetched: Prefetched, job: ReadJob) -> ReadKey | None:
    """What a step stops at, or one of its declared reads: its caller must not be told of an outcome yet."""
    try:
        outcome(prefetched, job)
    except Missing as stop:
        return stop.read_key
    return job.reads[0]


def _row_question(prefetched: Prefetched, wanted: set[bytes], jobs: Sequence[ReadJob]) -> Question:
    keys = [key for key in wanted if not long_keys.is_long(key)]
    return Question(Call(statements.GET, (bytea_array(keys),)), partial(_store_rows, prefetched, keys), jobs)


def _store_rows(prefetched: Prefetched, keys: Sequence[bytes], result: PGresult) -> None:
    prefetched.rows.update(dict.fromkeys(keys))
    prefetched.rows.update(rows_of(result))


def _question(prefetched: Prefetched, key: Range | Counter, jobs: Sequence[ReadJob]) -> Question:
    if isinstance(key, Range):
        return Question(key.call(), partial(prefetched.ranges.__setitem__, key), jobs)
    store = partial(prefetched.counters.__setitem__, key.key)
    return Question(Call(statements.COUNTER, (key.key,)), store, jobs)
