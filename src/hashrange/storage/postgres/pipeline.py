"""A connection that sends statements in pipelines: any number of them cost one round trip, under one deadline.

This speaks to libpq through `psycopg.pq` and not through cursors: a cursor spends more time per statement
than the database does (the figures are in docs/design/006-postgres-engine.md), and has no deadline of its
own, which is what gets us away from a server that was paused.
"""

import select
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGconn, PGresult

from hashrange.storage.postgres.faults import Broken, TimedOut, refused

_GOOD = frozenset({pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK, pq.ExecStatus.EMPTY_QUERY})
_ABORTED = pq.ExecStatus.PIPELINE_ABORTED
_SYNC = pq.ExecStatus.PIPELINE_SYNC
_BINARY = pq.Format.BINARY
# libpq reads into a buffer of 16 KB that grows with the longest message it has met, and never shrinks. Into a large one
# the rows of a page are read at once, and not in four pieces after each of which the event loop looks at them.
_LONG_MESSAGE = b"SELECT repeat('x', 200000)"
_FORMATS = [[_BINARY] * count for count in range(8)]


class _Late(psycopg.OperationalError):
    """The database did not answer in time."""


class Call(NamedTuple):
    """One statement of a pipeline: its name and its parameters, encoded in binary."""

    name: bytes
    parameters: Sequence[bytes | None] = ()


