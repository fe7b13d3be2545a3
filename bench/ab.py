"""Which of two source trees is faster? Both serve at the same time and take turns under the same load.

    python bench/ab.py --before ../released --after . [--rounds 5] [--seconds 2] [--workloads get put]
    python bench/ab.py --before . --before-flags="--capacity off" --after . --after-flags="--capacity enforce"

Each tree's server runs with this interpreter and that tree's `src`, durable, on a port and in a data directory of its
own. The load generator and the workloads are those of the tree that this script is in. A round gives every workload to
both sides in the order ABBA, and its ratio is that round's after / before; the median of the rounds is what counts.
Rates on a machine that others use move by more than most changes do: the processor time per request moves less.
docs/benchmarks.md says how to read the table.
"""

import argparse
import contextlib
import http.client
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import machine
import orjson
import ratios
from ratios import Comparison, Side, Turn
from running import NotStarted, Running, free_port, running
from systems import Place, System

from hashrange_bench import request_file, workloads
from hashrange_bench.endpoint import CallFailed
from hashrange_bench.load import Generator, LoadFailed, Order, Outcome, best_generator
from hashrange_bench.run import Requests
from hashrange_bench.sample import PEOPLE, Request
from hashrange_bench.sender import SendFailed
from hashrange_bench.tables import Tables
from hashrange_bench.workloads import Workload

SCRATCH = Path(__file__).resolve().parent.parent / ".cache" / "bench"
DEFAULT = ("get", "put", "update", "query-10", "batch-write-25", "transact-write-2")
LEFT_OUT = ("delete", "mixed")  # they need tables that a run of its own makes and fills
CHOICES = tuple(workload.name for workload in workloads.WORKLOADS if workload.name not in LEFT_OUT)
_FAILURES = (NotStarted, CallFailed, LoadFailed, SendFailed, OSError, http.client.HTTPException)
_LEAST_RATE = 5_000  # requests a second for which a turn has fresh requests in any case
_SPARE = 2  # how many times the last turn's requests the next turn has at hand


class WrongAnswer(Exception):
    """A side does not do the work that is measured."""


@dataclass(slots=True)
class Fresh:
    """Requests of which none may be sent twice, and how many a turn is likely to need."""

    requests: Iterator[Request]
    wanted: int


class Contestant:
    """One side: its running server, its tables and its requests."""

    def __init__(
        self, side: str, server: Running, generator: Generator, flags: argparse.Namespace, folder: Path
    ) -> None:
        self._side = side
        self._server = server
        self._generator = generator
        self._flags = flags
        self._folder = folder
        self._requests = Requests(folder)
        # A side may enforce capacity, which a new table on demand has too little of.
        on_demand = not (flags.before_flags or flags.after_flags)
        self._tables = Tables(server.endpoint, connections=flags.connections, on_demand=on_demand)
        self._positions: dict[str, int] = {}
        self._fresh: dict[str, Fresh] = {}

    def prepare(self, workload: Workload) -> None:
        """Fill the workload's table, check one answer, and warm up for a second."""
        operation, body = next(workload.requests(self._items(workload)))
        answer = self._server.endpoint.call(operation, body)
        if not workload.check(answer):
            raise WrongAnswer(f"{self._side} answers {workload.name} with {str(answer)[:80]}")
        self.turn(workload, 1)

    def turn(self, workload: Workload, seconds: float) -> tuple[Turn, str]:
        """Run one key range of load; give its figures, and a note where they are doubtful.

        The processor time includes what the server does after the last answer, such as a checkpoint.
        """
        path, written, start = self._at_hand(workload, seconds)
        meter = self._server.meter
        meter.settle()
        before = meter.cpu_seconds()
        outcome = self._generator.run(
            Order(self._server.endpoint, path, start, self._flags.connections, seconds)
        )
        meter.settle()
        after = meter.cpu_seconds()
        cpu_seconds = None if before is None or after is None else after - before
        note = self._sent(workload, outcome, written)
        errors = outcome.refused + outcome.broken
        return Turn(self._side, outcome.requests, outcome.seconds, cpu_seconds, errors), note

    def _items(self, workload: Workload) -> int:
        items = self._tables.ready(workload.table)
        return 0 if workload.consumes and workload.table != PEOPLE else items

    def _at_hand(self, workload: Workload, seconds: float) -> tuple[Path, int, int]:
        """Give a file of requests, how many it has, and the one to start from."""
        items = self._items(workload)
        if not workload.consumes:
            count = workload.count(seconds)
            path, written = self._requests.of(workload, self._server.endpoint, items, count)
            return path, written, self._positions.get(workload.name, 0) % written
        fresh = self._fresh.get(workload.name)
        if fresh is None:
            requests = workload.requests(items)
            next(requests)  # the one that was sent to check the answer
            fresh = self._fresh[workload.name] = Fresh(requests, int(_LEAST_RATE * seconds))
        path = self._folder / f"{workload.name}.requests"
        written = request_file.write(path, self._server.endpoint, fresh.requests, fresh.wanted)
        return path, written, 0

    def _sent(self, workload: Workload, outcome: Outcome, written: int) -> str:
        """Remember how far the requests were used."""
        sent = outcome.requests + self._flags.connections  # some were under way at the end
        if not workload.consumes:
            self._positions[workload.name] = self._positions.get(workload.name, 0) + sent
            return ""
        # A turn that others on the machine slowed down says little about the next.
        rate = max(_LEAST_RATE, _SPARE * outcome.per_second)
        self._fresh[workload.name].wanted = int(rate * self._flags.seconds) + self._flags.connections
        return f"requests of {self._side} were used up and started over" if sent > written else ""


