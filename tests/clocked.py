"""A whole service in this process, without HTTP, whose clock and jobs the test moves by hand."""

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from by_hand import by_hand
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.registry import DYNAMODB
from hashrange.api.results import Result
from hashrange.api.scaling.resources import Resource
from hashrange.chain.executor import Call, LocalExecutor
from hashrange.clock import ManualClock
from hashrange.config import Settings
from hashrange.jobs.auto_scaling import ScaleCapacity
from hashrange.jobs.backfill import Backfill
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.backup_glance import Inspection
from hashrange.jobs.backups import backup_jobs
from hashrange.jobs.bulk_puts import bulk_jobs
from hashrange.jobs.change_logs import RollShards, TrimLogs
from hashrange.jobs.expire_items import ExpireItems
from hashrange.jobs.expiry_backfill import BackfillExpiry
from hashrange.jobs.exports import export_jobs
from hashrange.jobs.imports import import_jobs
from hashrange.jobs.job import Job
from hashrange.jobs.kept_backups import KeepBackups
from hashrange.jobs.partitions import SplitPartitions
from hashrange.jobs.reclaim import ReclaimSpace
from hashrange.jobs.restores import restore_jobs
from hashrange.jobs.settle import SettleTables
from hashrange.jobs.tokens import ExpireTokens
from hashrange.objects.folder import FolderBucket, FolderStore
from hashrange.objects.interface import Bucket
from hashrange.services.autoscaling.registry import AUTO_SCALING
from hashrange.services.streams.registry import STREAMS
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.setting_rows import Place
from hashrange.storage.sqlite import MemoryEngine
from hashrange.wire.answers import described
from hashrange.wire.renderers import RENDERERS
from run_now import run_now

# DynamoDB's own where two services have one of the same name.
OPERATIONS = AUTO_SCALING.operations | DYNAMODB.operations | STREAMS.operations
MIDNIGHT = 1_699_920_000.0  # the beginning of a day, UTC


class Consumed:
    """Stands for the metrics: units consumed per second, by resource and access, from a moment on."""

    def __init__(self) -> None:
        self.rates: dict[tuple[str, str], Callable[[float], float]] = {}

    def __call__(
        self, _reader: Reader, _place: Place, resource: Resource, start: int, end: int
    ) -> list[float]:
        rate = self.rates.get((resource.id, resource.access))
        return [0.0 if rate is None else 60 * rate(minute) for minute in range(start, end, 60)]


class Clocked:
    """Operations, jobs and a clock that stands still. Statuses pass after `transition_ms`."""

    def __init__(
        self,
        engine: Engine | None = None,
        *,
        transition_ms: int = 1000,
        now: float = MIDNIGHT,
        ttl_lag: int = 0,
        ttl_cooldown: int = 0,
    ) -> None:
        self.engine = engine or MemoryEngine()
        self.clock = ManualClock(now)
        self.catalogue = Catalogue(self.engine)
        self.settling = SettleTables(self.engine, self.catalogue)
        self.splitting = SplitPartitions(self.engine, self.catalogue)
        self.backfill = Backfill(self.engine, self.catalogue)
        self.expiry_backfill = BackfillExpiry(self.engine, self.catalogue)
        self.expire = ExpireItems(self.engine, self.catalogue, lag_seconds=ttl_lag)
        self.reclaim = ReclaimSpace(self.engine)
        self.tokens = ExpireTokens(self.engine)
        self.rolling = RollShards(self.engine, self.catalogue, shard_seconds=4 * 3600)
        self.trimming = TrimLogs(self.engine, self.catalogue)
        self.consumed = Consumed()
        settings = Settings(transition_ms=transition_ms)
        self.scaling = ScaleCapacity(self.engine, self.catalogue, settings, self.consumed, self.clock.now)
        self.backup_folder = Path(tempfile.mkdtemp(prefix="clocked-backups-"))
        weakref.finalize(self, shutil.rmtree, self.backup_folder, ignore_errors=True)
        self.backups = BackupPlace(FolderBucket("backups", self.backup_folder), "")
        self.bucket_folder = self.backup_folder / "buckets"
        self.objects = FolderStore(self.bucket_folder)
        self.keeping_backups = KeepBackups(self.engine, self.backups)
        self.context = Context(
            catalogue=self.catalogue,
            clock=self.clock,
            settings=Settings(transition_ms=transition_ms, ttl_lag=ttl_lag, ttl_cooldown=ttl_cooldown),
            region="us-east-1",
            account_id="000000000000",
            access_key="test",
            prepared=PreparedRequests(),
            backups=Inspection(self.engine, self.backups),
        )
        self.executor = LocalExecutor(self.engine)
        self.start_long_jobs()

    def start_long_jobs(self) -> None:
        """Make the long jobs anew: those there were are dead, as in a killed server."""
        engine, catalogue = self.engine, self.catalogue
        self.backing_up = by_hand(partial(backup_jobs, engine, catalogue, self.backups))
        self.restoring = by_hand(partial(restore_jobs, engine, catalogue, self.backups))
        self.exporting = by_hand(partial(export_jobs, engine, self.objects, seals=self.backups.seals))
        self.importing = by_hand(partial(import_jobs, engine, catalogue, self.objects, self.backups))
        self.bulk_putting = by_hand(partial(bulk_jobs, engine, self.objects, seals=self.backups.seals))
        self.context.backups = Inspection(engine, self.backups)

    def pass_real_time(self, seconds: float) -> None:
        """Let time pass for retries, which do not go by the clock."""
        for job in (self.backing_up, self.restoring, self.exporting, self.importing, self.bulk_putting):
            job.threads.moved_seconds += seconds

    def call(self, operation: str, /, **request: Any) -> Any:
        """Answer a request as the server would."""
        call, result = self.run(operation, **request)
        body = RENDERERS.get(operation, described)(call.request, result)
        return orjson.loads(body) if body else None

    def run(self, operation: str, /, **request: Any) -> tuple[Call, Result]:
        """Run a request; give the call and its typed result."""
        call = Call(OPERATIONS[operation], self.context, None, orjson.dumps(request))
        call.decode()
        return call, run_now(self.executor, call)

    def refused(self, operation: str, /, **request: Any) -> tuple[str, str | None]:
        """Code and message of the error that a request must be answered with."""
        try:
            answer = self.call(operation, **request)
        except ApiError as error:
            return error.code, error.message
        raise AssertionError(answer)

    def describe(self, name: str) -> Any:
        return self.call("DescribeTable", TableName=name)["Table"]

    def run_jobs(self, most: int = 1000) -> None:
        """Run every job until it has nothing more to do now."""
        jobs: tuple[Job, ...] = (
            self.settling,
            self.splitting,
            self.backfill,
            self.expiry_backfill,
            self.expire,
            self.rolling,
            self.trimming,
            self.reclaim,
            self.tokens,
            self.scaling,
            self.backing_up,
            self.restoring,
            self.keeping_backups,
            self.exporting,
            self.importing,
            self.bulk_putting,
        )
        for job in jobs:
            for _ in range(most):
                pause = job.step(self.clock.now())
                if pause > 0.5:
                    break
                time.sleep(pause)
            else:
                raise AssertionError(f"{job.name} does not come to rest")

    def make_bucket(self, name: str = "bucket") -> Bucket:
        (self.bucket_folder / name).mkdir(parents=True)
        return self.objects.bucket(name)

    def settle(self) -> None:
        """Let passing statuses pass."""
        self.clock.advance(2)
        self.run_jobs()
