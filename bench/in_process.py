"""What does a request cost between its bytes and its answer's? One process, no sockets, no load generator.

    python bench/in_process.py [--tree ../released --tree .] [--rounds 5] [--workloads get put]
    python bench/in_process.py --tree . --bytecodes          # the same figure on a busy machine, in seconds
    python bench/in_process.py --tree . --instructions       # likewise with valgrind, in minutes

Each tree's server runs in a process of its own, durable, in a directory of its own. The benchmark's requests are handed
to connections whose transport only notes that an answer came: as many of them in one turn of the event loop as there
are connections, as under load. The trees take turns; of the processor's times for 160 requests each the smallest
counts, because whatever disturbs a process can only make it slower. Bytecodes are those of the event loop's thread, so
that they say all about reads, and about writes only what is before the commit if the writer thread makes it.
Instructions are those of the whole process, in runs of two lengths, divided by the difference.
"""

import argparse
import asyncio
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType

from hashrange_bench import sample, workloads
from hashrange_bench.endpoint import Endpoint
from hashrange_bench.workloads import Workload

SCRATCH = Path(__file__).resolve().parent.parent / ".cache" / "bench"
DEFAULT = ("get", "put", "update", "query-10")
_TABLES = (sample.PEOPLE, sample.ORDERS, sample.PLAIN, sample.INDEXED)
_WORKLOADS = {workload.name: workload for workload in workloads.WORKLOADS if workload.table in _TABLES}
_ENDPOINT = Endpoint("http", "127.0.0.1", 8000)
_ITEMS = 1_000
_CONNECTIONS = 16
_ROOT_KEY = "HASHRANGE_ROOT_KEY"
_KEY = "HASHRANGE_BENCH_KEY"
_BATCH = 160  # requests of which one time is taken
_PREPARED = 2_000
LENGTHS = (640, 1_600)  # of two runs, whose difference is without start and end
VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
_INSTRUCTIONS = re.compile(r"I\s+refs:\s+([\d,]+)")


class _Transport(asyncio.Transport):
    """Takes answers and throws them away."""

    def __init__(self, protocol: asyncio.Protocol, answered: Callable[[], None]) -> None:
        super().__init__()
        self._protocol = protocol
        self._answered = answered
        self.answer = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.answer = bytes(data)
        self._answered()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def close(self) -> None:
        self._protocol.connection_lost(None)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False


class Clients:
    """Some connections to one server, each with one request at a time."""

    def __init__(self, connect: Callable[[], asyncio.Protocol]) -> None:
        self._connections = [connect() for _ in range(_CONNECTIONS)]
        self._transports = [_Transport(connection, self._count) for connection in self._connections]
        for connection, transport in zip(self._connections, self._transports, strict=True):
            connection.connection_made(transport)
        self._missing = 0
        self._complete = asyncio.Event()

    def _count(self) -> None:
        self._missing -= 1
        if not self._missing:
            self._complete.set()

    async def send(self, requests: Sequence[bytes]) -> float:
        """Send requests, as many at a time as there are connections; give the processor's seconds until the answers."""
        begun = time.process_time()
        for start in range(0, len(requests), _CONNECTIONS):
            turn = requests[start : start + _CONNECTIONS]
            self._missing = len(turn)
            self._complete.clear()
            for connection, request in zip(self._connections, turn, strict=False):
                connection.data_received(request)
            await self._complete.wait()
        return time.process_time() - begun

    async def call(self, operation: str, body: str) -> None:
        """Send one request, which has to succeed."""
        await self.send([as_request(operation, body)])
        if not self._transports[0].answer.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(self._transports[0].answer)


