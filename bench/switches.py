"""What does each switch cost? Servers with and without each switch take turns under the same load, in one run.

    python bench/switches.py [--rounds 6] [--seconds 1] [--pin] [--sides off iam tls] [--workloads get put]
    python bench/switches.py --pin --page docs/benchmarks-switches.md       # figures and picture go beside it

All servers are there for the whole run, each durable, on data of its own; requests are signed for each of them. In a
round every workload is given to every side for some seconds, the sides in another order each time. What a side keeps is
its rate in a round as a share of that of the side without switches in the same round; the median of the rounds counts.
Rates by the processor's time are those of the server's process alone, and move less on a machine that others use.
The exit status is 1 if a side keeps less of GetItem's rate than it has to.
"""

import argparse
import contextlib
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import machine
import orjson
import publishing
import ratios
from ab import SCRATCH, Contestant, WrongAnswer, revision, say
from ratios import Turn
from running import Running
from switch_sides import SIDES, Switches, certificates, serving, switch_on

from hashrange_bench import workloads
from hashrange_bench.load import Generator, best_generator
from hashrange_bench.report import microseconds, rate, share, table
from hashrange_bench.workloads import Workload

DEFAULT = ("get", "put", "query-10", "update")
# Of GetItem's rate, over sockets and by the clock.
KEPT_MIN = {"iam": 0.60, "encryption": 0.75, "tls": 0.60}

Turns = dict[str, dict[str, list[Turn]]]  # by workload and side, one for each round


def measure(flags: argparse.Namespace, generator: Generator, folder: Path) -> Turns:
    """Start all sides and let them take turns."""
    sides = [side for side in SIDES if side.name in flags.sides]
    chosen = workloads.chosen(list(flags.workloads))
    authority = certificates(folder)
    os.environ["SSL_CERT_FILE"] = str(authority)  # where both of the benchmark's own clients look
    prefix = ("taskset", "-c", "0") if flags.pin else ()
    turns: Turns = {workload.name: {side.name: [] for side in sides} for workload in chosen}
    with contextlib.ExitStack() as stack:
        contestants: dict[str, Contestant] = {}
        for side in sides:
            say(f"preparing {side.name}")
            own = folder / side.name
            own.mkdir()
            server = stack.enter_context(serving(side, own, authority, prefix))
            contestants[side.name] = Contestant(side.name, server, generator, flags, own)
            _prepare(side, server, contestants[side.name], chosen)
        for number in range(flags.rounds):
            for workload in chosen:
                _play(number, workload, contestants, flags.seconds, turns[workload.name])
    return turns


def _prepare(side: Switches, server: Running, contestant: Contestant, chosen: Sequence[Workload]) -> None:
    """Fill the tables, then give them what the side has: what loading writes is not part of it."""
    switched = set()
    for workload in chosen:
        contestant.prepare(workload)
        if workload.table not in switched:
            switch_on(side, server.endpoint, workload.table)
            switched.add(workload.table)


def _play(
    number: int,
    workload: Workload,
    contestants: Mapping[str, Contestant],
    seconds: float,
    turns: Mapping[str, list[Turn]],
) -> None:
    """Give each side a turn: none always goes first, and none always behind the same other."""
    names = list(contestants)
    names = names[number % len(names) :] + names[: number % len(names)]
    for name in names if number % 2 == 0 else reversed(names):
        turn, note = contestants[name].turn(workload, seconds)
        turns[name].append(turn)
        if note or turn.errors:
            raise WrongAnswer(f"{name}, {workload.name}: {note or f'{turn.errors} errors'}")
    say(f"round {number + 1}, {workload.name}: {_told(turns)}")


def _told(turns: Mapping[str, list[Turn]]) -> str:
    return ", ".join(f"{name} {share(*_pair(turns, name))}" for name in turns)


def _pair(turns: Mapping[str, list[Turn]], name: str) -> tuple[float | None, float | None]:
    plain = next(iter(turns.values()))
    return ratios.per_cpu_second(turns[name][-1:]), ratios.per_cpu_second(plain[-1:])


def kept(turns: Sequence[Turn], plain: Sequence[Turn], measured: ratios.Measure) -> float | None:
    """The median over the rounds of what a side keeps."""
    pairs = [(measured([turn]), measured([other])) for turn, other in zip(turns, plain, strict=True)]
    known = [mine / others for mine, others in pairs if mine and others]
    return statistics.median(known) if known else None


