"""The SQLite engine: readers beside one group-committing writer on one file."""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, cast

import apsw

from hashrange.storage.delivery import run_inline
from hashrange.storage.engine import Deliver, Done, Reader, Soon, Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite import schema
from hashrange.storage.sqlite.checkpoint import LOG_PAGES_START, Checkpointer
from hashrange.storage.sqlite.committer import Committer
from hashrange.storage.sqlite.faults import translate
from hashrange.storage.sqlite.lock import DirectoryLock
from hashrange.storage.sqlite.patience import PatientReaders
from hashrange.storage.sqlite.reader import SnapshotReader
from hashrange.storage.sqlite.tide import LocalTide, Tide
from hashrange.storage.sqlite.transaction import WriteTransaction
from hashrange.storage.sqlite.turn import SharedTurn, Turn
from hashrange.storage.sqlite.vacuum import give_back
from hashrange.storage.waiting import Waiter

T = TypeVar("T")

log = logging.getLogger(__name__)

WRITER_CACHE_KIB = 32 * 1024
READER_CACHE_KIB = 16 * 1024
CHECKPOINT_CACHE_KIB = 256
IDLE_READERS_MAX = 4


class SqliteEngine:
    """An `Engine` on one data directory, which it owns while open, alone or with its fellow workers."""

    blocking = False
    shared = False

    def __init__(
        self,
        path: Path,
        claim: DirectoryLock | SharedTurn,
        writer: apsw.Connection,
        deliver: Deliver,
        tide: Tide,
        soon: Soon | None,
    ) -> None:
        """Take over a claim on the directory and a prepared connection; use `open` or `join`."""
        self._path = path
        self._claim = claim
        self._writer = writer
        # A checkpoint that waited for a reader would keep the writer waiting too; it comes back later.
        checkpoints = self._connect(CHECKPOINT_CACHE_KIB)
        checkpoints.set_busy_timeout(0)
        self._tide = tide
        self._idle_readers: list[SnapshotReader] = []
        self._patient = PatientReaders(deliver)
        self._checkpointer = Checkpointer(checkpoints, self._writer, tide, self._unpin)
        turn = claim if isinstance(claim, SharedTurn) else Turn()
        self._committer = Committer(WriteTransaction(self._writer), deliver, turn, soon)
        self._checkpointer.start(self._committer.interject)
        self._closed = False
        self._closing = threading.Lock()

    @classmethod
    def open(cls, path: Path, *, deliver: Deliver | None = None, soon: Soon | None = None) -> "SqliteEngine":
        """Take the data directory `path` and open or create the data file in it."""
        return cls._open(path, DirectoryLock(path), deliver or run_inline, LocalTide(), soon)

    @staticmethod
    def claim(path: Path) -> DirectoryLock:
        """Take a data directory for workers that will `join`, with a data file in it that is ready for them."""
        lock = DirectoryLock(path)
        try:
            schema.open_file(schema.data_file(path), cache_kib=CHECKPOINT_CACHE_KIB).close(True)
        except BaseException:
            lock.release()
            raise
        return lock

    @staticmethod
    def describe(path: Path) -> str:
        """Name the engine and its file."""
        return f"SQLite ({schema.data_file(path)})"

    @classmethod
    def join(cls, path: Path, *, deliver: Deliver, tide: Tide, soon: Soon | None = None) -> "SqliteEngine":
        """Open the data file together with other workers; their parent holds the directory's lock."""
        return cls._open(path, SharedTurn(path), deliver, tide, soon)

    @classmethod
    def _open(
        cls,
        path: Path,
        claim: DirectoryLock | SharedTurn,
        deliver: Deliver,
        tide: Tide,
        soon: Soon | None,
    ) -> "SqliteEngine":
        try:
            file = schema.data_file(path)
            writer = schema.open_file(file, cache_kib=WRITER_CACHE_KIB)
            return cls(file, claim, writer, deliver, tide, soon)
        except BaseException:
            claim.release()
            raise

    @property
    def description(self) -> str:
        """Name the engine and its file."""
        return self.describe(self._path.parent)

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run `step` on one snapshot, on a reader nobody else uses meanwhile."""
        tide = self._tide.seen()
        try:
            # One reader per read under way, not per thread; pop and append are atomic.
            reader = self._idle_readers.pop()
        except IndexError:
            reader = self._new_reader()
        try:
            reader.renew(tide, seconds)
            return step(reader)
        except apsw.Error as error:
            raise translate(error) from error
        finally:
            self._take_back(reader)

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        more: bool = False,
        eventual: bool = False,
    ) -> None:
        """Run `step` on a thread where it may take its time."""
        self._patient.submit(lambda: self.read(step), done)

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step` for the next commit."""
        self._committer.submit(step, done)

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Submit `step` and wait until it is on disk."""
        waiter: Waiter[T] = Waiter()
        self._committer.submit(step, waiter.done, waiting=True)
        return waiter.wait()

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order, for copying them."""
        return self.read(lambda reader: cast("SnapshotReader", reader).counters())

    def maintain(self, budget_pages: int) -> int:
        """Give free pages at the end of the file back, between two commits."""
        waiter: Waiter[int] = Waiter()
        if not self._committer.interject(lambda: waiter.run(lambda: give_back(self._writer, budget_pages))):
            raise Closed("the engine is closed")
        try:
            return waiter.wait()
        except apsw.Error as error:
            raise translate(error) from error

    def close(self) -> None:
        """Finish queued steps, move the log into the file, let go of the directory."""
        with self._closing:
            if self._closed:
                return
            self._patient.close()
            self._committer.close()
            self._closed = True
            self._checkpointer.stop()
            self._close_readers()
            try:
                # Closing the last connection moves the log into the file and removes it.
                self._writer.close(True)
            except apsw.Error as error:
                # What was acknowledged is in the log, and the next opening finds it there.
                log.warning("closing the data file: %s", error)
            finally:
                self._claim.release()

    def _connect(self, cache_kib: int) -> apsw.Connection:
        try:
            return schema.connect(str(self._path), cache_kib=cache_kib)
        except apsw.Error as error:
            raise translate(error) from error

    def _new_reader(self) -> SnapshotReader:
        if self._closed:
            raise Closed("the engine is closed")
        return SnapshotReader(self._connect(READER_CACHE_KIB))

    def _take_back(self, reader: SnapshotReader) -> None:
        try:
            # A log that is due to start over can only do so while no reader has a snapshot of it.
            reader.release(keep=self._tide.log_pages() < LOG_PAGES_START)
        except apsw.Error as error:
            reader.close()
            raise translate(error) from error
        if len(self._idle_readers) >= IDLE_READERS_MAX:
            reader.close()
            return
        self._idle_readers.append(reader)
        if self._closed:
            self._close_readers()

    def _unpin(self) -> None:
        """End the snapshots of readers that were not used since the last time."""
        for _ in range(len(self._idle_readers)):
            try:
                reader = self._idle_readers.pop(0)
            except IndexError:
                return
            if reader.idle:
                reader.end()
            reader.idle = True
            self._idle_readers.append(reader)

    def _close_readers(self) -> None:
        while self._idle_readers:
            self._idle_readers.pop().close()
