"""`make bench`: the same work against every system, one at a time, in one run."""

import argparse
import math
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import footprint
import machine
import orjson
import publishing
import systems
from ceiling_run import CeilingRun
from installing import NotInstallable
from measured import Comparison, Measured
from running import NotStarted, Running, cold_start, free_port, running
from systems import System

from hashrange_bench import command, workloads
from hashrange_bench.load import Generator, best_generator
from hashrange_bench.result import Report
from hashrange_bench.run import Options, Requests, Run
from hashrange_bench.workloads import Answer

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".cache" / "bench"
OURS = (systems.DURABLE, systems.IN_MEMORY, systems.ON_POSTGRES)
_COLUMNS = [system.name for system in systems.SYSTEMS]
_STARTS = 3
_WORKERS = (1, 2)
_WORKERS_ITEMS = 100_000


class Comparing:
    """The state of one `make bench`."""

    def __init__(self, chosen: argparse.Namespace, folder: Path, generator: Generator) -> None:
        self.chosen = chosen
        self.options: Options = command.options(chosen, folder)
        self.generator = generator
        self.requests = Requests(folder)
        self.port = free_port()
        self.prefix = ("taskset", "-c", "0") if chosen.pin else ()
        self.answers: dict[str, Answer] = {}
        self.workloads = workloads.chosen(chosen.workload)
        self.growth = not chosen.workload or "growth" in chosen.workload
        self.comparison = Comparison(
            machine.describe(folder), self._settings(), time.strftime("%Y-%m-%d", time.gmtime())
        )

    def _settings(self) -> dict[str, object]:
        chosen = asdict(self.options)
        del chosen["folder"]
        return {
            **chosen,
            "load generator": self.generator.name,
            "pinned to cores": bool(self.prefix),
            "rounds, of which the best counts": self.chosen.rounds,
        }

    def measure(self, system: System) -> None:
        """Install a system, start it, give it the work, stop it."""
        found = Measured(system.name, system.title, settings=system.settings)
        before = next((each for each in self.comparison.systems if each.name == system.name), None)
        if before is None:
            self.comparison.systems.append(found)
            self.comparison.systems.sort(key=lambda each: _COLUMNS.index(each.name))
            pace = machine.pace()
            self._measure(system, found)
            found.pace = (pace + machine.pace()) / 2
        elif not before.skipped:
            self._measure(system, found)
            before.improve(found)

    def _measure(self, system: System, found: Measured) -> None:
        try:
            found.version = system.install(TOOLS)
            times = 1 if self.chosen.quick else _STARTS
            if not self.chosen.workload:
                found.start_seconds, found.idle_memory_bytes = cold_start(system, TOOLS, self.port, times)
                say(f"  starts in {found.start_seconds:.2f} s")
            if system is systems.DURABLE and not self.chosen.workload:
                found.item_disk_bytes = footprint.bytes_per_item(system, TOOLS, self.port)
                say(f"  an item of 2.1 KB takes {found.item_disk_bytes:,.0f} bytes on disk")
            self._work(system, found)
        except NotInstallable as problem:
            found.skipped = f"not installable here: {problem}"
        except NotStarted as problem:
            found.skipped = f"did not start: {problem}"
        if found.skipped:
            say(f"  left out, {found.skipped}")

    def _work(self, system: System, found: Measured) -> None:
        """Give a system the work; the large table gets a fresh server, so that its memory is its own."""
        with running(system, TOOLS, self.port, self.prefix) as server:
            if system is systems.CEILING:
                found.report.results = self._ceiling(server).workloads(self.workloads, self.answers)
                return
            self._run(system, server, found.report).small(self.workloads)
        if self.comparison.system(system.name) is not found:
            return  # another round: the large table was there before
        with running(system, TOOLS, self.port, self.prefix) as server:
            self._run(system, server, found.report).grown(self.workloads, growth=self.growth)

    def _ceiling(self, server: Running) -> CeilingRun:
        return CeilingRun(
            server.endpoint,
            self.options,
            generator=self.generator,
            meter=server.meter,
            say=indented,
            requests=self.requests,
        )

    def _run(self, system: System, server: Running, report: Report, options: Options | None = None) -> Run:
        def learn(name: str, answer: Answer) -> None:
            if system in OURS:
                self.answers[name] = answer

        return Run(
            server.endpoint,
            options or self._options_for(system),
            generator=self.generator,
            meter=server.meter,
            say=indented,
            requests=self.requests,
            learn=learn,
            report=report,
        )

    def _options_for(self, system: System) -> Options:
        """Our own servers get all the items they were to have; beyond those of the mixed load the durable one only."""
        given = asdict(self.options)
        if system in OURS:
            given["load_seconds"] = float("inf")
        if system is not systems.DURABLE:
            given["growth_to"] = min(given["growth_to"], int(math.log10(given["large_items"])))
        return Options(**given)

    def workers(self) -> None:
        """Compare the mixed load with one process and with two."""
        if not serve_knows("--workers"):
            say("workers: left out, this version of the server has no --workers")
            return
        options = Options(
            **{**asdict(self.options), "large_items": min(_WORKERS_ITEMS, self.options.large_items)}
        )
        for count in _WORKERS:
            say(f"mixed load, {count} worker{'s' if count > 1 else ''}")
            system, report = systems.with_workers(count), Report()
            try:
                with running(system, TOOLS, self.port) as server:
                    self._run(system, server, report, options).workloads(workloads.chosen(["mixed"]))
            except NotStarted as problem:
                say(f"  left out, did not start: {problem}")
                return
            if (rate := report.results[0].per_second) is not None:
                self.comparison.workers[count] = rate


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)  # so that whatever runs is stopped on the way out
    if chosen.render is not None:
        publishing.write(Comparison.from_json(orjson.loads(chosen.render.read_bytes())), chosen.out, TOOLS)
        return publish(chosen)
    generator = best_generator(("taskset", "-c", "1") if chosen.pin else ())
    if generator.name != "wrk":
        say(
            "wrk is not installed (apt-get install wrk): load comes from Python and may hold back fast servers"
        )
    TOOLS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="requests-", dir=TOOLS) as folder:
        comparing = Comparing(chosen, Path(folder), generator)
        try:
            compare(comparing, chosen)
        except KeyboardInterrupt:
            say("stopped; what was measured so far is kept")
    publishing.write(comparing.comparison, chosen.out, TOOLS)
    if not chosen.system and not chosen.workload:
        switches(chosen)
    return publish(chosen)


