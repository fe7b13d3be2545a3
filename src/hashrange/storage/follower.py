"""Following a catalogue that other servers change too.

Every change raises one number, the epoch, in its own transaction. A request that was planned with the records of
one epoch reads the epoch in the same snapshot as its data: if it has risen, the records are read anew and the
request is planned again. So no answer mixes what a table was with what it is.
"""

from collections.abc import Callable
from threading import Lock

from hashrange.storage import layout
from hashrange.storage.catalogue import Catalogue, Records, stored_epoch, stored_records
from hashrange.storage.engine import Engine, Reader

Then = Callable[[BaseException | None], None]

READS = (layout.CATALOGUE_EPOCH,)


class Outdated(Exception):
    """The catalogue has changed since the request was planned."""


def check(reader: Reader, epoch: int) -> None:
    """See that nothing has changed since `epoch`; a snapshot that is older than the records will do."""
    if stored_epoch(reader) > epoch:
        raise Outdated


class Follower:
    """Brings a catalogue up to date without ever waiting; those who ask at the same time share one read."""

    def __init__(self, engine: Engine, catalogue: Catalogue) -> None:
        self._engine = engine
        self._catalogue = catalogue
        self._lock = Lock()
        self._waiting: list[Then] | None = None  # None: nothing is being read

    def look(self) -> None:
        """See whether there is anything new, and take it over; for calling every now and then."""
        epoch = self._catalogue.epoch
        self._engine.submit_read(lambda reader: check(reader, epoch), self._looked, reads=READS)

    def catch_up(self, then: Then) -> None:
        """Read the records anew; `then` is called when they are in place, or with what went wrong."""
        with self._lock:
            if self._waiting is not None:
                self._waiting.append(then)
                return
            self._waiting = [then]
        self._engine.submit_read(stored_records, self._read)

    def _looked(self, _: None, error: BaseException | None) -> None:
        if isinstance(error, Outdated):
            self.catch_up(lambda _error: None)

    def _read(self, records: Records | None, error: BaseException | None) -> None:
        # Those who ask from here on may have seen a later change, and need a read of their own.
        with self._lock:
            waiting, self._waiting = self._waiting or [], None
        if records is not None:
            self._catalogue.take_over(records)
        for then in waiting:
            then(error)
