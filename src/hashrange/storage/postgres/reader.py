"""A snapshot for reading: one link, lent to one step at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice

from psycopg.pq.abc import PGresult

from hashrange.storage.errors import StorageError
from hashrange.storage.postgres import long_keys, statements
from hashrange.storage.postgres.arrays import bytea_array, read_int8
from hashrange.storage.postgres.faults import SERIALIZATION_FAILURE, Broken, Refused, translate
from hashrange.storage.postgres.link import Call, Link
from hashrange.storage.postgres.links import Source
from hashrange.storage.postgres.paging import read_range
from hashrange.storage.postgres.scanning import Scan

_SNAPSHOT = Call(statements.SNAPSHOT)
_COMMIT = Call(statements.COMMIT)


class SnapshotReader:
    """The engine's `Reader`: its snapshot begins with the first call and ends with `release`.

    The first call costs one round trip, since the transaction begins with it, and the end costs none,
    since nobody waits for it; unless the transaction is serializable, and its commit may fail.
    """

    __slots__ = ("_known", "_link", "_over", "_seconds", "_source", "collided", "lost")

    def __init__(self, source: Source, *, seconds: float | None = None) -> None:
        self._source = source
        self._seconds = seconds  # how long a scan may take
        self._link: Link | None = None
        self._known: dict[bytes, bytes | None] = {}
        self._over = False
        self.lost = False  # its connection broke when it had begun
        self.collided = False  # with a concurrent write: what it read does not count

    def fetch(self, keys: Iterable[bytes]) -> None:
        """Read several rows at once, ahead of the calls that ask for them."""
        wanted = [key for key in keys if key not in self._known and not long_keys.is_long(key)]
        if wanted:
            found = dict.fromkeys(wanted)
            found.update(rows_of(self._run(Call(statements.GET, (bytea_array(wanted),)))))
            self._known.update(found)

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""
        if key in self._known:
            return self._known[key]
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
        return read_int8(self._run(Call(statements.COUNTER, (key,))).get_value(0, 0))

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order."""
        return [(key, read_int8(value)) for key, value in rows_of(self._run(Call(statements.COUNTERS)))]

    def release(self) -> None:
        """End the snapshot, and with it every scan that was not read to its end."""
        self._over = True
        link, self._link = self._link, None
        if link is None:
            return
        try:
            if not link.broken:
                end_snapshot(link, confirm=self._source.serializable)
        except Exception as error:
            raise self._failure(error, link) from error
        finally:
            self._source.give_back(link)

    def _run(self, call: Call) -> PGresult:
        if self._over:
            raise StorageError("a snapshot does not outlive its step")
        try:
            if self._link is None:
                self._link, results = self._source.first([_SNAPSHOT, call])
                return results[1]
            return self._link.run([call])[0]
        except Exception as error:
            raise self._failure(error, self._link) from error

    def _failure(self, error: Exception, link: Link | None) -> StorageError:
        self.lost = link is not None and isinstance(error, Broken)
        self.collided = isinstance(error, Refused) and error.is_conflict
        return translate(error)


def end_snapshot(link: Link, *, confirm: bool) -> None:
    """End the transaction of a snapshot; with `confirm` wait for its commit, which may be refused."""
    if not confirm:
        link.leave([_COMMIT])
    elif link.run([_COMMIT])[0].command_status != b"COMMIT":
        raise Refused(SERIALIZATION_FAILURE, "the snapshot was rolled back")


def get_call(key: bytes) -> Call:
    """Read one row."""
    if type(key) is not bytes:
        raise TypeError("keys are bytes")
    return Call(statements.GET, (bytea_array((key,)),))


def rows_of(result: PGresult) -> Iterator[tuple[bytes, bytes | None]]:
    """The keys and values of a result."""
    for number in range(result.ntuples):
        yield result.get_value(number, 0) or b"", result.get_value(number, 1)