def switches(chosen: argparse.Namespace) -> None:
    """Have the cost of each switch measured: off, on, all on."""
    say("switches")
    command = [sys.executable, str(Path(__file__).with_name("switches.py"))]
    command += ["--rounds", "1" if chosen.quick else "3", "--json", str(chosen.out / "switches.json")]
    if chosen.pin:
        command.append("--pin")
    if chosen.publish:
        command += ["--page", str(ROOT / "docs" / "benchmarks-switches.md")]
    subprocess.run(command, check=False)  # its status says whether a target was missed


def compare(comparing: Comparing, chosen: argparse.Namespace) -> None:
    """Measure system after system; each is kept as soon as it is done."""
    started = time.monotonic()
    names = chosen.system or [system.name for system in systems.SYSTEMS]
    wanted = [
        system for system in systems.TURNS if system.name in names and system.name not in chosen.without
    ]
    for turn in range(1, chosen.rounds + 1):
        for number, system in enumerate(wanted, 1):
            place = f"{number}/{len(wanted)}" + (f", round {turn}" if turn > 1 else "")
            say(f"[{place}] {system.title} ({time.monotonic() - started:.0f} s so far)")
            comparing.measure(system)
            publishing.write_json(comparing.comparison, chosen.out)
    if not chosen.system and (not chosen.workload or "mixed" in chosen.workload):
        comparing.workers()
    say(f"done in {time.monotonic() - started:.0f} s")


def publish(chosen: argparse.Namespace) -> int:
    say(f"written: {', '.join(str(path) for path in publishing.paths(chosen.out) if path.exists())}")
    if chosen.publish:
        publishing.publish(chosen.out, ROOT)
        say("README.md and docs/benchmarks.md have these results now")
    return 0


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="bench/compare.py", description=__doc__)
    names = [system.name for system in systems.SYSTEMS]
    found.add_argument(
        "--system",
        action="append",
        choices=names,
        default=[],
        metavar="NAME",
        help=f"measure only this one; may be given more than once: {', '.join(names)}",
    )
    found.add_argument(
        "--without", action="append", choices=names, default=[], metavar="NAME", help="leave this one out"
    )
    found.add_argument("--pin", action="store_true", help="server on core 0, load generator on core 1")
    found.add_argument(
        "--out", type=Path, default=TOOLS / "results", metavar="FOLDER", help="where results go"
    )
    found.add_argument(
        "--rounds",
        type=int,
        default=1,
        metavar="N",
        help="go through all systems N times and keep the best of each, where others use the machine too (default: 1)",
    )
    found.add_argument(
        "--publish", action="store_true", help="put the results into README.md and docs/benchmarks*.md"
    )
    found.add_argument(
        "--render", type=Path, metavar="JSON", help="measure nothing, tell these results again"
    )
    command.add_shared_flags(found)
    return found


def serve_knows(flag: str) -> bool:
    asked = [sys.executable, "-m", "hashrange", "serve", "--help"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
    return flag in done.stdout


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def say(line: str) -> None:
    print(line, flush=True)


def indented(line: str) -> None:
    say("  " + line)


if __name__ == "__main__":
    sys.exit(main())
