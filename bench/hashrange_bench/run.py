"""One run: every workload against one endpoint, one after the other."""

import http.client
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hashrange_bench import request_file, sample
from hashrange_bench.endpoint import CallFailed, Endpoint
from hashrange_bench.load import Generator, LoadFailed, Order, Outcome
from hashrange_bench.process import Meter
from hashrange_bench.report import rate
from hashrange_bench.result import Report, Result
from hashrange_bench.sender import SendFailed
from hashrange_bench.tables import Tables
from hashrange_bench.warming import Budget, Warmth, warm_up
from hashrange_bench.workloads import GROWTH, Answer, Workload


class WrongAnswer(Exception):
    """The answer is not what the workload asked for."""


_FAILURES = (WrongAnswer, CallFailed, LoadFailed, SendFailed, OSError, http.client.HTTPException)
_REQUESTS_MIN = 50  # fewer say little; such a workload gets more time, once
_LONGER = 4
_SPARE_WINDOWS = 2  # of requests that are used up, for the warm-up of a server that answers as many as any
_REQUESTS_AGE_SECONDS_MAX = 600  # a signature is good for fifteen minutes
_SETTLE_SECONDS = 2
_FIRST_LEVEL = 3  # growth starts at a thousand items
_LARGE_LEVEL = 6  # and goes on beyond a million only when asked to

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    folder: Path  # for the requests made beforehand
    seconds: float = 3
    warmup_seconds: float = 1  # of one window; there are as many as it takes until the rate is steady
    warmup_class_seconds: float = 60  # at most, for a server and a class of workloads
    connections: int = 16
    large_items: int = 1_000_000
    load_seconds: float = 60  # after which a slow server has enough large items
    growth_to: int = 6  # powers of ten
    run_seconds: float = 240  # after which a slow server is let off the rest


