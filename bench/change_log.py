"""What does the change log cost? Two servers of one source tree take turns under the same writes.

    python bench/change_log.py [--tree .] [--rounds 5] [--seconds 2] [--view-type NEW_AND_OLD_IMAGES] [--pin]

The tables of the first server ("before") have no log; those of the second ("after") have a stream and, where the tree
knows it, point-in-time recovery. Turns, ratios and their reading are those of bench/ab.py.
"""

import argparse
import contextlib
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import ab
import orjson
import ratios
from ab import Contestant, served, source_tree
from ratios import Comparison, Side
from running import Running, free_port, running

from hashrange_bench import workloads
from hashrange_bench.endpoint import CallFailed
from hashrange_bench.load import Generator, best_generator

WORKLOADS = ("put", "update", "put-new", "batch-write-25", "transact-write-2")
_VIEW_TYPES = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")


def parser() -> argparse.ArgumentParser:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--tree", type=source_tree, default=source_tree("."), metavar="TREE")
    flags.add_argument("--rounds", type=int, default=5, help="(default: 5)")
    flags.add_argument("--seconds", type=float, default=2, help="of each turn (default: 2)")
    flags.add_argument("--connections", type=int, default=16, help="(default: 16)")
    flags.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=("put", "update"), metavar="NAME")
    flags.add_argument("--view-type", choices=_VIEW_TYPES, default="NEW_AND_OLD_IMAGES")
    flags.add_argument("--pin", action="store_true", help="servers on core 0, the load generator on core 1")
    flags.add_argument(
        "--at-least", type=float, metavar="RATIO", help="fail if a workload's median throughput is lower"
    )
    return flags


def switch_on(server: Running, table: str, view_type: str) -> str:
    """Give a table a log; says what it is for."""
    stream = {"StreamEnabled": True, "StreamViewType": view_type}
    server.endpoint.call(
        "UpdateTable", orjson.dumps({"TableName": table, "StreamSpecification": stream}).decode()
    )
    recovery = {"TableName": table, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    try:
        server.endpoint.call("UpdateContinuousBackups", orjson.dumps(recovery).decode())
    except CallFailed:
        return f"stream ({view_type})"
    return f"stream ({view_type}) and point-in-time recovery"


def compare(flags: argparse.Namespace, generator: Generator, folder: Path) -> list[Comparison]:
    """Start both servers, switch the log of one on, and let them take turns."""
    chosen = workloads.chosen(list(flags.workloads))
    comparisons = [Comparison(workload.name, workload.title) for workload in chosen]
    prefix = ("taskset", "-c", "0") if flags.pin else ()
    with contextlib.ExitStack() as stack:
        contestants: dict[Side, Contestant] = {}
        servers: dict[Side, Running] = {}
        for side in ratios.SIDES:
            server = stack.enter_context(running(served(side, flags.tree), ab.SCRATCH, free_port(), prefix))
            (folder / side).mkdir()
            servers[side] = server
            contestants[side] = Contestant(side, server, generator, flags, folder / side)
        for workload in chosen:
            for contestant in contestants.values():
                contestant.prepare(workload)
        for table in sorted({workload.table for workload in chosen}):
            ab.say(f"{table}: {switch_on(servers['after'], table, flags.view_type)}")
        for number in range(flags.rounds):
            for workload, comparison in zip(chosen, comparisons, strict=True):
                ab.play(number, workload, comparison, contestants, flags.seconds)
    return comparisons


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the ratios; the exit status says whether they are high enough."""
    flags = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers are stopped on the way out
    generator = best_generator(("taskset", "-c", "1") if flags.pin else ())
    ab.SCRATCH.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="change-log-", dir=ab.SCRATCH) as folder:
        comparisons = compare(flags, generator, Path(folder))
    print(ratios.markdown(comparisons))
    slower = [] if flags.at_least is None else ratios.below(comparisons, flags.at_least)
    if slower:
        ab.say(f"below {flags.at_least}: {', '.join(slower)}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
