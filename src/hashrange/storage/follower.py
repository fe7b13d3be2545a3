"""Following a catalogue that other servers change too.

Every change of a table record increments one number, the epoch, in its own transaction. A request that was planned
with the records of one epoch reads the epoch in the same snapshot as its data. If the epoch is higher, the records are
read again and the request is planned again. So no answer mixes an old record with new data.
"""

from collections.abc import Callable
from threading import Lock

from hashrange.storage import layout
from hashrange.storage.catalogue import Catalogue, Records, stored_epoch, stored_records
from hashrange.storage.engine import Engine, Reader

OnReloaded = Callable[[BaseException | None], None]

READS = (layout.CATALOGUE_EPOCH,)


class StaleCatalogue(Exception):
    """The catalogue has changed since the request was planned."""


def check(reader: Reader, epoch: int) -> None:
    """Raise if the catalogue has changed since `epoch`; a snapshot that is older than the records is fine."""
    if stored_epoch(reader) > epoch:
        raise StaleCatalogue


class Follower:
    """Brings a catalogue up to date without blocking; callers that ask at the same time share one read."""

    def __init__(self, engine: Engine, catalogue: Catalogue) -> None:
        self._engine = engine
        self._catalogue = catalogue
        self._lock = Lock()
        self._waiting: list[OnReloaded] | None = None  # None: no read is under way

    def poll(self) -> None:
        """Reload the catalogue if it has changed; to be called at intervals."""
        epoch = self._catalogue.epoch
        self._engine.submit_read(lambda reader: check(reader, epoch), self._polled, reads=READS)

    def catch_up(self, done: OnReloaded) -> None:
        """Reload the catalogue; `done` is called after it, with the error if the read failed."""
        with self._lock:
            if self._waiting is not None:
                self._waiting.append(done)
                return
            self._waiting = [done]
        self._engine.submit_read(stored_records, self._reloaded)

    def _polled(self, _: None, error: BaseException | None) -> None:
        if isinstance(error, StaleCatalogue):
            self.catch_up(lambda _error: None)

    def _reloaded(self, records: Records | None, error: BaseException | None) -> None:
        # Callers from here on may have seen a later change, and need a read of their own.
        with self._lock:
            waiting, self._waiting = self._waiting or [], None
        if records is not None:
            self._catalogue.replace(records)
        for done in waiting:
            done(error)