class PipelineConnection:
    """One connection, used by one thread at a time. After `Broken` it is of no more use."""

    __slots__ = ("_connection", "_owed", "_pg", "_poll", "_reads", "seconds_max", "warned")

    def __init__(
        self,
        connection: psycopg.Connection,
        settings: Sequence[str],
        statements: Mapping[bytes, bytes],
        *,
        seconds_max: float,
    ) -> None:
        """Take over an open connection, set it up and prepare the statements on it."""
        self._connection = connection
        self._pg: PGconn = connection.pgconn
        self.seconds_max = seconds_max
        self._poll = select.poll()
        # What TLS has decrypted does not show on the socket: at most one record, twice what a read takes.
        self._reads = 3 if self._pg.ssl_in_use else 1
        self._owed = 0  # pipelines whose results nobody has waited for yet
        self.warned = False
        connection.add_notice_handler(self._notice)
        self._pg.nonblocking = 1
        self._pg.enter_pipeline_mode()
        self._poll.register(self._pg.socket, select.POLLIN)
        self._set_up(settings, statements)

    def run(self, calls: Sequence[Call], *, keep_late: bool = False) -> list[PGresult]:
        """Send all statements at once and give their results; a refusal by the server is raised as its fault.

        With `keep_late` the connection stays open when it raises `TimedOut`, for `receive_rest`.
        """
        self.send(calls)
        return self.receive(len(calls), keep_late=keep_late)

    def run_or_cancel(self, calls: Sequence[Call], *, seconds: float) -> list[PGresult]:
        """Like `run`, but has the server cancel what takes longer than this: only for what nobody relies on."""
        self.warned = False
        self.send(calls)
        self._poll.modify(self._pg.socket, select.POLLIN)
        if not self._poll.poll(seconds * 1000):
            with suppress(psycopg.Error):
                self._connection.cancel_safe(timeout=seconds)
        return self.receive(len(calls))

    def receive_rest(self) -> None:
        """Take the rest of an answer that came too late; `warned` says whether the server warned of anything."""
        for _ in self._results():
            pass

    def send_and_forget(self, calls: Sequence[Call]) -> None:
        """Send statements whose results nobody needs; the next run takes them off the wire.

        A connection that is lost by now is closed, and that is all: nothing was at stake.
        """
        with suppress(Broken):
            self.send(calls)
            self._owed += 1

    def send(self, calls: Sequence[Call]) -> None:
        """Put statements on the wire without waiting for their results."""
        try:
            self._queue(calls)
            self._flush(time.monotonic() + self.seconds_max)
        except psycopg.OperationalError as error:
            raise self._broken(error) from error

    def receive(self, count: int, *, keep_late: bool = False) -> list[PGresult]:
        """Give the results of `count` statements sent together."""
        while self._owed:
            self._owed -= 1
            for _ in self._results():
                pass
        results: list[PGresult] = []
        failed: PGresult | None = None
        for result in self._results(keep_late=keep_late):
            if result.status in _GOOD:
                results.append(result)
            elif result.status != _ABORTED and failed is None:
                failed = result
        if failed is not None:
            raise refused(failed, len(results))
        if len(results) != count:
            self.close()
            raise Broken("the server answered out of turn")
        return results

    # For an event loop, which never waits, and stops listening to a connection before it closes it.

    def post(self, calls: Sequence[Call]) -> bool:
        """Like `send`; False if something is left for `push`."""
        try:
            self._queue(calls)
        except psycopg.OperationalError as error:
            raise Broken(str(error)) from error
        return self.push()

    def push(self) -> bool:
        """Send more of what was posted; False if something is still left."""
        try:
            return not self._pg.flush()
        except psycopg.OperationalError as error:
            raise Broken(str(error)) from error

    def take(self) -> tuple[list[PGresult], bool]:
        """Give the results that have come since, of which some may be refusals, and whether these are the last."""
        pg = self._pg
        results: list[PGresult] = []
        was_none = False
        try:
            for _ in range(self._reads):
                pg.consume_input()
            while not pg.is_busy():
                result = pg.get_result()
                if result is None:  # one separates the results of two statements
                    if was_none:
                        raise Broken("the server has ended the session, or answered out of turn")
                    was_none = True
                    continue
                was_none = False
                if result.status != _SYNC:
                    results.append(result)
                elif self._owed:
                    self._owed -= 1
                    results.clear()
                else:
                    return results, True
        except psycopg.OperationalError as error:
            raise Broken(str(error)) from error
        return results, False

    def expect_quiet(self) -> None:
        """Raise `Broken` if the server has ended the session while nothing was under way."""
        self.warned = False
        try:
            self._pg.consume_input()
            self._pg.is_busy()  # parses the input
        except psycopg.OperationalError as error:
            raise Broken(str(error)) from error
        if self.warned or self.broken:
            raise Broken("the server has ended the session")

    # For threads again.

    def expect_open(self) -> None:
        """Raise `Broken` if the server has ended the session since the last answer; does not wait."""
        self.warned = False
        self._poll.modify(self._pg.socket, select.POLLIN)
        try:
            while self._poll.poll(0):
                self._pg.consume_input()
                self._pg.is_busy()  # parses the input
        except psycopg.OperationalError as error:
            self.close()
            raise Broken(str(error)) from error
        if self.warned:  # the only unsolicited message is that the session ends
            self.close()
            raise Broken("the server has ended the session")

    @property
    def idle(self) -> bool:
        """Whether the server considers no transaction open."""
        return self._pg.transaction_status == pq.TransactionStatus.IDLE

    @property
    def broken(self) -> bool:
        """Whether the connection is known to be gone."""
        return self._pg.status != pq.ConnStatus.OK

    @property
    def fileno(self) -> int:
        """The socket, for tests that cut it."""
        return self._pg.socket

    def close(self) -> None:
        """Let go of the connection, whatever is under way on it."""
        self._connection.close()

    def _broken(self, error: psycopg.OperationalError, *, keep_late: bool = False) -> Broken:
        """Close the connection, and give what to raise."""
        if isinstance(error, _Late):
            if not keep_late:
                self.close()
            return TimedOut(str(error))
        self.close()
        return Broken(str(error))

    def _results(self, *, keep_late: bool = False) -> Iterator[PGresult]:
        """Give results up to the pipeline's end."""
        pg = self._pg
        deadline = time.monotonic() + self.seconds_max
        try:
            while True:
                while pg.is_busy():
                    self._wait(select.POLLIN, deadline)
                    pg.consume_input()
                result = pg.get_result()
                if result is None:  # separates the results of one statement from those of the next
                    continue
                if result.status == _SYNC:
                    return
                if result.status == pq.ExecStatus.FATAL_ERROR:
                    self._expect_alive(result)
                yield result
        except psycopg.OperationalError as error:
            raise self._broken(error, keep_late=keep_late) from error

    def _expect_alive(self, result: PGresult) -> None:
        if self._pg.status != pq.ConnStatus.OK:
            raise psycopg.OperationalError(result.get_error_message())

    def _queue(self, calls: Sequence[Call]) -> None:
        pg = self._pg
        for name, parameters in calls:
            pg.send_query_prepared(name, parameters, _FORMATS[len(parameters)], _BINARY)
        pg.pipeline_sync()

    def _flush(self, deadline: float) -> None:
        pg = self._pg
        while pg.flush():
            # A large parameter may have to wait until the server has sent what it has to say.
            if self._wait(select.POLLIN | select.POLLOUT, deadline) & select.POLLIN:
                pg.consume_input()

    def _wait(self, events: int, deadline: float) -> int:
        self._poll.modify(self._pg.socket, events)
        left = deadline - time.monotonic()
        events_by_socket = self._poll.poll(left * 1000) if left > 0 else []
        if not events_by_socket:
            raise _Late("the database did not answer in time")
        return events_by_socket[0][1]

    def _notice(self, _notice: object) -> None:
        self.warned = True

    def _set_up(self, settings: Sequence[str], statements: Mapping[bytes, bytes]) -> None:
        try:
            for setting in settings:
                self._pg.send_query_params(setting.encode(), None)
            self._pg.send_query_params(_LONG_MESSAGE, None)
            self._pg.pipeline_sync()  # from here on the settings hold
            for name, sql in statements.items():
                self._pg.send_prepare(name, sql)
            self._pg.pipeline_sync()
            self._flush(time.monotonic() + self.seconds_max)
            self.receive(len(settings) + 1)
            self.receive(len(statements))
        except psycopg.OperationalError as error:
            raise self._broken(error) from error
        except BaseException:
            self.close()
            raise
