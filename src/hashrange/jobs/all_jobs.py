"""Every job of the server."""

from collections.abc import Callable
from functools import partial

from hashrange import ids
from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.jobs.backfill import Backfill
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.backups import BackUpTables
from hashrange.jobs.bulk_puts import bulk_jobs
from hashrange.jobs.change_logs import RollShards, TrimLogs
from hashrange.jobs.expire_items import ExpireItems
from hashrange.jobs.expiry_backfill import BackfillExpiry
from hashrange.jobs.exports import export_jobs
from hashrange.jobs.forget_past import ForgetPast
from hashrange.jobs.imports import import_jobs
from hashrange.jobs.job import Job
from hashrange.jobs.kept_backups import KeepBackups
from hashrange.jobs.old_jobs import ForgetJobs
from hashrange.jobs.partitions import SplitPartitions
from hashrange.jobs.reclaim import ReclaimSpace
from hashrange.jobs.restores import RestoreTables
from hashrange.jobs.settle import SettleTables
from hashrange.jobs.supervisor import Supervisor
from hashrange.jobs.tokens import ExpireTokens
from hashrange.objects.interface import ObjectStore
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine
from hashrange.storage.leases import FencedEngine, Lease


def supervise(
    engine: Engine,
    tables: Catalogue,
    clock: Clock,
    settings: Settings,
    backups: BackupPlace,
    objects: ObjectStore,
) -> list[Supervisor]:
    """The supervisors of all jobs, woken by every change of a table; the caller starts them.

    Long jobs have a thread of their own: some wait for networks, which must hold up neither expiry nor trimming.
    """
    supervisors = [
        _supervisor("jobs", engine, clock, partial(_short_jobs, tables, settings)),
        _supervisor("long-jobs", engine, clock, partial(_long_jobs, tables, backups, objects)),
    ]

    def wake() -> None:
        for supervisor in supervisors:
            supervisor.wake()

    tables.on_change = wake
    return supervisors


def _supervisor(name: str, engine: Engine, clock: Clock, jobs: Callable[[Engine], list[Job]]) -> Supervisor:
    if not engine.shared:
        return Supervisor(jobs(engine), clock, name=name)
    lease = Lease(engine, name, ids.unique_id())
    return Supervisor(jobs(FencedEngine(engine, lease)), clock, lease, name=name)


def _short_jobs(tables: Catalogue, settings: Settings, engine: Engine) -> list[Job]:
    return [
        SettleTables(engine, tables),
        SplitPartitions(engine, tables),
        Backfill(engine, tables),
        BackfillExpiry(engine, tables),
        ExpireItems(engine, tables, lag_seconds=settings.ttl_lag),
        ReclaimSpace(engine),
        ExpireTokens(engine),
        ForgetPast(engine, settings.eventual_lag / 1000),
        RollShards(engine, tables, settings.stream_shard_hours * 3600),
        TrimLogs(engine, tables),
    ]


def _long_jobs(tables: Catalogue, backups: BackupPlace, objects: ObjectStore, engine: Engine) -> list[Job]:
    return [
        BackUpTables(engine, tables, backups),
        RestoreTables(engine, tables, backups),
        KeepBackups(engine, backups),
        export_jobs(engine, objects),
        import_jobs(engine, tables, objects, backups),
        bulk_jobs(engine, objects),
        ForgetJobs(engine),
    ]
