"""The rows of long jobs: backups, restores, exports, imports. A job goes on from its row after a crash.

Each kind of job has a record of its own type, which says what was asked for, how far the job is, and how it ended.
Those that are not finished have a mark, so that nobody has to look through the finished ones.
"""

from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

import msgspec

from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction

T = TypeVar("T", bound=msgspec.Struct)


class JobPlace(NamedTuple):
    """What identifies a job among those of its kind."""

    account_id: str
    region: str
    id: str  # begins with the time of the request, so that ids sort by age


def job_id(now: float, suffix: str) -> str:
    """An id that begins with the time in milliseconds, rounded as the API shows times."""
    return f"{round(now * 1000):014d}-{suffix}"


class JobRows(Generic[T]):
    """All jobs of one kind."""

    def __init__(self, kind: str, record: type[T]) -> None:
        self._kind = kind
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder(record)

    def save(self, tx: Transaction, place: JobPlace, record: T, *, active: bool) -> None:
        """Write a job's record; one that is not `active` is finished."""
        key = self._key(place)
        tx.put(layout.JOB + key, self._encoder.encode(record))
        if active:
            tx.put(layout.ACTIVE_JOB + key, b"")
        else:
            tx.delete(layout.ACTIVE_JOB + key)

    def remove(self, tx: Transaction, place: JobPlace) -> None:
        """Forget a job."""
        key = self._key(place)
        tx.delete(layout.JOB + key)
        tx.delete(layout.ACTIVE_JOB + key)

    def find(self, reader: Reader, place: JobPlace) -> T | None:
        """The record of a job."""
        stored = reader.get(layout.JOB + self._key(place))
        return None if stored is None else self._decoder.decode(stored)

    def active(self, reader: Reader) -> list[JobPlace]:
        """The jobs that are not finished, oldest first within a region."""
        prefix = layout.ACTIVE_JOB + f"{self._kind}\0".encode()
        return [_place(key, len(prefix)) for key, _ in reader.scan(prefix, encoding.prefix_end(prefix))]

    def everywhere(self, reader: Reader) -> Iterator[tuple[JobPlace, T]]:
        """The jobs of all regions."""
        prefix = layout.JOB + f"{self._kind}\0".encode()
        for key, stored in reader.scan(prefix, encoding.prefix_end(prefix)):
            yield _place(key, len(prefix)), self._decoder.decode(stored)

    def with_id(self, reader: Reader, job_id: str) -> Iterator[T]:
        """The jobs that have an id, in whichever account and region: there is one at most, but nothing says so."""
        prefix = layout.JOB + f"{self._kind}\0".encode()
        end = f"\0{job_id}".encode()
        for key, stored in reader.scan(prefix, encoding.prefix_end(prefix)):
            if key.endswith(end):
                yield self._decoder.decode(stored)

    def of_region(
        self, reader: Reader, account_id: str, region: str, *, after: str = "", reverse: bool = False
    ) -> Iterator[tuple[JobPlace, T]]:
        """The jobs of a region by id: oldest first, from behind an id, or newest first, up to it."""
        prefix = layout.JOB + f"{self._kind}\0{account_id}\0{region}\0".encode()
        kind_bytes = len(layout.JOB) + len(self._kind) + 1
        start, end = prefix, encoding.prefix_end(prefix)
        if after and reverse:
            end = prefix + after.encode()
        elif after:
            start = prefix + after.encode() + b"\0"
        for key, stored in reader.scan(start, end, reverse=reverse):
            yield _place(key, kind_bytes), self._decoder.decode(stored)

    def _key(self, place: JobPlace) -> bytes:
        return "\0".join((self._kind, *place)).encode()


def _place(key: bytes, prefix_bytes: int) -> JobPlace:
    account_id, region, job_id = key[prefix_bytes:].decode().split("\0")
    return JobPlace(account_id, region, job_id)
