"""Every job of the server."""

from collections.abc import Callable
from functools import partial

from hashrange import ids
from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.jobs.aside import Aside
from hashrange.jobs.auto_scaling import ScaleCapacity
from hashrange.jobs.backfill import Backfill
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.backups import backup_jobs
from hashrange.jobs.bulk_puts import bulk_jobs
from hashrange.jobs.change_logs import RollShards, TrimLogs
from hashrange.jobs.consumption import consumed_minutes
from hashrange.jobs.custom_metrics import CompactCustomMetrics, ForgetAlarmHistory
from hashrange.jobs.evaluate_alarms import EvaluateAlarms
from hashrange.jobs.expire_items import ExpireItems
from hashrange.jobs.expiry_backfill import BackfillExpiry
from hashrange.jobs.exports import export_jobs
from hashrange.jobs.forget_past import ForgetPast
from hashrange.jobs.heat import FollowHeat
from hashrange.jobs.imports import import_jobs
from hashrange.jobs.insights import ForgetInsights
from hashrange.jobs.job import Job
from hashrange.jobs.kept_backups import KeepBackups
from hashrange.jobs.key_service import ChangeKeys
from hashrange.jobs.long_runs import LongRuns
from hashrange.jobs.metrics import AgeMetrics, SampleCapacity
from hashrange.jobs.old_jobs import ForgetJobs
from hashrange.jobs.pace import Seconds, loop_cpu_seconds
from hashrange.jobs.partitions import SplitPartitions
from hashrange.jobs.reclaim import ReclaimSpace
from hashrange.jobs.restores import restore_jobs
from hashrange.jobs.settle import SettleTables
from hashrange.jobs.supervisor import Supervisor
from hashrange.jobs.table_keys import DropDataKeys, WatchTableKeys
from hashrange.jobs.threads import OwnThreads, Share
from hashrange.jobs.tokens import ExpireTokens
from hashrange.kms.lazy_vault import LazyVault
from hashrange.kms.table_key import TableKeys
from hashrange.objects.interface import ObjectStore
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine
from hashrange.storage.leases import FencedEngine, Lease
from hashrange.storage.wrapped import SerialWrites


def supervise(
    engine: Engine,
    tables: Catalogue,
    clock: Clock,
    settings: Settings,
    backups: BackupPlace,
    objects: ObjectStore,
    vault: LazyVault,
    table_keys: TableKeys | None = None,
) -> list[Supervisor]:
    """The supervisors of all jobs, woken by every change of a table; the event loop's thread calls this.

    The caller starts them. Long jobs have threads of their own: some wait for networks, which must hold up neither
    expiry nor trimming.
    """
    supervisors = [
        _supervisor("jobs", engine, clock, partial(_short_jobs, tables, settings, vault, table_keys)),
        _supervisor(
            "long-jobs",
            engine,
            clock,
            partial(_long_jobs, tables, clock, backups, objects, loop_cpu_seconds()),
        ),
    ]

    def wake() -> None:
        for supervisor in supervisors:
            supervisor.wake()

    tables.on_change = wake
    return supervisors


def _supervisor(name: str, engine: Engine, clock: Clock, make: Callable[[Engine], list[Job]]) -> Supervisor:
    lease = None
    if engine.shared:
        lease = Lease(engine, name, ids.unique_id())
        engine = FencedEngine(engine, lease)
    jobs = make(engine)
    supervisor = Supervisor(jobs, clock, lease, name=name)
    for job in jobs:
        if isinstance(job, LongRuns):
            job.on_end = supervisor.wake
    return supervisor


def _short_jobs(
    tables: Catalogue, settings: Settings, vault: LazyVault, table_keys: TableKeys | None, engine: Engine
) -> list[Job]:
    return [
        SettleTables(engine, tables),
        SplitPartitions(engine, tables),
        FollowHeat(engine, tables),
        Backfill(engine, tables),
        BackfillExpiry(engine, tables),
        ExpireItems(engine, tables, lag_seconds=settings.ttl_lag),
        ReclaimSpace(engine),
        DropDataKeys(engine),
        ChangeKeys(engine, vault),
        WatchTableKeys(engine, tables, settings.data_key_cache, table_keys),
        ExpireTokens(engine),
        ForgetPast(engine, settings.lag_ms_max / 1000),
        RollShards(engine, tables, settings.stream_shard_hours * 3600),
        TrimLogs(engine, tables),
        EvaluateAlarms(engine),
        CompactCustomMetrics(engine),
        ForgetAlarmHistory(engine),
        ScaleCapacity(engine, tables, settings, consumed_minutes),
        ForgetInsights(engine),
        SampleCapacity(engine, tables),
        AgeMetrics(engine),
    ]


def _long_jobs(
    tables: Catalogue,
    clock: Clock,
    backups: BackupPlace,
    objects: ObjectStore,
    loop_seconds: Seconds | None,
    engine: Engine,
) -> list[Job]:
    engine = SerialWrites(engine)
    share = Share()

    def threads(name: str) -> OwnThreads:
        return OwnThreads(name, clock, share)

    return [
        backup_jobs(engine, tables, backups, threads("backup"), loop_seconds),
        restore_jobs(engine, tables, backups, threads("restore")),
        export_jobs(engine, objects, threads("export"), backups.seals),
        import_jobs(engine, tables, objects, backups, threads("import")),
        bulk_jobs(engine, objects, threads("bulk-put"), backups.seals),
        Aside(KeepBackups(engine, backups), threads("keep-backups")),
        ForgetJobs(engine),
    ]
