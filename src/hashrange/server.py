"""The wiring: settings, engine, catalogue, operations and HTTP, put together once, top to bottom."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hashrange import authentication, build_info, logs, own_pages, query_services, workers
from hashrange.api.context import Context
from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.registry import DYNAMODB
from hashrange.api.throttling.gate import Gate
from hashrange.auditing import Auditing
from hashrange.auth.principals import anonymous
from hashrange.auth.signature import verifier
from hashrange.capacity.admission import Admission
from hashrange.chain.audit import Audit
from hashrange.chain.authorize import Authorize
from hashrange.chain.background import Background
from hashrange.chain.chaos import Chaos
from hashrange.chain.charge_exchange import TURN_SECONDS, ChargeExchange
from hashrange.chain.clock_control import ClockControl
from hashrange.chain.eventual_lag import Lags, lagging
from hashrange.chain.executors import executor_for
from hashrange.chain.journal import Journal
from hashrange.chain.log import log_request
from hashrange.chain.pipelines import Pipelines
from hashrange.chain.table_keys import fetching_table_keys
from hashrange.clock import Clock, MovableClock, SystemClock
from hashrange.config import Settings
from hashrange.core import accounts
from hashrange.delivery import deliver_to
from hashrange.durations import shown_duration
from hashrange.engines import open_engine
from hashrange.jobs.all_jobs import supervise
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.backup_glance import Inspection
from hashrange.jobs.supervisor import Supervisor
from hashrange.kms.key_source import KeySource
from hashrange.kms.lazy_vault import LazyVault
from hashrange.metering import Metering
from hashrange.metrics import Metric
from hashrange.objects.interface import ObjectStore
from hashrange.objects.opening import open_backups, open_store
from hashrange.own_pages import Data
from hashrange.remote_keys.opening import RemoteKeys, open_remote_keys
from hashrange.services.autoscaling.registry import AUTO_SCALING
from hashrange.services.cloudwatch.registry import CLOUDWATCH
from hashrange.services.kms.registry import KMS
from hashrange.services.streams.registry import STREAMS, STREAMS_ON_DYNAMODB
from hashrange.services.sts import providers
from hashrange.services.sts.registry import UNSIGNED
from hashrange.storage import clock_record, lag_record
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.copying import refuse_unfinished
from hashrange.storage.directory import POLL_SECONDS, Directory
from hashrange.storage.engine import Deliver, Engine
from hashrange.storage.errors import Corrupt, StorageError
from hashrange.storage.follower import Follower
from hashrange.storage.last_uses import FLUSH_SECONDS, LastUses
from hashrange.storage.remembering import RememberingEngine
from hashrange.test_kit import Workshop
from hashrange.vaults import file_seals, open_served_keys
from hashrange.wire import (
    cbor_endpoint,
    chaos_endpoint,
    clock_endpoint,
    health,
    metrics_endpoint,
    testing_endpoint,
)
from hashrange.wire.cbor_endpoint import CborEndpoint
from hashrange.wire.chaos_endpoint import ChaosEndpoint
from hashrange.wire.clock_endpoint import FOLLOW_SECONDS, ClockEndpoint
from hashrange.wire.health import HealthEndpoint
from hashrange.wire.identity import Identity
from hashrange.wire.json_endpoint import JsonEndpoint
from hashrange.wire.limits import Limits
from hashrange.wire.listener import Listener
from hashrange.wire.router import Endpoint, Router
from hashrange.wire.rpc_call import RpcRunner, Unsigned
from hashrange.wire.table_pages import TableFinder
from hashrange.wire.testing_endpoint import TestingEndpoint
from hashrange.wire.tls import EXPIRY_CHECK_SECONDS, Tls
from hashrange.workers import NoDescriptor, ParentGone, Worker

SERVICES = (DYNAMODB, STREAMS, STREAMS_ON_DYNAMODB, CLOUDWATCH, AUTO_SCALING, KMS)
_FORGET_SECONDS = 0.5  # between two looks for keys of tables that were unwrapped too long ago
_LOOK_SECONDS = 0.05  # how soon the background work sees a change that another worker has made

log = logs.Log("server")


class Server:
    """A whole Hashrange in one process."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        worker: Worker | None = None,
        keys: verifier.Directory | None = None,
    ) -> None:
        self._settings = settings
        self._known_keys = keys  # None: those in the data
        self._worker = worker
        self._adopting: set[asyncio.Task[None]] = set()
        self._clock: Clock = clock or SystemClock()
        self._is_clock_given = clock is not None
        self._engine: Engine | None = None
        self._listener: Listener | None = None
        self._supervisors: list[Supervisor] = []
        self._objects: ObjectStore | None = None
        self._background: Background | None = None
        self._health: HealthEndpoint | None = None
        self._clock_control: ClockControl | None = None
        self._metering: Metering | None = None
        self._timers: dict[Callable[[], None], asyncio.TimerHandle] = {}
        self._tls: Tls | None = None
        self._auditing: Auditing | None = None
        self._last_uses: LastUses | None = None
        self._remote_keys: RemoteKeys | None = None

    async def start(self) -> tuple[Engine, int]:
        """Open the data, start to listen; give the engine and the port."""
        settings = self._settings
        providers.check(settings)
        self._tls = self._secure()
        deliver = deliver_to(asyncio.get_running_loop())
        engine, keys = await self._open_data(deliver)
        vault = LazyVault(keys)
        background = self._background = Background(deliver)
        catalogue = self._read_catalogue(engine)
        control = self._clock_control = await self._agree_on_clock(engine)
        fetch = await asyncio.to_thread(fetching_table_keys, self._remote_keys, catalogue, background)
        await asyncio.to_thread(lag_record.compare, engine, settings.eventual_lag)
        lags = Lags(settings.eventual_lag / 1000)
        if settings.lag_ms_max:
            engine = RememberingEngine(engine, self._clock, lambda: lags.any)
        followed = self._follow(engine, catalogue) if engine.shared else None
        self._objects = open_store(settings, os.environ)
        seals = file_seals(keys.known(), seals_new=engine.encrypted)
        backups = BackupPlace(*open_backups(settings, self._objects), seals)
        if self._worker is None or self._worker.runs_jobs:
            self._start_jobs(engine, catalogue, backups, self._objects, vault)
        gate = self._guard(engine, catalogue)
        chaos = self._disturb(engine, gate, background) if settings.chaos else None
        audit = self._open_audit()
        logged = log_request if settings.log_level == "debug" else None
        authorize = Authorize() if settings.auth == "iam" else None
        journal = Journal() if settings.test_kit else None
        recorded = None if journal is None else journal.link
        run = fetch(executor_for(engine, followed, background).run)
        pipelines = Pipelines(
            run, audit=audit, log=logged, authorize=authorize, recorded=recorded, chaos=chaos
        )
        directory = await self._open_directory(engine, keys)
        context_for = self._contexts(catalogue, Inspection(engine, backups), gate, directory, vault)
        callers = authentication.callers(
            settings, self._known_keys or directory, context_for, directory.last_uses.note
        )
        metering = self._metering = self._meter(engine, control)
        endpoint = JsonEndpoint(
            (lagging(DYNAMODB, lags) if settings.lag_ms_max else DYNAMODB, *SERVICES[1:]),
            pipelines,
            callers,
            background,
            body_bytes_max=settings.max_body_bytes,
            lanes=None if settings.capacity == "off" else metering.lanes,
            audit=audit,
        )
        unsigned = Unsigned(UNSIGNED, partial(context_for, Identity("", None, anonymous(accounts.OWN))))
        runner = RpcRunner(pipelines.run, callers, background, settings.max_body_bytes, audit, unsigned)
        paths = self._own_pages(engine, catalogue, control, chaos, metering)
        paths[cbor_endpoint.PATH] = CborEndpoint((CLOUDWATCH,), runner)
        if journal is not None:
            workshop = Workshop(engine, catalogue, self._clock, chaos, self._supervisors)
            paths[testing_endpoint.PATH] = TestingEndpoint(workshop, journal, lags, self._clock)
        rules = authentication.browser_rules(settings)
        router = Router(
            endpoint,
            region=settings.region,
            rules=rules,
            paths=authentication.guarded(paths, callers, settings, audit, rules),
            query_versions=query_services.endpoints(settings, runner),
            verifies=settings.auth != "off",
        )
        port = await self._listen(router, catalogue)
        self._settings = replace(settings, port=port)
        return engine, port

    def _own_pages(
        self,
        engine: Engine,
        catalogue: Catalogue,
        control: ClockControl | None,
        chaos: Chaos | None,
        metering: Metering,
    ) -> dict[bytes, Endpoint]:
        data = Data(engine, catalogue, self._clock)
        self._health = own_pages.health_page(data)
        return {
            health.PATH: self._health,
            **own_pages.monitoring(
                data, metering, TableFinder(catalogue, accounts.OWN, self._settings.region)
            ),
            metrics_endpoint.PATH: own_pages.metrics_page(
                data, self._worker.number if self._worker else 0, self._metrics
            ),
            clock_endpoint.PATH: ClockEndpoint(control),
            chaos_endpoint.PATH: ChaosEndpoint(chaos, self._clock, SERVICES, alone=self._is_alone(engine)),
        }

    def _meter(self, engine: Engine, control: ClockControl | None) -> Metering:
        metering = Metering(engine, self._clock)
        if self._settings.capacity != "off":
            metering.start()
        if control is not None:
            control.before_move = metering.close_moment
        return metering

    async def _open_directory(self, engine: Engine, keys: KeySource) -> Directory:
        """Open the directory; it follows changes only where somebody looks into it."""
        directory = Directory(engine, keys)
        if self._settings.auth != "off":
            try:
                await asyncio.to_thread(directory.start)
            except Corrupt as error:
                raise _unreadable("records of identities", engine, error) from error
            self._every(POLL_SECONDS, directory.poll)
            self._every(FLUSH_SECONDS, directory.last_uses.flush)
            self._last_uses = directory.last_uses
        return directory

    async def _listen(self, router: Router, catalogue: Catalogue) -> int:
        """Take connections, from the port or from the parent; give the port."""
        settings = self._settings
        listener = self._listener = Listener(
            router, Limits(body_bytes_max=settings.max_body_bytes), self._tls
        )
        if self._worker is None:
            return await listener.start(settings.host, settings.port, settings.tls_redirect_port)
        self._join(self._worker, listener, catalogue)
        return settings.port

    async def _open_data(self, deliver: Deliver) -> tuple[Engine, KeySource]:
        """Open the engine and its keys."""
        engine, clock = open_engine(self._settings, deliver, self._worker)
        self._engine = engine
        if not self._is_clock_given:
            self._clock = clock
        remote = self._remote_keys = open_remote_keys(self._settings, self._now)
        try:
            opened = await asyncio.to_thread(open_served_keys, self._settings, engine, remote)
        except Corrupt as error:
            raise _unreadable("records of keys", engine, error) from error
        if opened.forget is not None:
            self._every(_FORGET_SECONDS, partial(self._forget_keys, opened.forget))
        return opened.engine, opened.source

    def _now(self) -> float:
        return self._clock.now()  # of the clock that there is by then

    def _forget_keys(self, forget: Callable[[float, float], None]) -> None:
        forget(self._clock.now(), self._settings.data_key_cache)

    def _start_jobs(
        self,
        engine: Engine,
        catalogue: Catalogue,
        backups: BackupPlace,
        objects: ObjectStore,
        vault: LazyVault,
    ) -> None:
        self._supervisors = supervise(
            engine, catalogue, self._clock, self._settings, backups, objects, vault, self._remote_keys
        )
        for supervisor in self._supervisors:
            supervisor.start()
        if self._clock_control is not None:
            self._clock_control.on_move = catalogue.on_change

    def _secure(self) -> Tls | None:
        """Load the certificate, if there is one; of several workers one says which it is."""
        tls = Tls.configured(self._settings)
        if tls is not None and (self._worker is None or self._worker.runs_jobs):
            tls.announce()
            self._every(EXPIRY_CHECK_SECONDS, tls.check_expiry)
        return tls

    def _open_audit(self) -> Audit | None:
        """Open the audit log, if there is one."""
        if not self._settings.audit_target:
            return None
        self._auditing = Auditing(self._settings, self._clock, self._worker.number if self._worker else 0)
        return self._auditing.audit

    def _metrics(self) -> list[Metric]:
        return [
            build_info.metric(),
            *([] if self._tls is None else self._tls.metrics()),
            *([] if self._auditing is None else self._auditing.metrics()),
        ]

    def reload(self) -> None:
        """Load the certificate again, and open the audit log again; connections go on with what they have."""
        if self._tls is not None:
            self._tls.reload()
        if self._auditing is not None:
            self._auditing.writer.reopen()

    def _is_alone(self, engine: Engine) -> bool:
        return self._worker is None and not engine.shared

    def _guard(self, engine: Engine, catalogue: Catalogue) -> Gate:
        """Make the gate that all items pass; processes on the same data tell each other what they charge."""
        alone = self._is_alone(engine)
        gate = Gate(Admission(shared=not alone), self._clock, self._settings.capacity)
        if not alone:
            exchange = ChargeExchange(engine, catalogue, gate, self._clock)
            self._every(TURN_SECONDS, exchange.turn)
        return gate

    def _disturb(self, engine: Engine, gate: Gate, background: Background) -> Chaos:
        """Make the link that injects faults, and have it follow the rules."""
        chaos = Chaos(engine, self._clock, gate, background, asyncio.get_running_loop().call_later)
        self._every(chaos_endpoint.FOLLOW_SECONDS, chaos.poll)
        return chaos

    def _every(self, seconds: float, work: Callable[[], None]) -> None:
        """Have the loop do some work again and again, until the server stops."""
        loop = asyncio.get_running_loop()

        def run() -> None:
            work()
            self._timers[work] = loop.call_later(seconds, run)

        self._timers[work] = loop.call_later(seconds, run)

    def _read_catalogue(self, engine: Engine) -> Catalogue:
        own_changes = self._worker is not None and not engine.shared
        invalidation = self._worker.catalogue_invalidation if self._worker and own_changes else None
        try:
            refuse_unfinished(engine)
            return Catalogue(engine, invalidation)
        except Corrupt as error:
            raise _unreadable("table records", engine, error) from error

    async def _agree_on_clock(self, engine: Engine) -> ClockControl | None:
        """See that all servers on this data have the same time, and go on from where it was moved to."""
        movable = self._settings.test_clock
        # Not on this thread, which delivers commits.
        ahead_seconds = await asyncio.to_thread(clock_record.agree, engine, movable=movable)
        if not movable:
            return None
        worker = self._worker
        offsets, cell = (None, 0) if worker is None else (worker.clock_offsets, worker.number)
        clock = self._clock = MovableClock(self._clock, offsets, cell)
        clock.move(ahead_seconds)
        if ahead_seconds:
            log.warning("clock.ahead", ahead=shown_duration(int(ahead_seconds)))
        return ClockControl(engine, clock)

    def _follow(self, engine: Engine, catalogue: Catalogue) -> Follower:
        """Look now and then for changes that other servers make; requests look for themselves."""
        loop = asyncio.get_running_loop()
        followed = Follower(engine, catalogue)

        def look() -> None:
            followed.poll()
            if self._clock_control is not None:
                self._clock_control.poll()
            loop.call_later(FOLLOW_SECONDS, look)

        loop.call_later(FOLLOW_SECONDS, look)
        return followed

    def _join(self, worker: Worker, listener: Listener, catalogue: Catalogue) -> None:
        """Take connections from the parent; the leader also looks for changes that the others make."""
        loop = asyncio.get_running_loop()
        listener.start_adopting(self._settings.port, self._settings.tls_redirect_port)
        loop.add_reader(worker.control, self._adopt, worker, listener)

        def look() -> None:
            catalogue.catch_up()
            if self._clock_control is not None:
                self._clock_control.look()
            loop.call_later(_LOOK_SECONDS, look)

        def beat() -> None:
            loop.call_later(worker.beat(), beat)

        beat()
        if worker.runs_jobs:
            look()

    def _adopt(self, worker: Worker, listener: Listener) -> bool:
        """Serve the next connection that the parent has sent, if there is one."""
        try:
            connection = workers.receive_connection(worker.control)
        except ParentGone:
            # Whatever is not committed by now never is.
            os._exit(1)
        except NoDescriptor:
            return True  # the listener notices, and says so
        if connection is None:
            return False
        task = asyncio.get_running_loop().create_task(listener.adopt(connection))
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)
        return True

    def hurry(self) -> None:
        """Wait no longer for what is under way."""
        if self._listener is not None:
            self._listener.hurry()

    async def stop(self) -> None:
        """Answer what is under way, then close the data."""
        if self._health is not None:
            self._health.stopping = True
        if self._listener is not None:
            self._listener.announce_stop()
            if self._worker is not None:
                while self._adopt(self._worker, self._listener):
                    pass
                await asyncio.gather(*self._adopting)
            await self._listener.stop()
        for timer in self._timers.values():
            timer.cancel()
        # Not on this thread: a job may be waiting for a commit that this loop delivers.
        stops = [asyncio.to_thread(supervisor.stop) for supervisor in self._supervisors]
        await asyncio.gather(*stops)
        if self._objects is not None:
            await asyncio.to_thread(self._objects.close)
        if self._background is not None:
            # Likewise.
            await asyncio.to_thread(self._background.close)
        if self._remote_keys is not None:
            self._remote_keys.close()
        if self._auditing is not None:
            await asyncio.to_thread(self._auditing.writer.stop)
        if self._last_uses is not None:
            with contextlib.suppress(StorageError):  # nobody waits for it, and the next use is noted anyway
                await asyncio.to_thread(self._last_uses.finish)
        if self._metering is not None:
            self._metering.stop()
            await asyncio.to_thread(self._metering.finish)
        if self._engine is not None:
            self._engine.close()

    def _contexts(
        self,
        catalogue: Catalogue,
        backups: Inspection,
        gate: Gate,
        directory: Directory,
        vault: LazyVault,
    ) -> Callable[[Identity], Context]:
        prepared = PreparedRequests()

        def context_for(identity: Identity) -> Context:
            principal = identity.principal
            return Context(
                catalogue=catalogue,
                clock=self._clock,
                settings=self._settings,
                region=identity.region or self._settings.region,
                account_id=self._account_of(identity),
                access_key=identity.access_key,
                prepared=prepared,
                backups=backups,
                vault=vault,
                gate=gate,
                directory=directory,
                principal=principal,
            )

        return context_for

    def _account_of(self, identity: Identity) -> str:
        if identity.principal is not None:
            return identity.principal.account_id
        return accounts.named_by(identity.access_key) if self._settings.test_kit else accounts.OWN


def _unreadable(records: str, engine: Engine, error: Corrupt) -> Corrupt:
    """What to say of data without which there is no start."""
    return Corrupt(
        f"the {records} in {engine.description} cannot be read: {error}. Restore a backup; "
        "`hashrange verify` says what else is damaged"
    )
