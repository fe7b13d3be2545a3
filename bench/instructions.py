"""Instructions per request of eleven hot paths, held against those that are kept: a gate that no busy machine moves.

    make instructions                                   # fails if a path differs by more than 5 % from the file
    make instructions ARGS="--only get scan"            # these paths only
    make instructions ARGS="--base ../released"         # against another tree, counted in the same run
    make instructions ARGS="--update"                   # keep what was counted; the commit says why it changed

One server, durable, runs under valgrind's callgrind and answers requests that are handed to its connections, as
bench/in_process.py does it: no sockets, no load generator. All threads are counted. Each path gets a batch as a
warm-up, then others, of which the smallest counts. What happens by the clock (jobs, checkpoints) is left out:
time passes a thousand times slower.
"""

import argparse
import asyncio
import gc
import itertools
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import callgrind
import msgspec
from callgrind import Callgrind, Uncountable
from in_process import SCRATCH, Clients, as_request
from slow_time import SlowLoop, slow_down

from hashrange_bench import report, sample, workloads

ROOT = Path(__file__).resolve().parent.parent
KEPT = Path(__file__).with_name("instructions.json")
CHANGE_MAX = 0.05
BATCHES = 5
_WORKLOADS = {workload.name: workload for workload in workloads.WORKLOADS}
_ITEMS = 2_700  # somewhat more than a page of a Scan


@dataclass(frozen=True, slots=True)
class HotPath:
    """A workload of the benchmark, and how many requests of it make a batch."""

    name: str
    batch: int


PATHS = (
    HotPath("get", 96),
    HotPath("put-new", 64),
    HotPath("put-2-gsi", 48),
    HotPath("update", 64),
    HotPath("delete", 64),
    HotPath("query-100", 32),
    HotPath("query-filter", 16),
    HotPath("query-projection", 16),
    HotPath("scan", 4),
    HotPath("batch-write-25", 16),
    HotPath("transact-write-2", 48),
)


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Instructions per request by path, and the builds they were counted with: others have other counts."""

    builds: str
    instructions: dict[str, int]


def builds() -> str:
    """What the counts depend on besides the code."""
    import apsw  # noqa: PLC0415 - as the server has it

    return f"Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}, {callgrind.version()}"


async def serve(directory: Path, names: Sequence[str]) -> None:
    """Answer every path's requests in this process, with a mark at both ends of each batch."""
    slow_down()
    from hashrange.config import Settings  # noqa: PLC0415 - of the tree that was asked for
    from hashrange.server import Server  # noqa: PLC0415
    from hashrange.wire.connection import Connection  # noqa: PLC0415

    # The writer thread gets its turn when the event loop waits, not whenever some milliseconds are over. So the same
    # writes share a commit in every run.
    sys.setswitchinterval(60)
    server = Server(Settings(data_dir=directory, port=0, transition_ms=0))
    await server.start()
    loop, shared = asyncio.get_running_loop(), server._listener._shared  # type: ignore[union-attr] # noqa: SLF001
    clients = Clients(lambda: Connection(shared, loop))
    await _fill(clients)
    gc.collect()
    gc.disable()  # as a server has it: see collector.py
    valgrind = Callgrind()
    valgrind.begin()
    for path in _chosen(names):
        await _answer(clients, path, valgrind)
    await server.stop()


async def _fill(clients: Clients) -> None:
    for table in (sample.PEOPLE, sample.ORDERS, sample.PLAIN, sample.INDEXED):
        await clients.call("CreateTable", sample.TABLES[table].create(on_demand=True))
    for table in (sample.PEOPLE, sample.ORDERS):
        await _put(clients, table, _ITEMS)


async def _put(clients: Clients, table: str, count: int) -> None:
    for operation, body in sample.batches(table, 0, count):
        await clients.call(operation, body)


async def _answer(clients: Clients, path: HotPath, valgrind: Callgrind) -> None:
    count = path.batch * (1 + BATCHES)
    if path.name == "delete":
        await _put(clients, sample.PLAIN, count)
    workload = _WORKLOADS[path.name]
    requests = [as_request(*request) for request in itertools.islice(workload.requests(_ITEMS), count)]
    await clients.send(requests[: path.batch])
    for start in range(path.batch, count, path.batch):
        batch = requests[start : start + path.batch]
        valgrind.mark()
        await clients.send(batch)
    valgrind.mark()
    await clients.call(*next(workload.requests(_ITEMS)))  # a refusal would be cheap


