"""Following a catalogue that other servers change too.

Every change of a table record raises the epoch in its own transaction. A request that was planned with the records of
one epoch reads the epoch in the same snapshot as its data. If it is higher, and one of the tables that the request is
about has changed, the records are read again and the request is planned again. So no answer mixes an old record with
new data.

An epoch that is lower, or of another history, says that the database is not what it was: an older backup has been
restored, or a failover has taken back what was acknowledged. What this server remembers may then mean something else,
so it refuses to work until it is started anew.
"""

from collections.abc import Callable, Sequence
from threading import Lock

from hashrange.core.schema import Table
from hashrange.logs import Log
from hashrange.storage import layout
from hashrange.storage.catalogue import Catalogue, Records, changes, stored_epoch, stored_records
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.errors import Replaced

log = Log("storage.follower")

OnReloaded = Callable[[BaseException | None], None]


class StaleCatalogue(Exception):
    """The catalogue has changed since the request was planned."""


def reads(tables: Sequence[Table]) -> tuple[bytes, ...]:
    """The keys that `check` looks at."""
    return layout.CATALOGUE_EPOCH, *[layout.version_key(table.number) for table in tables]


def check(reader: Reader, epoch: bytes, tables: Sequence[Table] = (), *, eventual: bool = False) -> None:
    """Raise if what was planned at `epoch` is outdated. `tables` are all records it is about, if that is known.

    An eventual read may be from a replica, whose snapshot may be older than the records.
    """
    stored = stored_epoch(reader)
    if stored == epoch:
        return
    if changes(stored) <= changes(epoch):
        if eventual:
            return
        raise Replaced(
            f"the database knows of {changes(stored)} changes of tables and this server of {changes(epoch)} others: "
            "an older backup has been restored, or a failover has lost acknowledged writes. Start the server anew"
        )
    if not tables or any(reader.get(layout.version_key(table.number)) != table.stamp for table in tables):
        raise StaleCatalogue


class Follower:
    """Brings a catalogue up to date without blocking; callers that ask at the same time share one read."""

    def __init__(self, engine: Engine, catalogue: Catalogue) -> None:
        self._engine = engine
        self._catalogue = catalogue
        self._lock = Lock()
        self._waiting: list[OnReloaded] | None = None  # None: no read is under way
        self._next: list[OnReloaded] = []  # came after that read began, and need the one after it
        self._is_refused = False

    def poll(self) -> None:
        """Reload the catalogue if it has changed; to be called at intervals."""
        if self._is_refused:
            return
        epoch = self._catalogue.epoch
        self._engine.submit_read(lambda reader: check(reader, epoch), self._polled, reads=reads(()))

    def catch_up(self, done: OnReloaded) -> None:
        """Reload the catalogue by a read that begins from now on; `done` is called with the error if it failed."""
        with self._lock:
            if self._waiting is not None:
                self._next.append(done)
                return
            self._waiting = [done]
        self._engine.submit_read(stored_records, self._reloaded)

    def refuse(self, replaced: Replaced) -> None:
        """Answer nobody from the catalogue any more."""
        with self._lock:
            was_refused, self._is_refused = self._is_refused, True
        if not was_refused:
            log.error("database.replaced", reason=str(replaced))
            self._catalogue.condemn(str(replaced))

    def _polled(self, _: None, error: BaseException | None) -> None:
        if isinstance(error, StaleCatalogue):
            self.catch_up(lambda _error: None)
        elif isinstance(error, Replaced):
            self.refuse(error)

    def _reloaded(self, records: Records | None, error: BaseException | None) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting or [], self._next or None
            self._next = []
            is_awaited = self._waiting is not None
        if records is not None:
            self._catalogue.replace(records)
        if is_awaited:
            self._engine.submit_read(stored_records, self._reloaded)
        for done in waiting:
            done(error)
