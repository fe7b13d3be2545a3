"""Snapshots for reading: each has a connection to itself and lasts for one step."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from psycopg.pq.abc import PGresult

from hashrange.storage.errors import StorageError
from hashrange.storage.postgres import long_keys, statements
from hashrange.storage.postgres.arrays import bytea_array
from hashrange.storage.postgres.backoff import back_off
from hashrange.storage.postgres.counters import summed_counter, summed_counters
from hashrange.storage.postgres.faults import SERIALIZATION_FAILURE, Broken, Refused, translate
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from hashrange.storage.postgres.pool import ConnectionSource
from hashrange.storage.postgres.ranges import Scan, read_range

T = TypeVar("T")

ATTEMPTS = 8

_SNAPSHOT = Call(statements.SNAPSHOT)
_COMMIT = Call(statements.COMMIT)


class SnapshotReader:
    """The engine's `Reader`: its snapshot begins with the first call and ends with `release`.

    The first call costs one round trip, since the transaction begins with it, and the end costs none,
    since nobody waits for it; unless the transaction is serializable, and its commit may fail.
    """

    joined = None
    __slots__ = ("_connection", "_over", "_rows", "_seconds", "_source", "collided", "lost")

    def __init__(self, source: ConnectionSource, *, seconds: float | None = None) -> None:
        self._source = source
        self._seconds = seconds  # how long a scan may take
        self._connection: PipelineConnection | None = None
        self._rows: dict[bytes, bytes | None] = {}
        self._over = False
        self.lost = False  # its connection broke when it had begun
        self.collided = False  # with a concurrent write: what it read does not count

    def fetch(self, keys: Iterable[bytes]) -> None:
        """Read several rows at once, ahead of the calls that ask for them."""
        missing = [key for key in keys if key not in self._rows and not long_keys.is_long(key)]
        if missing:
            rows = dict.fromkeys(missing)
            rows.update(rows_of(self._run(Call(statements.GET, (bytea_array(missing),)))))
            self._rows.update(rows)

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        if key in self._rows:
            return self._rows[key]
        if long_keys.is_long(key):
            result = self._run(long_keys.get_call(key))
            return result.get_value(0, 0) if result.ntuples else None
        return next((value for _, value in rows_of(self._run(get_call(key)))), None)

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows with start <= key < end, page by page as the caller asks."""
        if limit is not None and limit <= 0:
            return iter(())
        rows = read_range(self._run, start, end, reverse=reverse, hint=limit)
        return Scan(islice(rows, limit), lambda: not self._over, seconds=self._seconds)

    def counter(self, key: bytes) -> int:
        """Give a counter's committed value."""
        return summed_counter(key, self._run(Call(statements.COUNTER, (key,))))

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order."""
        return summed_counters(self._run(Call(statements.COUNTERS)))

    def release(self) -> None:
        """End the snapshot, and with it every scan that was not read to its end."""
        self._over = True
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if not connection.broken:
                end_snapshot(connection, confirm=self._source.serializable)
        except Exception as error:
            raise self._failure(error, connection) from error
        finally:
            self._source.release(connection)

    def _run(self, call: Call) -> PGresult:
        if self._over:
            raise StorageError("a snapshot does not outlive its step")
        try:
            if self._connection is None:
                self._connection, results = self._source.begin([_SNAPSHOT, call])
                return results[1]
            return self._connection.run([call])[0]
        except Exception as error:
            raise self._failure(error, self._connection) from error

    def _failure(self, error: Exception, connection: PipelineConnection | None) -> StorageError:
        self.lost = connection is not None and isinstance(error, Broken)
        self.collided = isinstance(error, Refused) and error.is_conflict
        return translate(error)


def end_snapshot(connection: PipelineConnection, *, confirm: bool) -> None:
    """End the transaction of a snapshot; with `confirm` wait for its commit, which may be refused."""
    if not confirm:
        connection.send_and_forget([_COMMIT])
    elif connection.run([_COMMIT])[0].command_status != b"COMMIT":
        raise Refused(SERIALIZATION_FAILURE, "the snapshot was rolled back")


def read_on(
    source: ConnectionSource,
    step: Callable[[SnapshotReader], T],
    *,
    reads: Sequence[bytes] = (),
    seconds: float | None = None,
) -> T:
    """Run a step on a snapshot, which ends with it; once more where the snapshot is lost, or collides."""
    for attempt in range(ATTEMPTS):
        reader = SnapshotReader(source, seconds=seconds)
        try:
            return _run_step(reader, step, reads)
        except BaseException:
            is_last = attempt == ATTEMPTS - 1 or (reader.lost and attempt > 0)
            if is_last or not (reader.lost or reader.collided):
                raise
        back_off(attempt)
    raise AssertionError("the last attempt gives or raises")


def _run_step(reader: SnapshotReader, step: Callable[[SnapshotReader], T], reads: Sequence[bytes]) -> T:
    try:
        if reads:
            reader.fetch(reads)
        return step(reader)
    finally:
        reader.release()


def get_call(key: bytes) -> Call:
    """Read one row."""
    if type(key) is not bytes:
        raise TypeError("keys are bytes")
    return Call(statements.GET, (bytea_array((key,)),))


def rows_of(result: PGresult) -> Iterator[tuple[bytes, bytes | None]]:
    """The keys and values of a result."""
    for number in range(result.ntuples):
        yield result.get_value(number, 0) or b"", result.get_value(number, 1)