def figures(turns: Turns) -> dict[str, dict[str, dict[str, float | None]]]:
    """Rates and shares, by workload and side; the first side is what the others are compared with."""
    return {
        name: {
            side: {
                "requests per second": statistics.median(turn.requests / turn.seconds for turn in own),
                "requests per processor second": _median_by_processor(own),
                "kept by the clock": kept(own, plain, ratios.per_second),
                "kept by processor time": kept(own, plain, ratios.per_cpu_second),
            }
            for side, own in by_side.items()
        }
        for name, by_side in turns.items()
        for plain in [next(iter(by_side.values()))]
    }


def _median_by_processor(turns: Sequence[Turn]) -> float | None:
    known = [value for turn in turns if (value := ratios.per_cpu_second([turn]))]
    return statistics.median(known) if known else None


def markdown(found: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> str:
    """One table: a row for each side, for each workload what it keeps by the clock and by processor time."""
    titles = {workload.name: workload.title for workload in workloads.WORKLOADS}
    sides = {side.name: side.title for side in SIDES}
    rows = [
        (sides[side], *(_cell(by_side, side) for by_side in found.values()))
        for side in next(iter(found.values()))
    ]
    return table(("server", *(titles[name] for name in found)), rows)


def _cell(by_side: Mapping[str, Mapping[str, float | None]], side: str) -> str:
    own = by_side[side]
    if side == next(iter(by_side)):
        per_cpu = own["requests per processor second"]
        return (
            f"{rate(own['requests per second'])}/s, {microseconds(1e6 / per_cpu if per_cpu else None)} µs CPU"
        )
    return f"{share(own['kept by the clock'], 1)}, CPU {share(own['kept by processor time'], 1)}"


def missed(found: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> list[str]:
    """The sides that keep too little of GetItem's rate."""
    by_side = found.get("get", {})
    return [
        f"{side} keeps {share(by_side[side]['kept by the clock'], 1)} of GetItem's rate, not {least:.0%}"
        for side, least in KEPT_MIN.items()
        if side in by_side and (by_side[side]["kept by the clock"] or 0) < least
    ]


def report(flags: argparse.Namespace, turns: Turns, generator: str, load: str) -> dict[str, Any]:
    """The whole run."""
    described = machine.describe(SCRATCH)
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": described | {"load before": load, "load after": described["load before"]},
        "tree": revision(Path(__file__).parents[1]),
        "load generator": generator,
        "rounds": flags.rounds,
        "seconds": flags.seconds,
        "connections": flags.connections,
        "pinned": flags.pin,
        "results": figures(turns),
    }


def page(run: Mapping[str, Any]) -> str:
    """What stands between the marks of the page."""
    about = "; ".join(f"{name}: {value}" for name, value in run["machine"].items())
    pinned = "servers on core 0, load on core 1" if run["pinned"] else "not pinned"
    return (
        f"{run['date']}, {run['tree']}. {run['rounds']} rounds of {run['seconds']:g} s, {run['connections']} "
        f"connections, {run['load generator']}, {pinned}. {about}.\n\n{markdown(run['results'])}"
    )


def parser() -> argparse.ArgumentParser:
    """The flags."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [side.name for side in SIDES]
    flags.add_argument("--rounds", type=int, default=6)
    flags.add_argument("--seconds", type=float, default=1, help="of each turn; wrk takes whole seconds only")
    flags.add_argument("--connections", type=int, default=16)
    flags.add_argument(
        "--sides", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names)
    )
    flags.add_argument("--workloads", nargs="+", default=DEFAULT, metavar="NAME")
    flags.add_argument("--pin", action="store_true", help="servers on core 0, the load generator on core 1")
    flags.add_argument("--json", type=Path, metavar="FILE", help="where the figures go")
    flags.add_argument("--page", type=Path, metavar="FILE", help="where the table goes, between its marks")
    # For bench/ab.py: tables are provisioned, because new ones on demand have too little for the sides that enforce.
    flags.set_defaults(before_flags="--capacity off", after_flags="")
    return flags


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, publish; 1 if a side keeps too little."""
    flags = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers are stopped on the way out
    generator, load = best_generator(("taskset", "-c", "1") if flags.pin else ()), f"{os.getloadavg()[0]:.2f}"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="switches-", dir=SCRATCH) as folder:
        try:
            turns = measure(flags, generator, Path(folder))
        except WrongAnswer as problem:
            say(f"switches.py: {problem}")
            return 1
    run = report(flags, turns, generator.name, load)
    print(page(run))
    figures_file = flags.json or SCRATCH / "switches.json"
    figures_file.write_bytes(orjson.dumps(run, option=orjson.OPT_INDENT_2))
    if flags.page is not None:
        publishing.publish_switches(figures_file, flags.page, page(run), SCRATCH)
    too_slow = missed(run["results"])
    for line in too_slow:
        say(line)
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
