"""Every job of the server."""

from hashrange import ids
from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.jobs.backfill import Backfill
from hashrange.jobs.change_logs import RollShards, TrimLogs
from hashrange.jobs.expire_items import ExpireItems
from hashrange.jobs.expiry_backfill import BackfillExpiry
from hashrange.jobs.partitions import SplitPartitions
from hashrange.jobs.reclaim import ReclaimSpace
from hashrange.jobs.settle import SettleTables
from hashrange.jobs.supervisor import Supervisor
from hashrange.jobs.tokens import ExpireTokens
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine
from hashrange.storage.leases import FencedEngine, Lease


def supervise(engine: Engine, tables: Catalogue, clock: Clock, settings: Settings) -> Supervisor:
    """A supervisor of all jobs, woken by every change of a table; the caller starts it."""
    lease = None
    if engine.shared:
        lease = Lease(engine, "jobs", ids.unique_id())
        engine = FencedEngine(engine, lease)
    supervisor = Supervisor(
        [
            SettleTables(engine, tables),
            SplitPartitions(engine, tables),
            Backfill(engine, tables),
            BackfillExpiry(engine, tables),
            ExpireItems(engine, tables, lag_seconds=settings.ttl_lag),
            ReclaimSpace(engine),
            ExpireTokens(engine),
            RollShards(engine, tables, settings.stream_shard_hours * 3600),
            TrimLogs(engine, tables),
        ],
        clock,
        lease,
    )
    tables.on_change = supervisor.wake
    return supervisor