def served(side: Side, tree: Path, serve_flags: str = "") -> System:
    """Give the server of a source tree, with flags of its own, as a system that can be started."""

    def command(place: Place) -> list[str]:
        data = str(place.data / "data")
        return [
            *(sys.executable, "-m", "hashrange", "serve", "--port", str(place.port)),
            *("--data-dir", data, "--log-level", "error"),
            *shlex.split(serve_flags),
        ]

    def environment(_: Place) -> Mapping[str, str]:
        return {"PYTHONPATH": str(tree / "src")}

    return System(side, str(tree), lambda _: revision(tree), command, environment)


def revision(tree: Path) -> str:
    """Name the commit of a tree, where it is a git checkout."""
    command = ["git", "-C", str(tree), "describe", "--always", "--dirty"]
    with contextlib.suppress(OSError):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.returncode:
            return done.stdout.strip()
    return "unknown"


def source_tree(text: str) -> Path:
    tree = Path(text).resolve()
    if not (tree / "src" / "hashrange" / "__main__.py").exists():
        raise argparse.ArgumentTypeError(f"{text} has no src/hashrange")
    return tree


def parser() -> argparse.ArgumentParser:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--before", type=source_tree, required=True, metavar="TREE")
    flags.add_argument("--after", type=source_tree, required=True, metavar="TREE")
    for side in ratios.SIDES:
        flags.add_argument(
            f"--{side}-flags", default="", metavar="FLAGS", help="of that side's `hashrange serve`"
        )
    flags.add_argument("--rounds", type=int, default=5, help="(default: 5)")
    flags.add_argument(
        "--seconds", type=float, default=2, help="of each of a round's four turns (default: 2)"
    )
    flags.add_argument("--connections", type=int, default=16, help="(default: 16)")
    flags.add_argument("--workloads", nargs="+", choices=CHOICES, default=DEFAULT, metavar="NAME")
    flags.add_argument("--pin", action="store_true", help="servers on core 0, the load generator on core 1")
    flags.add_argument(
        "--json", type=Path, metavar="FILE", help="where the JSON goes; without it, to the output"
    )
    flags.add_argument(
        "--at-least", type=float, metavar="RATIO", help="fail if a workload's median throughput is lower"
    )
    return flags


def compare(flags: argparse.Namespace, generator: Generator, folder: Path) -> list[Comparison]:
    """Start both sides and let them take turns."""
    chosen = workloads.chosen(list(flags.workloads))
    comparisons = [Comparison(workload.name, workload.title) for workload in chosen]
    prefix = ("taskset", "-c", "0") if flags.pin else ()
    with contextlib.ExitStack() as stack:
        contestants: dict[Side, Contestant] = {}
        for side in ratios.SIDES:
            system = served(side, getattr(flags, side), getattr(flags, f"{side}_flags"))
            server = stack.enter_context(running(system, SCRATCH, free_port(), prefix))
            (folder / side).mkdir()
            contestants[side] = Contestant(side, server, generator, flags, folder / side)
        for workload in chosen:
            say(f"preparing {workload.name}")
            for contestant in contestants.values():
                contestant.prepare(workload)
        for number in range(flags.rounds):
            for workload, comparison in zip(chosen, comparisons, strict=True):
                play(number, workload, comparison, contestants, flags.seconds)
    return comparisons


def play(
    number: int,
    workload: Workload,
    comparison: Comparison,
    contestants: Mapping[Side, Contestant],
    seconds: float,
) -> None:
    """Play one round of one workload."""
    turns: list[Turn] = []
    comparison.rounds.append(turns)
    for side in ratios.order(number):
        turn, note = contestants[side].turn(workload, seconds)
        turns.append(turn)
        comparison.notes += [note] if note else []
    alone = Comparison(workload.name, workload.title, [turns])
    throughput, efficiency = (
        f"{spread.median:.3f}" if spread else "unknown" for spread in (alone.throughput, alone.efficiency)
    )
    say(f"round {number + 1}, {workload.name}: {throughput} by the clock, {efficiency} by processor time")


def report(flags: argparse.Namespace, comparisons: Sequence[Comparison], generator: str) -> bytes:
    """Give the whole run as JSON."""
    run = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine.describe(SCRATCH),
        "load generator": generator,
        "trees": {side: revision(getattr(flags, side)) for side in ratios.SIDES},
        "flags": {side: getattr(flags, f"{side}_flags") for side in ratios.SIDES},
        "rounds": flags.rounds,
        "seconds": flags.seconds,
        "connections": flags.connections,
        "workloads": [comparison.as_json() for comparison in comparisons],
    }
    return orjson.dumps(run, option=orjson.OPT_INDENT_2)


def main(arguments: Sequence[str] | None = None) -> int:
    flags = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers are stopped on the way out
    generator = best_generator(("taskset", "-c", "1") if flags.pin else ())
    if generator.name != "wrk":
        say(
            "wrk is not installed (apt-get install wrk): load comes from Python and may hold back the servers"
        )
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ab-", dir=SCRATCH) as folder:
        try:
            comparisons = compare(flags, generator, Path(folder))
        except (*_FAILURES, WrongAnswer) as problem:
            say(f"ab.py: {problem}")
            return 1
    print(ratios.markdown(comparisons))
    text = report(flags, comparisons, generator.name)
    if flags.json is None:
        print(text.decode())
    else:
        flags.json.write_bytes(text)
    slower = [] if flags.at_least is None else ratios.below(comparisons, flags.at_least)
    if slower:
        say(f"below {flags.at_least}: {', '.join(slower)}")
    return 1 if slower else 0


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
