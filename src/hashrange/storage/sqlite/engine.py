"""The SQLite engine: readers beside one group-committing writer on one file."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import apsw

from hashrange import logs
from hashrange.storage.delivery import run_inline
from hashrange.storage.engine import CallSoon, Deliver, Done, FileWatch, Reader, Transaction
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.sqlite import cache_sizes, page_checksums, page_encryption, schema
from hashrange.storage.sqlite.background_sync import BackgroundSync
from hashrange.storage.sqlite.cache_sizes import CacheSizes
from hashrange.storage.sqlite.cached_reader import CachedReader
from hashrange.storage.sqlite.checkpoint import Checkpointer, LogLimits
from hashrange.storage.sqlite.commit_version import CommitVersion, LocalCommitVersion
from hashrange.storage.sqlite.committer import Committer
from hashrange.storage.sqlite.directory_lock import LOCK_NAME as DIRECTORY_LOCK
from hashrange.storage.sqlite.directory_lock import DirectoryLock
from hashrange.storage.sqlite.faults import translate
from hashrange.storage.sqlite.guard import CommitGuard
from hashrange.storage.sqlite.opening import open_file
from hashrange.storage.sqlite.pauses import Pauses
from hashrange.storage.sqlite.read_pool import ReadPool
from hashrange.storage.sqlite.reader import SnapshotReader
from hashrange.storage.sqlite.row_cache import RowCache
from hashrange.storage.sqlite.transaction import WriteTransaction
from hashrange.storage.sqlite.unsynced import UnsyncedCommit
from hashrange.storage.sqlite.vacuum import vacuum_full_disk
from hashrange.storage.sqlite.write_lock import LOCK_NAME as WRITE_LOCK
from hashrange.storage.sqlite.write_lock import InterprocessWriteLock, WriteLock
from hashrange.storage.waiting import Waiter

T = TypeVar("T")

log = logs.Log("storage.sqlite")

# A page that is in a connection's cache is not read and its checksum is not computed again: see `CacheSizes`.
CHECKPOINT_CACHE_KIB = 256
IDLE_READERS_MAX = 4


class Lock(NamedTuple):
    """What keeps other writers away: the lock of every commit, and how to release what was locked at the opening."""

    write_lock: WriteLock
    release: Callable[[], None]
    files: list[Path]  # the lock files


class SqliteEngine:
    """An `Engine` on one data directory, which it has for itself while open, or shares with the other workers."""

    encrypted = False
    shared = False

    def __init__(
        self,
        path: Path,
        lock: Lock,
        writer: apsw.Connection,
        deliver: Deliver,
        commit_version: CommitVersion,
        call_soon: CallSoon | None,
        caches: CacheSizes,
        watch: FileWatch | None,
    ) -> None:
        """Use `open` or `join` instead: they lock the directory and open the file."""
        self._path = path
        self._lock = lock
        self._writer = writer
        # A checkpoint that waited for a reader would keep the writer waiting too: it fails at once and is retried.
        checkpoints = self._connect(CHECKPOINT_CACHE_KIB)
        checkpoints.set_busy_timeout(0)
        self._checks_pages = page_checksums.are_checked(writer) or page_encryption.is_unlocked(path)
        self._commit_version = commit_version
        self._idle_readers: list[SnapshotReader] = []
        self._reader_cache_kib = caches.reader_kib
        self._read_pool = ReadPool(deliver)
        self._log_limits = LogLimits.of_volume(path.parent)
        self._kept_log_pages = self._log_limits.start // 2  # a log that is longer gets no idle readers
        self._guard = CommitGuard(path, lock.files)
        self._checkpointer = Checkpointer(
            checkpoints,
            self._writer,
            commit_version,
            self._release_snapshots,
            self._guard,
            self._log_limits,
        )
        transaction = self._transaction = WriteTransaction(self._writer)
        transaction.guard = self._guard
        transaction.checks_pages = self._checks_pages
        transaction.log_pages = commit_version.log_pages
        # Other workers' commits would have to be followed as well.
        is_alone = isinstance(commit_version, LocalCommitVersion)
        self._cache = transaction.cache = (
            RowCache(commit_version.current, caches.rows_bytes) if is_alone else None
        )
        self.reads = 0  # about so many: nobody locks anything to count them
        self._pinned: SnapshotReader | None = None  # for the loop's reads while a commit is not synced
        self._is_pinned_lent = False
        self._loop_thread = threading.get_ident()
        self._watch = watch
        self._sync = BackgroundSync.start(writer) if watch is not None and is_alone else None
        self._unsynced: UnsyncedCommit | None = None
        if self._sync is not None and isinstance(commit_version, LocalCommitVersion):
            self._unsynced = UnsyncedCommit(
                self._sync,
                commit_version,
                self._pin,
                self._unpin,
                lambda: self.reads,
                self._guard.refuse_unsynced,
                self._checkpointer,
            )
        self._committer = Committer(
            transaction, deliver, lock.write_lock, self._checkpointer, call_soon, self._unsynced
        )
        if watch is not None and self._sync is not None:
            watch.add_reader(self._sync.wakeups, self._committer.sync_over)
        self._checkpointer.start(self._committer.run_between_commits, transaction.begin_log)
        self._closed = False
        self._closing = threading.Lock()

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        deliver: Deliver | None = None,
        call_soon: CallSoon | None = None,
        caches: CacheSizes = cache_sizes.DEFAULT,
        watch: FileWatch | None = None,
    ) -> "SqliteEngine":
        """Lock the data directory `path` and open or create the data file in it."""
        lock = Lock(WriteLock(), DirectoryLock(path).release, [path / DIRECTORY_LOCK])
        return cls._open(path, lock, deliver or run_inline, LocalCommitVersion(), call_soon, caches, watch)

    @staticmethod
    def lock_directory(path: Path) -> DirectoryLock:
        """Lock a data directory for workers that will `join`, and create or check the data file for them."""
        lock = DirectoryLock(path)
        try:
            open_file(schema.data_file(path), cache_kib=CHECKPOINT_CACHE_KIB).close(True)
        except BaseException:
            lock.release()
            raise
        return lock

    @staticmethod
    def describe(path: Path) -> str:
        """Name the engine and its file."""
        return f"SQLite ({schema.data_file(path)})"

    @classmethod
    def join(
        cls,
        path: Path,
        *,
        deliver: Deliver,
        commit_version: CommitVersion,
        call_soon: CallSoon | None = None,
        caches: CacheSizes = cache_sizes.DEFAULT,
    ) -> "SqliteEngine":
        """Open the data file together with other workers; their parent holds the directory's lock."""
        write_lock = InterprocessWriteLock(path)
        lock = Lock(write_lock, write_lock.close, [path / DIRECTORY_LOCK, path / WRITE_LOCK])
        return cls._open(path, lock, deliver, commit_version, call_soon, caches, is_first=False)

    @classmethod
    def _open(
        cls,
        path: Path,
        lock: Lock,
        deliver: Deliver,
        commit_version: CommitVersion,
        call_soon: CallSoon | None,
        caches: CacheSizes,
        watch: FileWatch | None = None,
        *,
        is_first: bool = True,
    ) -> "SqliteEngine":
        try:
            file = schema.data_file(path)
            writer = open_file(file, cache_kib=caches.writer_kib, is_first=is_first)
            return cls(file, lock, writer, deliver, commit_version, call_soon, caches, watch)
        except BaseException:
            lock.release()
            raise

    @property
    def description(self) -> str:
        """Name the engine and its file."""
        return self.describe(self._path.parent)

    @property
    def directory(self) -> Path | None:
        """The data directory."""
        return self._path.parent

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run `step` on one snapshot, or for an event loop on rows of the cache that are of one moment.

        Steps with a timeout are those of an event loop: short, so that no commit comes in between most often. What
        takes long would push out of the cache what others ask for, and would have to be run again too often.
        """
        self.reads += 1
        cache = self._cache
        version = self._commit_version.current()
        if cache is None or seconds is None or cache.version != version:
            return self._read(step, version, seconds)
        reader = CachedReader(cache, version, self, seconds)
        try:
            result = step(reader)
        except apsw.Error as error:
            raise self._failed(reader.behind, error) from error
        except BaseException:
            if self._ends_consistent(reader):
                raise
        else:
            if self._ends_consistent(reader):
                return result
        # A commit came in between, after something was found in the cache.
        return self._read(step, self._commit_version.current(), seconds)

    def at_hand(self, key: bytes, /) -> bytes | None:
        """Give the row at `key` from the cache."""
        self.reads += 1
        cache = self._cache
        if cache is None:
            return None
        value = cache.recent.get(key)
        # What a commit is about to change may be found here until the version is withdrawn, so that is looked at last.
        return None if value is None or cache.version != self._commit_version.current() else value

    def _read(self, step: Callable[[Reader], T], version: object, seconds: float | None) -> T:
        reader = self.lend(version, seconds)
        try:
            result = step(reader)
        except apsw.Error as error:
            raise self._failed(reader, error) from error
        except BaseException:
            self._return_reader(reader)
            self._await_sync(seconds)
            raise
        self._return_reader(reader)
        self._await_sync(seconds)
        return result

    def _await_sync(self, seconds: float | None) -> None:
        """Wait until what a step may have seen is on disk; steps of the loop have seen nothing else."""
        if self._unsynced is None or seconds is not None or not self._unsynced.number:
            return
        if threading.get_ident() == self._loop_thread:
            self._committer.finish_unsynced()
        else:
            self._unsynced.wait()

    def lend(self, commit_version: object, seconds: float | None) -> SnapshotReader:
        """A reader that nobody else uses until it is returned, for a step that sees everything up to this version."""
        if self._unsynced is not None and self._unsynced.number and seconds is not None:
            reader = self._lend_pinned()
        else:
            reader = self._idle_reader()
        try:
            reader.begin_step(commit_version, seconds)
        except apsw.Error as error:
            raise self._failed(reader, error) from error
        return reader

    def _idle_reader(self) -> SnapshotReader:
        try:
            # One reader per read under way, not per thread; pop and append are atomic.
            return self._idle_readers.pop()
        except IndexError:
            return self._new_reader()

    # On the loop's thread, for its reads while a commit is not synced.

    def _pin(self) -> None:
        """Begin the snapshot that the loop's reads use until the commit that comes now is on disk."""
        if self._pinned is None:
            self._pinned = self._idle_reader()
        try:
            self._pinned.pin(self._commit_version.current())
        except apsw.Error as error:
            raise self._failed(self._pinned, error) from error

    def _unpin(self) -> None:
        """Let others have the reader, when nothing is unsynced."""
        reader, self._pinned = self._pinned, None
        if reader is not None:
            self._return_reader(reader)

    def _lend_pinned(self) -> SnapshotReader:
        reader = self._pinned
        if reader is None or self._is_pinned_lent:
            # It has failed, or a step reads inside of another one: wait for the disk.
            self._committer.finish_unsynced()
            return self._idle_reader()
        self._is_pinned_lent = True
        return reader

    def _ends_consistent(self, reader: CachedReader) -> bool:
        if reader.behind is not None:
            self._return_reader(reader.behind)
        return reader.ends_consistent()

    def _failed(self, reader: SnapshotReader | None, error: apsw.Error) -> Exception:
        """The error of a read. After some of them SQLite ends the snapshot by itself: nobody uses that reader again."""
        if reader is not None:
            if reader is self._pinned:
                self._pinned, self._is_pinned_lent = None, False
            reader.locate(error)
            reader.close()
        return translate(error)

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        more: bool = False,
        eventual: bool = False,
    ) -> None:
        """Run `step` on a thread of the read pool."""
        self._read_pool.submit(lambda: self.read(step), done)

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step` for the next commit."""
        self._committer.submit(step, done)

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Submit `step` and wait until it is on disk."""
        waiter: Waiter[T] = Waiter()
        self._committer.submit(step, waiter.done, will_block=True)
        return waiter.wait()

    def counters(self) -> list[tuple[bytes, int]]:
        """Give all counters that are not zero, in key order."""
        return self.read(lambda reader: cast("SnapshotReader", reader).counters())

    def maintain(self, budget_pages: int) -> int:
        """Return free pages to the file system, between two commits."""
        waiter: Waiter[int] = Waiter()

        def vacuum() -> None:
            waiter.run(lambda: self._vacuum(budget_pages))

        if not self._committer.run_between_commits(vacuum):
            raise Closed("the engine is closed")
        return waiter.wait()

    def _vacuum(self, pages_max: int) -> int:
        self._guard.check_log()
        try:
            self._transaction.sync_commits()  # a log in which several are missing is refused at the start
            return vacuum_full_disk(self._writer, pages_max, self._checkpointer.remedies(frees_space=True))
        except apsw.Error as error:
            raise translate(error) from error

    def close(self) -> None:
        """Finish queued steps, copy the log into the file, release the directory."""
        with self._closing:
            if self._closed:
                return
            self._committer.finish_unsynced()  # the pool's reads wait for it, and for this thread if it is the loop's
            self._read_pool.close()
            self._committer.close()
            if self._watch is not None and self._sync is not None:
                self._watch.remove_reader(self._sync.wakeups)
                self._sync.close()
                with suppress(StorageError):
                    self._unpin()
            self._closed = True
            self._cache = None
            self._checkpointer.stop()
            self._close_readers()
            try:
                # Closing the last connection copies the log into the file and removes it.
                if self._guard.is_log_cut:
                    self._writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                self._writer.close(True)
            except apsw.Error as error:
                # What was acknowledged is in the log, where the next opening reads it.
                log.warning("file.close_failed", reason=str(error))
            finally:
                self._guard.close()
                self._lock.release()

    def _connect(self, cache_kib: int) -> apsw.Connection:
        try:
            return schema.connect(str(self._path), cache_kib=cache_kib)
        except apsw.Error as error:
            raise translate(error) from error

    def _new_reader(self) -> SnapshotReader:
        if self._closed:
            raise Closed("the engine is closed")
        self._guard.check_files()  # a new connection must not be to another file
        connection = self._connect(self._reader_cache_kib)
        return SnapshotReader(connection, checks_pages=self._checks_pages, pauses=Pauses())

    def _return_reader(self, reader: SnapshotReader) -> None:
        if reader is self._pinned:
            self._is_pinned_lent = False
            reader.end_step(keep_snapshot=True)
            return
        try:
            # A log that is long enough to start over can do so only while no reader has a snapshot of it.
            reader.end_step(keep_snapshot=self._commit_version.log_pages() < self._kept_log_pages)
        except apsw.Error as error:
            reader.close()
            raise translate(error) from error
        if len(self._idle_readers) >= IDLE_READERS_MAX:
            reader.close()
            return
        self._idle_readers.append(reader)
        if self._closed:
            self._close_readers()

    def _release_snapshots(self, all_idle: bool) -> None:
        """End the snapshots of readers that no step uses now, or of those that none has used since the last call."""
        for _ in range(len(self._idle_readers)):
            try:
                reader = self._idle_readers.pop(0)
            except IndexError:
                return
            if all_idle or reader.idle:
                reader.end_snapshot()
            reader.idle = True
            self._idle_readers.append(reader)

    def _close_readers(self) -> None:
        while self._idle_readers:
            self._idle_readers.pop().close()