def as_request(operation: str, body: str) -> bytes:
    payload = body.encode()
    headers = _ENDPOINT.headers(operation, payload)
    headers["Content-Length"] = str(len(payload))
    lines = ["POST / HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode() + payload


class _Bytecodes:
    """Counts what the interpreter executes on this thread."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, frame: FrameType, event: str, _argument: object) -> "_Bytecodes":
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self.count += event == "opcode"
        return self


async def counted(sending: Awaitable[float]) -> float:
    bytecodes = _Bytecodes()
    sys.settrace(bytecodes)
    await sending
    sys.settrace(None)
    return bytecodes.count


async def _serve(directory: str, orders: Iterator[tuple[Workload, int, bool]]) -> None:
    """Run the server of this process; print the seconds or the bytecodes that each order takes."""
    from hashrange.config import Settings  # noqa: PLC0415 - of the tree that was asked for
    from hashrange.server import Server  # noqa: PLC0415
    from hashrange.wire.connection import Connection  # noqa: PLC0415

    server = Server(Settings(data_dir=Path(directory), port=0, root_key=os.environ.get(_ROOT_KEY, "")))
    await server.start()
    # What the listening socket would do.
    loop, shared = asyncio.get_running_loop(), server._listener._shared  # type: ignore[union-attr] # noqa: SLF001
    clients = Clients(lambda: Connection(shared, loop))
    for table in _TABLES:
        await clients.call("CreateTable", sample.TABLES[table].create(on_demand=True))
        await asyncio.sleep(0.3)
        if table in (sample.PEOPLE, sample.ORDERS):
            await _fill(clients, table, _ITEMS)
    requests: dict[str, Iterator[bytes]] = {}
    for workload, count, counts in orders:
        if workload.name not in requests:
            if workload.name == "delete":
                await _fill(clients, sample.PLAIN, _PREPARED)
            prepared = [
                as_request(*request) for request in itertools.islice(workload.requests(_ITEMS), _PREPARED)
            ]
            requests[workload.name] = itertools.cycle(prepared)
        sending = clients.send(list(itertools.islice(requests[workload.name], count)))
        print(await (counted(sending) if counts else sending), flush=True)
    await server.stop()


async def _fill(clients: Clients, table: str, count: int) -> None:
    for operation, body in sample.batches(table, 0, count):
        await clients.call(operation, body)


def _orders() -> Iterator[tuple[Workload, int, bool]]:
    """What the parent asks for, a line each: a workload, how many requests, whether to count bytecodes."""
    while line := sys.stdin.readline():
        name, count, measure = line.split()
        yield _WORKLOADS[name], int(count), measure == "bytecodes"


class _Child:
    """The server of one tree, which measures itself."""

    def __init__(
        self, tree: Path, directory: str, prefix: Sequence[str] = (), *, encrypted: bool = False
    ) -> None:
        self.tree = tree
        keys = {_ROOT_KEY: f"env:{_KEY}", _KEY: "00" * 32} if encrypted else {}
        self._process = subprocess.Popen(
            [*prefix, sys.executable, __file__, "--serve", directory],
            env={**os.environ, "PYTHONPATH": str(tree.resolve() / "src"), "PYTHONHASHSEED": "0", **keys},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if prefix else None,
            text=True,
        )

    def taken(self, workload: str, count: int, measure: str = "seconds") -> float:
        """Have it answer so many requests; give the seconds or the bytecodes they took."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the process has no pipes")
        self._process.stdin.write(f"{workload} {count} {measure}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def end(self) -> str:
        """Stop it; give what it wrote on standard error."""
        return self._process.communicate()[1] or ""


def _times(
    trees: Sequence[Path], names: Sequence[str], rounds: int, *, encrypted: bool
) -> dict[str, list[float]]:
    """The least microseconds per request, by workload and in the order of the trees."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        children = [_Child(tree, f"{scratch}/{at}") for at, tree in enumerate(trees)]
        if encrypted:
            children += [
                _Child(tree, f"{scratch}/encrypted-{at}", encrypted=True) for at, tree in enumerate(trees)
            ]
        least = {name: [float("inf")] * len(children) for name in names}
        for _, name in itertools.product(range(rounds), names):
            for at, child in enumerate(children):
                seconds = min(child.taken(name, _BATCH) for _ in range(20))
                least[name][at] = min(least[name][at], seconds / _BATCH * 1e6)
        for child in children:
            child.end()
    return least


def _bytecodes(tree: Path, name: str) -> float:
    """Bytecodes per request on the event loop's thread, once everything is warm."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
        child = _Child(tree, scratch)
        child.taken(name, _BATCH)
        # Once a second the server looks at its connections; the smallest count is one without that.
        count = min(child.taken(name, _BATCH, "bytecodes") for _ in range(5))
        child.end()
    return count / _BATCH


def refs(report: str) -> int:
    """The instructions that valgrind has counted."""
    found = _INSTRUCTIONS.search(report)
    if found is None:
        raise SystemExit("valgrind did not count")
    return int(found[1].replace(",", ""))


def _instructions(tree: Path, name: str) -> float:
    """Instructions per request, of all threads, counted by valgrind."""
    counted = []
    for count in LENGTHS:
        with tempfile.TemporaryDirectory(dir=SCRATCH) as scratch:
            child = _Child(tree, scratch, VALGRIND)
            child.taken(name, count)
            counted.append(refs(child.end()))
    return (counted[1] - counted[0]) / (LENGTHS[1] - LENGTHS[0])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tree", type=Path, action="append", help="the first is what others are compared with"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workloads", nargs="+", choices=list(_WORKLOADS), default=DEFAULT)
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions: minutes, not seconds"
    )
    parser.add_argument("--bytecodes", action="store_true", help="count bytecodes")
    parser.add_argument("--encrypted", action="store_true", help="time every tree with --root-key as well")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        import uvloop  # noqa: PLC0415

        uvloop.run(_serve(options.serve, _orders()))
        return
    SCRATCH.mkdir(parents=True, exist_ok=True)
    trees = options.tree or [Path(__file__).parents[1]]
    if options.bytecodes:
        least = {name: [_bytecodes(tree, name) for tree in trees] for name in options.workloads}
    elif options.instructions:
        least = {name: [_instructions(tree, name) for tree in trees] for name in options.workloads}
    else:
        least = _times(trees, options.workloads, options.rounds, encrypted=options.encrypted)
    unit = "bytecodes" if options.bytecodes else "instructions" if options.instructions else "µs"
    columns = [str(tree) for tree in trees]
    if options.encrypted:
        columns += [f"{tree}, encrypted" for tree in trees]
    print(f"| {unit} per request |", *(f"{column} |" for column in columns))
    print("|---|" + "---|" * len(columns))
    for name, figures in least.items():
        print(f"| {name} |", *(f"{figure:,.1f} ({figure / figures[0]:.3f}) |" for figure in figures))


if __name__ == "__main__":
    main()
