"""Opening the engine that the settings ask for."""

import asyncio
from typing import TYPE_CHECKING

from hashrange.clock import Clock, SystemClock
from hashrange.config import Settings
from hashrange.page_keys import unlock_settings
from hashrange.storage import layout
from hashrange.storage.engine import Deliver, Engine
from hashrange.storage.errors import OpenError
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine, cache_sizes
from hashrange.storage.sqlite.cache_sizes import CacheSizes
from hashrange.workers import Worker

if TYPE_CHECKING:
    from hashrange.storage.postgres import PostgresEngine


def open_engine(settings: Settings, deliver: Deliver, worker: Worker | None) -> tuple[Engine, Clock]:
    """Open the engine; gives also the clock that goes with it: servers that share a database share its time."""
    if settings.engine != "sqlite":
        shared = _open_postgres(settings, deliver)
        return shared, shared.clock
    return _open_sqlite(settings, deliver, worker), SystemClock()


def _open_sqlite(settings: Settings, deliver: Deliver, worker: Worker | None) -> Engine:
    caches = _cache_sizes(settings)
    loop = asyncio.get_running_loop()
    call_soon = loop.call_soon
    if settings.in_memory:
        return MemoryEngine(deliver=deliver, call_soon=call_soon, caches=caches)
    unlock_settings(settings)
    if worker is not None:
        return SqliteEngine.join(
            settings.data_dir,
            deliver=deliver,
            commit_version=worker.commit_version,
            call_soon=call_soon,
            caches=caches,
        )
    return SqliteEngine.open(
        settings.data_dir, deliver=deliver, call_soon=call_soon, caches=caches, watch=loop
    )


def _cache_sizes(settings: Settings) -> CacheSizes:
    if settings.cache_mb:
        return CacheSizes.of(settings.cache_mb * 1024 * 1024 // settings.workers)
    return cache_sizes.of_machine(cache_sizes.machine_memory(), settings.workers)


def postgres() -> "type[PostgresEngine]":
    """The PostgreSQL engine, whose driver is an extra."""
    try:
        from hashrange.storage.postgres import PostgresEngine  # noqa: PLC0415 - its driver is an extra
    except ImportError as error:
        raise OpenError(
            "the PostgreSQL engine needs its driver: pip install 'hashrange[postgres]'"
        ) from error
    return PostgresEngine


def _open_postgres(settings: Settings, deliver: Deliver) -> "PostgresEngine":
    return postgres().open(
        settings.engine,
        deliver=deliver,
        read_mostly=layout.READ_MOSTLY,
        replicas=settings.replica,
        staleness_seconds=settings.replica_staleness_ms / 1000,
        isolation=settings.postgres_isolation,
        loop=asyncio.get_running_loop(),
    )