def counted(tree: Path, names: Sequence[str]) -> dict[str, int]:
    """Count a tree's instructions per request."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(tree.resolve() / "src"), "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory(prefix="instructions-", dir=SCRATCH) as scratch:
        command = [sys.executable, __file__, "--serve", f"{scratch}/data", "--only", *names]
        return per_request(names, callgrind.counts(command, environment, Path(scratch)))


def per_request(names: Sequence[str], totals: Sequence[int]) -> dict[str, int]:
    """Divide the smallest batch of every path by its requests; what is before a path's first mark is not of it."""
    if len(totals) != len(names) * (1 + BATCHES):
        raise Uncountable(f"{len(totals)} marks for {len(names)} paths: valgrind did not hear them")
    left = iter(totals)
    least = {}
    for path in _chosen(names):
        _before, *batches = itertools.islice(left, 1 + BATCHES)
        least[path.name] = round(min(batches) / path.batch)
    return least


def _chosen(names: Sequence[str]) -> Iterator[HotPath]:
    return (path for path in PATHS if path.name in names)


def changed(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """The paths that take over 5 % more or less than they did, or did not exist."""
    return [
        name
        for name, count in after.items()
        if name not in before or abs(count - before[name]) > CHANGE_MAX * before[name]
    ]


def table(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Both counts of every path, and the change."""
    rows = (
        (
            _WORKLOADS[name].title,
            f"{before[name]:,}" if name in before else report.MISSING,
            f"{count:,}",
            f"{count / before[name] - 1:+.1%}" if name in before else report.MISSING,
        )
        for name, count in after.items()
    )
    return report.table(("instructions per request", "before", "now", "change"), rows)


def judge(before: Mapping[str, int], after: Mapping[str, int]) -> int:
    """Print what was counted; give 1 if something changed that the file does not tell."""
    print(table(before, after))
    names = changed(before, after)
    if names:
        print(f"\nMore than {CHANGE_MAX:.0%} away: {', '.join(names)}.")
        print("If that is meant: make instructions ARGS=--update, and the commit says what changed it.")
    return 1 if names else 0


def keep(before: Counts, after: Counts) -> None:
    """Write the file; a path that was not counted keeps its count unless the builds are others."""
    old = before.instructions if before.builds == after.builds else {}
    merged = old | after.instructions
    instructions = {path.name: merged[path.name] for path in PATHS if path.name in merged}
    whole = msgspec.json.encode(Counts(builds=after.builds, instructions=instructions))
    KEPT.write_bytes(msgspec.json.format(whole, indent=2) + b"\n")


def parser() -> argparse.ArgumentParser:
    """The flags."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [path.name for path in PATHS]
    flags.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="PATH", help=", ".join(names)
    )
    flags.add_argument("--base", type=Path, metavar="TREE", help="compare with this tree, not with the file")
    flags.add_argument("--update", action="store_true", help="write what was counted into the file")
    flags.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    return flags


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, compare, keep; 1 if a path changed, 2 if nothing can be said."""
    flags = parser().parse_args(arguments)
    if flags.serve is not None:
        with asyncio.Runner(loop_factory=SlowLoop) as runner:
            runner.run(serve(flags.serve, flags.only))
        return 0
    try:
        return _compare(flags)
    except Uncountable as problem:
        print(f"instructions.py: {problem}", file=sys.stderr)
        return 2


def _compare(flags: argparse.Namespace) -> int:
    kept = msgspec.json.decode(KEPT.read_bytes(), type=Counts)
    mine = builds()
    if kept.builds != mine and not flags.update and flags.base is None:
        raise Uncountable(
            f"the file is of {kept.builds}, this is {mine}: count the tree before the change too, with --base"
        )
    before = kept.instructions if flags.base is None else counted(flags.base, flags.only)
    after = counted(ROOT, flags.only)
    status = judge(before, after)
    if flags.update:
        keep(kept, Counts(builds=mine, instructions=after))
        return 0
    return status


if __name__ == "__main__":
    sys.exit(main())
