"""Metering: everything that observes a server, wired together; and the page of metrics that comes of it."""

import asyncio
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

from hashrange import logs
from hashrange.capacity.heat import Heat
from hashrange.capacity.key_sketches import KeySketches
from hashrange.capacity.observation import Observer
from hashrange.capacity.tallies import Tallies
from hashrange.chain.charge import Lanes
from hashrange.clock import Clock
from hashrange.metrics import Metric, Sample
from hashrange.storage import heat_flush
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Done, Engine, Reader
from hashrange.storage.errors import StorageError
from hashrange.storage.expiry_metrics import expiry_metrics
from hashrange.storage.heat_flush import HeatFlusher
from hashrange.storage.insight_flush import InsightFlusher
from hashrange.storage.metric_flush import FLUSH_SECONDS, MetricFlusher
from hashrange.storage.metric_page import metric_page, shown_tables

_HAND_OVER_SECONDS = 0.1  # how long observations wait to be counted
_STARTED = time.time()
_STATUS = Path("/proc/self/statm")
_DESCRIPTORS = Path("/proc/self/fd")

log = logs.Log("metrics")


class Metering:
    """Counts what requests do, and writes it every few seconds. It is the event loop's, but for `finish`."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._tallies = Tallies()
        self._flusher = MetricFlusher(engine, self._tallies, clock)
        self._timers: dict[Callable[[], None], asyncio.TimerHandle] = {}
        self.heat = Heat()
        self._heat_flusher = HeatFlusher(engine, self.heat)
        self.heat_worker = self._heat_flusher.worker
        self.observer = Observer(clock.now, self._tallies)
        self.observer.subscribe(self.heat.observe)
        sketches = KeySketches()
        self.observer.subscribe(sketches.count)
        self._insight_flusher = InsightFlusher(engine, sketches)
        self.lanes = Lanes(self.observer, clock)

    def start(self) -> None:
        """Count and write from now on."""
        self._every(_HAND_OVER_SECONDS, self.observer.hand_over)
        self._every(FLUSH_SECONDS, self._flusher.flush)
        self._every(heat_flush.FLUSH_SECONDS, self._heat_flusher.flush)
        self._every(FLUSH_SECONDS, self._insight_flusher.flush)

    def _every(self, seconds: float, work: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()

        def run() -> None:
            self._timers[work] = loop.call_later(seconds, run)
            work()

        self._timers[work] = loop.call_later(seconds, run)

    def close_moment(self) -> None:
        """Before the clock is moved: count what was done by the time that was, and write what heat that gave."""
        self.observer.hand_over()
        self._heat_flusher.flush()

    def stop(self) -> None:
        """Count what is left; the caller then has it written by `finish`, on another thread."""
        for timer in self._timers.values():
            timer.cancel()
        self.observer.hand_over()

    def finish(self) -> None:
        """Write what is left, and wait for it."""
        self._flusher.finish()
        self._insight_flusher.finish()


def collect(
    engine: Engine,
    catalogue: Catalogue,
    clock: Clock,
    worker: int,
    more: Callable[[], list[Metric]],
    collected: Done[list[Metric]],
) -> None:
    """Read the metrics of all tables in one snapshot, and add those of this process and what more there is."""
    try:
        tables = catalogue.tables()
    except StorageError as error:
        collected(None, error)
        return

    def read(reader: Reader) -> list[Metric]:
        now = clock.now()
        page = metric_page(reader, tables, now) + expiry_metrics(reader, shown_tables(tables), now)
        return [*page, *_file_metrics(engine), *process_metrics(worker), *more()]

    engine.submit_read(read, collected, more=True)


def _file_metrics(engine: Engine) -> list[Metric]:
    """How large the files of the data are, of an engine that has files on this machine."""
    if engine.directory is None:
        return []
    metric = Metric("hashrange_data_file_bytes", "gauge", "Sizes of the files in the data directory.", [])
    sizes = {"data": 0, "write-ahead-log": 0, "other": 0}
    try:
        for entry in os.scandir(engine.directory):
            if entry.is_file():
                kind = "data" if entry.name.endswith(".db") else "other"
                sizes["write-ahead-log" if entry.name.endswith("-wal") else kind] += entry.stat().st_size
    except OSError as error:
        log.warning("metrics.files", error=error)
    metric.samples.extend(Sample({"file": name}, size) for name, size in sizes.items())
    return [metric]


def process_metrics(worker: int) -> list[Metric]:
    """What the process that answers has used, under the names that Prometheus has for it."""
    labels = {"worker": str(worker)}
    usage = resource.getrusage(resource.RUSAGE_SELF)
    metrics = [
        Metric(
            "process_cpu_seconds_total",
            "counter",
            "Processor time of the process.",
            [Sample(labels, round(usage.ru_utime + usage.ru_stime, 3))],
        ),
        Metric(
            "process_start_time_seconds",
            "gauge",
            "When the process started.",
            [Sample(labels, round(_STARTED, 3))],
        ),
    ]
    try:
        resident = int(_STATUS.read_text("ascii").split()[1]) * resource.getpagesize()
        descriptors = sum(1 for _ in _DESCRIPTORS.iterdir())
    except OSError:
        return metrics  # only Linux has these
    return [
        *metrics,
        Metric(
            "process_resident_memory_bytes", "gauge", "Memory of the process.", [Sample(labels, resident)]
        ),
        Metric(
            "process_open_fds", "gauge", "Open descriptors of the process.", [Sample(labels, descriptors)]
        ),
    ]
