"""The wiring: settings, engine, catalogue, operations and HTTP, put together once, top to bottom."""

import asyncio
import contextlib
import gc
import importlib
import pkgutil
import resource
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import uvloop

from hashrange import api, logs
from hashrange.api import registry
from hashrange.api.context import Context
from hashrange.clock import Clock, SystemClock
from hashrange.config import Settings
from hashrange.jobs.all_jobs import supervise
from hashrange.jobs.supervisor import Supervisor
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Deliver, Engine
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine
from hashrange.wire.dispatch import Dispatcher
from hashrange.wire.limits import Limits
from hashrange.wire.listener import Listener
from hashrange.wire.sigv4 import Identity

ACCOUNT_ID = "000000000000"
# Requests make garbage that reference counting frees; looking for cycles every 700 objects finds none.
_GC_THRESHOLD = 50_000

log = logs.Log("server")


class Server:
    """A whole Hashrange in one process."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._engine: Engine | None = None
        self._listener: Listener | None = None
        self._supervisor: Supervisor | None = None

    async def start(self) -> tuple[Engine, int]:
        """Open the data, start to listen; give the engine and the port."""
        load_operations()
        settings = self._settings
        engine = self._engine = _open_engine(settings, _deliver_to(asyncio.get_running_loop()))
        catalogue = Catalogue(engine)
        self._supervisor = supervise(engine, catalogue, self._clock)
        self._supervisor.start()
        dispatcher = Dispatcher(
            operations=registry.operations,
            engine=engine,
            context_for=self._contexts(catalogue),
            region=settings.region,
            body_bytes_max=settings.max_body_bytes,
        )
        self._listener = Listener(dispatcher, Limits(body_bytes_max=settings.max_body_bytes))
        port = await self._listener.start(settings.host, settings.port)
        self._settings = replace(settings, port=port)
        return engine, port

    async def stop(self) -> None:
        """Answer what is under way, then close the data."""
        if self._listener is not None:
            await self._listener.stop()
        if self._supervisor is not None:
            # Not on this thread: a job may be waiting for a commit that this loop delivers.
            await asyncio.to_thread(self._supervisor.stop)
        if self._engine is not None:
            self._engine.close()

    def _contexts(self, catalogue: Catalogue) -> Callable[[Identity], Context]:
        def context_for(identity: Identity) -> Context:
            return Context(
                catalogue=catalogue,
                clock=self._clock,
                settings=self._settings,
                region=identity.region or self._settings.region,
                account_id=ACCOUNT_ID,
                access_key=identity.access_key,
            )

        return context_for


def load_operations() -> None:
    """Import every operation's module; each enters itself in the registry."""
    for module in pkgutil.walk_packages(api.__path__, api.__name__ + "."):
        importlib.import_module(module.name)


def run(settings: Settings, started: Callable[[Engine, int], None]) -> None:
    """Serve until told to stop by SIGTERM or SIGINT; `started` is called once requests are answered."""
    _allow_many_connections()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, started))


async def _serve(settings: Settings, started: Callable[[Engine, int], None]) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_log_stray)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = Server(settings)
    try:
        engine, port = await server.start()
        gc.collect()
        gc.freeze()
        gc.set_threshold(_GC_THRESHOLD)
        started(engine, port)
        await stop.wait()
        log.info("server.stopping")
    finally:
        await server.stop()


def _open_engine(settings: Settings, deliver: Deliver) -> Engine:
    if settings.in_memory:
        return MemoryEngine()
    return SqliteEngine.open(settings.data_dir, deliver=deliver)


def _deliver_to(loop: asyncio.AbstractEventLoop) -> Deliver:
    """Bring the callbacks of one commit to the loop's thread, all in one go."""

    def deliver(callbacks: list[Callable[[], None]]) -> None:
        # A loop that has been closed has nobody left to answer.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_call_all, callbacks)

    return deliver


def _call_all(callbacks: list[Callable[[], None]]) -> None:
    for callback in callbacks:
        try:
            callback()
        except Exception as error:  # noqa: BLE001 - the answers behind it must still leave
            log.error("answer.failed", error=error)


def _log_stray(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    log.error("loop.failed", error=context.get("exception"), reason=context.get("message"))


def _allow_many_connections() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
