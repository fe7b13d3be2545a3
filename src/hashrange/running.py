"""Running the server in its processes: one alone, or several workers and their parent."""

import asyncio
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import uvloop

from hashrange import logs, process_limits, workers
from hashrange.collector import Collector
from hashrange.config import SettingInvalid, Settings
from hashrange.engines import postgres
from hashrange.huge_pages import HugePages
from hashrange.page_keys import unlock_settings
from hashrange.server import Server
from hashrange.sockets import listen
from hashrange.storage.errors import StorageError
from hashrange.storage.sqlite import SqliteEngine
from hashrange.vaults import named_root_key
from hashrange.wire.tls import Tls
from hashrange.workers import Worker

_SWITCH_SECONDS = 0.001

Started = Callable[[str, int], None]  # told the engine's description and the port

log = logs.Log("server")


def run(settings: Settings, started: Started) -> int:
    """Serve until told to stop by SIGTERM or SIGINT; `started` is called once requests are answered."""
    process_limits.allow_many_connections()
    process_limits.keep_freed_memory()
    if settings.root_key or settings.auth != "off":
        process_limits.leave_no_core_dump()
    # A long read on another thread must give way to the loop sooner than after Python's five milliseconds.
    sys.setswitchinterval(_SWITCH_SECONDS)
    if settings.workers > 1:
        return _run_workers(settings, started)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, started))
    return 0


def _run_workers(settings: Settings, started: Started) -> int:
    """Be the parent of several workers; what they all need is loaded before they part."""
    is_local = settings.engine == "sqlite"
    named_root_key(settings.root_key)
    unlock_settings(settings)
    # What is wrong with the data is said once, here, and not by every worker.
    engine = SqliteEngine.describe(settings.data_dir) if is_local else postgres().check(settings.engine)
    claim = SqliteEngine.lock_directory(settings.data_dir) if is_local else None
    try:
        Tls.configured(settings)  # likewise
        sockets = listen(settings.host, settings.port)
        if settings.tls_redirect_port:
            sockets += listen(settings.host, settings.tls_redirect_port)
        port = int(sockets[0].getsockname()[1])
        parent = workers.Parent(replace(settings, port=port), sockets, _work)
        description = f"{engine}, {settings.workers} workers"
        return parent.run(lambda: started(description, port))
    finally:
        if claim is not None:
            claim.release()


def _work(settings: Settings, worker: Worker) -> int:
    """Be one of several workers."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(settings, lambda _description, _port: worker.report_ready(), worker))
    except (SettingInvalid, StorageError) as problem:
        log.error("worker.refused", worker=worker.number, reason=str(problem))
        return 1
    return 0


async def _serve(settings: Settings, started: Started, worker: Worker | None = None) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_log_stray)
    stop = asyncio.Event()
    server = Server(settings, worker=worker)
    collector = Collector(loop.call_later)
    huge_pages = HugePages()

    def stop_or_hurry() -> None:
        if stop.is_set():
            server.hurry()
        stop.set()

    if worker is None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop_or_hurry)
    else:
        # A terminal sends SIGINT, and a service manager SIGTERM, to the parent and to every worker.
        loop.add_signal_handler(signal.SIGINT, _ignore)
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        loop.add_signal_handler(workers.HURRY, server.hurry)
    if settings.reloads:
        loop.add_signal_handler(workers.RELOAD, server.reload)
    try:
        engine, port = await server.start()
        started(engine.description, port)
        collector.start()  # it takes a tenth of the time in which a server starts
        huge_pages.start()
        await stop.wait()
        log.info("server.stopping")
    finally:
        collector.stop()
        huge_pages.stop()
        await server.stop()


def _ignore() -> None:
    """The parent tells its workers when to stop."""


def _log_stray(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    log.error("loop.failed", error=context.get("exception"), reason=context.get("message"))
