"""The keys of tables: a table whose key cannot be used is inaccessible, and the key of a table that is gone goes."""

from functools import partial

from hashrange import logs
from hashrange.auth import arns
from hashrange.core.schema import Inaccessible, Table, changed
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.kms.table_key import TableKeys
from hashrange.storage import catalogue, key_rows, table_keys
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.key_rows import KEYS
from hashrange.storage.setting_rows import Place

log = logs.Log("jobs")
_LOOK_SECONDS = 1.0
_CHUNK_KEYS = 100


class WatchTableKeys:
    """Has tables follow what becomes of their keys.

    A table stays accessible as long as a server may have its key unwrapped: `grace_seconds`.
    """

    name = "watch-table-keys"

    def __init__(
        self, engine: Engine, tables: Catalogue, grace_seconds: float, remote: TableKeys | None = None
    ) -> None:
        """`remote` has what another key service opens, if there is one."""
        self._engine = engine
        self._tables = tables
        self._grace_seconds = grace_seconds
        self._remote = remote

    def step(self, now: float) -> float:
        """Look at the keys of all tables that have one of their own."""
        own = [table for table in self._tables.tables() if table.sse_key and table.status != "DELETING"]
        if not own:
            return IDLE_SECONDS
        arns_of_keys = {
            table.sse_key for table in own if table.sse_key is not None and not table.sse_table_key
        }
        losses = self._engine.read(partial(self._losses, key_arns=arns_of_keys, now=now))
        for table in own:
            loss = losses.get(table.sse_key or "")
            if table.sse_table_key:
                loss = self._remote_loss(table, now)
            if _has_changed(table.inaccessible, loss):
                self._engine.write(partial(_mark, planned=table, loss=loss, now=now))
                self._tables.refresh(*catalogue.address(table))
                log.warning("table.key", table=table.arn, state="usable" if loss is None else loss.state)
        return _LOOK_SECONDS

    def _remote_loss(self, table: Table, now: float) -> Inaccessible | None:
        """What is wrong with a table's key at another key service; asking keeps it on the ring, traffic or not."""
        sealed = table_keys.of_table(table).sealed
        if self._remote is None or sealed is None:
            return Inaccessible(since=now, state="unreachable")
        found = self._remote.find(sealed)
        if isinstance(found, bytes):
            return None
        # Until the service was asked nothing has changed.
        return table.inaccessible if found is None else Inaccessible(since=now, state=found)

    def _losses(self, reader: Reader, *, key_arns: set[str], now: float) -> dict[str, Inaccessible]:
        """The keys that could not be used for so long that nobody has them any more."""
        losses = {}
        for key_arn in key_arns:
            loss = _loss(reader, key_arn, now)
            if loss is not None and now >= loss.since + self._grace_seconds:
                losses[key_arn] = Inaccessible(since=now, state=loss.state)
        return losses


def _loss(reader: Reader, key_arn: str, now: float) -> Inaccessible | None:
    """What is wrong with a key, and since when."""
    arn = arns.parsed(key_arn)
    if arn is None:
        return None
    place = Place(arn.account_id, arn.region)
    if key_arn == key_rows.managed_arn(place):
        return None  # it cannot be lost, and is there only where there is a root key
    key = KEYS.find(reader, place, arn.resource.removeprefix("key/"))
    state = key_rows.state_of(key)
    if state is None:
        return None
    since = key.unusable_since if key is not None else None
    return Inaccessible(since=since or 0.0, state=state)


def _has_changed(before: Inaccessible | None, after: Inaccessible | None) -> bool:
    return (before and before.state) != (after and after.state)


def _mark(tx: Transaction, *, planned: Table, loss: Inaccessible | None, now: float) -> None:
    table = catalogue.current(tx, planned)
    if table is None or table.sse_key != planned.sse_key or not _has_changed(table.inaccessible, loss):
        return
    if loss is not None and table.inaccessible is not None:
        loss = Inaccessible(since=table.inaccessible.since, state=loss.state)
    catalogue.save(tx, changed(table, inaccessible=loss, version=table.version + 1), now)


class DropDataKeys:
    """Deletes the data keys of tables that are gone, once nothing is left that is encrypted under them.

    Whatever a disk or a backup of its files still has of the table cannot be read from then on.
    """

    name = "drop-data-keys"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def step(self, _now: float) -> float:
        """Delete some."""
        rows = self._engine.read(_first_abandoned)
        for row in rows:
            self._engine.write(partial(_drop, row=row))
        return 0.0 if len(rows) == _CHUNK_KEYS else IDLE_SECONDS


def _first_abandoned(reader: Reader) -> list[bytes]:
    rows = []
    for row in table_keys.abandoned(reader):
        rows.append(row)
        if len(rows) == _CHUNK_KEYS:
            break
    return rows


def _drop(tx: Transaction, *, row: bytes) -> None:
    tx.use_reserve()
    tx.delete(row)