class Requests:
    """The request files, made when first needed; runs against one address share them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[str, str, int, int], tuple[Path, int, float]] = {}

    def of(self, workload: Workload, endpoint: Endpoint, items: int, count: int) -> tuple[Path, int]:
        """Give the file and how many requests it has."""
        key = (endpoint.url, workload.name, items, count)
        path, written, made = self._made.get(key, (Path(), 0, 0.0))
        if not written or time.monotonic() - made > _REQUESTS_AGE_SECONDS_MAX:
            path = self._folder / f"{workload.name}-{items}-{count}.requests"
            written = request_file.write(path, endpoint, workload.requests(items), count)
            self._made[key] = (path, written, time.monotonic())
        return path, written


class Run:
    def __init__(
        self,
        endpoint: Endpoint,
        options: Options,
        *,
        generator: Generator,
        meter: Meter,
        say: Say,
        requests: Requests | None = None,
        learn: Callable[[str, Answer], None] = lambda _name, _answer: None,
        report: Report | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._options = options
        self._generator = generator
        self._meter = meter
        self._say = say
        self._requests = requests or Requests(options.folder)
        self._learn = learn  # told the first answer to each workload
        self._deletable = 0
        self._warm_ups = Budget(options.warmup_class_seconds)
        self._deadline = time.monotonic() + options.run_seconds
        self._tables = Tables(endpoint, connections=options.connections)
        self.report = report or Report()

    def close(self) -> None:
        """Leave the endpoint as it was found."""
        self._tables.drop()

    def everything(self, chosen: tuple[Workload, ...], *, growth: bool) -> None:
        """Run what needs small tables, then what needs the large one."""
        self.small(chosen)
        self.grown(chosen, growth=growth)

    def small(self, chosen: tuple[Workload, ...]) -> None:
        """Run the workloads on small tables."""
        self.workloads(tuple(workload for workload in chosen if workload.table != sample.LARGE))

    def grown(self, chosen: tuple[Workload, ...], *, growth: bool) -> None:
        """Measure the large table while it grows, and run the workloads that need it whole."""
        if growth:
            self.growth(range(_FIRST_LEVEL, min(_LARGE_LEVEL, self._options.growth_to) + 1))
        self.workloads(tuple(workload for workload in chosen if workload.table == sample.LARGE))
        if growth:
            self.growth(range(_LARGE_LEVEL + 1, self._options.growth_to + 1))

    def workloads(self, chosen: tuple[Workload, ...]) -> None:
        """Run these workloads."""
        for workload in chosen:
            result = self._attempt(workload)
            self.report.results.append(result)
            self._say(summary(result))

    def growth(self, powers: range) -> None:
        """Measure at so many powers of ten of items, as far as the time for loading goes."""
        for power in powers:
            level = 10**power
            if time.monotonic() > self._deadline:
                self._say("growth stops: this server's time was over")
                return
            try:
                if self.large(level) < level:
                    self._say(f"growth stops at {self.report.large_items:,} items: loading takes too long")
                    return
            except _FAILURES as problem:
                self._say(f"growth stops: {problem}")
                return
            for group in {workload.group for workload in GROWTH}:
                self._warm_ups.renew(group)  # most items are new
            results = [self._attempt(workload) for workload in GROWTH]
            self.report.growth[level] = results
            self._say(f"{level:,} items: " + ", ".join(map(summary, results)))

    def large(self, wanted: int) -> int:
        """Have so many items in the large table, if loading them does not take too long."""
        started = time.monotonic()
        left = self._options.load_seconds - self.report.large_seconds
        if wanted > self._options.large_items:
            left = float("inf")  # asked for by name
        have = self._tables.fill(sample.LARGE, wanted, seconds=left)
        if have > self.report.large_items:
            self.report.large_seconds += time.monotonic() - started
            self._deadline += time.monotonic() - started
            self.report.large_items = have
            self.report.large_memory_bytes = self._meter.memory_bytes()
            self._say(f"{have:,} items loaded")
            settle()
        return have

    def _attempt(self, workload: Workload) -> Result:
        if time.monotonic() > self._deadline:
            return Result.missing(workload, "this server's time was over")
        try:
            return self._measure(workload)
        except _FAILURES as problem:
            return Result.missing(workload, str(problem) or type(problem).__name__)

    def _measure(self, workload: Workload) -> Result:
        options = self._options
        items = self._prepared(workload)
        count = workload.count(options.seconds + _SPARE_WINDOWS * options.warmup_seconds)
        path, written = self._requests.of(workload, self._endpoint, items, count)
        slow_seconds = options.seconds * _LONGER / options.connections
        alone_seconds = self._asked(workload, items)
        if alone_seconds > slow_seconds:
            alone_seconds = min(alone_seconds, self._asked(workload, items))
        if alone_seconds > slow_seconds:
            return self._alone(workload, alone_seconds)
        warmth = self._warmed(workload, path, written)
        position = 1 + warmth.requests + warmth.windows * options.connections  # those that were under way
        self._meter.forget_peak()
        outcome, cpu = self._timed(path, position, written, options.seconds)
        if outcome.requests < _REQUESTS_MIN:
            outcome, cpu = self._timed(path, position, written, options.seconds * _LONGER)
        if not outcome.requests:
            return self._alone(workload, self._asked(workload, items))
        position += outcome.requests + options.connections
        self._note_puts(workload, position)
        return Result.of(
            workload,
            outcome,
            cpu=cpu,
            memory=self._meter.peak_memory_bytes(),
            note=self._note(workload, items, outcome, warmth, position, written),
            warmth=warmth,
        )

    def _warmed(self, workload: Workload, path: Path, written: int) -> Warmth:
        """Load until the rate is steady; what consumes its requests leaves enough of them to be measured with."""
        options = self._options
        if not options.warmup_seconds:
            return Warmth(0, 0, steady=True)

        def window(requests: int) -> Outcome:
            return self._load(path, 1 + requests, written, options.warmup_seconds)

        started = time.monotonic()
        windows_max = self._warm_ups.windows(workload.group, options.warmup_seconds)
        warmth = warm_up(window, windows_max, self._spare(workload, written))
        self._warm_ups.use(workload.group, time.monotonic() - started)
        self._deadline += time.monotonic() - started
        return warmth

    def _spare(self, workload: Workload, written: int) -> float:
        """How many requests a warm-up may use."""
        if not workload.consumes:
            return float("inf")
        have = min(written, self._deletable) if workload.name == "delete" else written
        spare_seconds = _SPARE_WINDOWS * self._options.warmup_seconds
        return have * spare_seconds / (self._options.seconds + spare_seconds)

    def _timed(self, path: Path, position: int, written: int, seconds: float) -> tuple[Outcome, float | None]:
        """Give what came of it, and the server's processor time."""
        before = self._meter.cpu_seconds()
        outcome = self._load(path, position, written, seconds)
        after = self._meter.cpu_seconds()
        return outcome, None if before is None or after is None else after - before

    def _prepared(self, workload: Workload) -> int:
        """Have the workload's table there; give how many items it has."""
        if workload.name == "mixed":
            return self.large(self._options.large_items)
        items = self._tables.ready(workload.table)
        if workload.name == "delete":
            # Twice what was put in the same time; without that, more than are likely to be deleted.
            seconds = self._options.seconds + _SPARE_WINDOWS * self._options.warmup_seconds
            wanted = 2 * items or int(10_000 * seconds)
            self._deletable = self._tables.fill(workload.table, wanted, seconds=60)
            return 0
        if workload.consumes and workload.table != sample.PEOPLE:
            return 0
        return items

    def _asked(self, workload: Workload, items: int) -> float:
        """Ask once, check the answer, and give the seconds it took."""
        self._meter.settle()
        operation, body = next(workload.requests(items))
        started = time.perf_counter()
        answer = self._endpoint.call(operation, body)
        seconds = time.perf_counter() - started
        self._learn(workload.name, answer)
        if not workload.check(answer):
            raise WrongAnswer(f"wrong answer: {str(answer)[:80]}")
        return seconds

    def _alone(self, workload: Workload, seconds: float) -> Result:
        """Give the result of a single request, where so many at a time would not be answered in time."""
        note = f"one request, alone: {self._options.connections} at a time take too long"
        outcome = Outcome(1, seconds, 0, 0, seconds * 1e3, seconds * 1e3, 0.0)
        memory = self._meter.peak_memory_bytes()
        return Result.of(workload, outcome, cpu=None, memory=memory, note=note)

    def _load(self, path: Path, position: int, written: int, seconds: float) -> Outcome:
        order = Order(self._endpoint, path, position % written, self._options.connections, seconds)
        return self._generator.run(order)

    def _note_puts(self, workload: Workload, position: int) -> None:
        if workload.name == "put-new":
            self._tables.count(workload.table, position)

    def _note(
        self, workload: Workload, items: int, outcome: Outcome, warmth: Warmth, used: int, written: int
    ) -> str:
        notes = []
        if not warmth.steady:
            notes.append(f"not steady after {warmth.windows} warm-ups")
        if workload.name == "mixed" and items < self._options.large_items:
            notes.append(f"{items:,} items, loading more took too long")
        if workload.consumes and used > written:
            notes.append("requests were used up and started over")
        if workload.name == "delete" and used > self._deletable:
            notes.append("some items had been deleted before")
        if failed := outcome.refused + outcome.broken:
            notes.append(f"{failed:,} errors")
        return "; ".join(notes)


def summary(result: Result) -> str:
    """Say a result in a line."""
    if result.per_second is None:
        return f"{result.name}: not run: {result.note}"
    note = f" ({result.note})" if result.note else ""
    return f"{result.name}: {rate(result.per_second)}/s, p50 {result.p50_ms:.2f} ms{note}"


def settle() -> None:
    """Let the machine come to rest after loading, so that what is measured is not what was loaded before."""
    os.sync()
    time.sleep(_SETTLE_SECONDS)
