"""For how long can one request hold up the other clients?

    PYTHONPATH=tests python bench/stalls.py [--workers 2] [--in-memory] [--clients 1] [--rounds 3] [--only TEXT]

A server is started, and a process beside it reads one small item over and over. Meanwhile every request in
`stall_shapes.py` is sent, and the longest that the reader had to wait is noted: by the clock, and in the processor time
that the server took meanwhile. On a machine that nobody else uses the two are about the same. On others the clock says
how busy they are (the column "idle" is the longest wait in as much time without the request), and only the processor
time can be held against the promise. The exit status is 1 if a shape is beyond 100 ms of both, in the best of several
rounds, or if its answer is the server's own fault.
"""

import argparse
import http.client
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import orjson
import stall_jobs
import stall_lists
import stall_metrics
import stall_services
import stall_shapes
import stall_values
from stall_shapes import TABLE, WATCHED, Shape, rows, schema

from hashrange_bench.process import Meter
from serving import AUTHORIZATION, serving

SHAPES = (
    *stall_shapes.SHAPES,
    *stall_lists.SHAPES,
    *stall_values.SHAPES,
    *stall_services.SHAPES,
    *stall_metrics.SHAPES,
    *stall_jobs.SHAPES,
)
PROMISED_MS = 100.0
_ANSWER_SECONDS_MAX = 300
_QUIET_SECONDS = 0.3
_POLL_SECONDS = 0.05
_IDLE_SECONDS_MAX = 3.0
_MIB = 1024 * 1024


@dataclass
class Stall:
    """What one shape did: its answer and how long that took, the reader's longest wait, and the memory it took."""

    answer: str
    seconds: float
    worst_ms: float
    worst_cpu_ms: float  # the most that the server computed during a wait
    idle_ms: float  # the longest wait in as much time without the request
    memory_mib: float


class Client:
    """One connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_SECONDS_MAX)

    def call(self, operation: str, body: bytes, *, gzipped: bool = False) -> tuple[int, bytes]:
        """Ask for an operation of DynamoDB, of the service in front of a dot, or for a page by its path."""
        if operation.startswith("/"):
            self._connection.request("GET", operation)
            return self._answer()
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": operation if "." in operation else f"DynamoDB_20120810.{operation}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": AUTHORIZATION,
        }
        if gzipped:
            headers["Content-Encoding"] = "gzip"
        try:
            self._connection.request("POST", "/", body, headers)
        except BrokenPipeError:  # the server closes connections that have been idle for long
            self._connection.close()
            self._connection.request("POST", "/", body, headers)
        return self._answer()

    def _answer(self) -> tuple[int, bytes]:
        response = self._connection.getresponse()
        return response.status, response.read()


def cpu_seconds(pids: list[int]) -> float:
    """Processor time of other processes so far; clock_getcpuclockid(3) has the formula."""
    return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)


def watch(port: int, pids: list[int], orders: Connection) -> None:
    """Read one item over and over; told to report, give the longest waits since the last report, in seconds."""
    client = Client(port)
    body = orjson.dumps({"TableName": TABLE, "Key": WATCHED})
    worst = worst_cpu = 0.0
    while True:
        began, began_cpu = time.perf_counter(), cpu_seconds(pids)
        status, _ = client.call("GetItem", body)
        worst = max(worst, time.perf_counter() - began)
        worst_cpu = max(worst_cpu, cpu_seconds(pids) - began_cpu)
        if status != 200:
            raise SystemExit(f"GetItem: {status}")
        if orders.poll():
            if orders.recv() == "stop":
                return
            orders.send((worst * 1000, worst_cpu * 1000))
            worst = worst_cpu = 0.0
        time.sleep(0.001)


class Watcher:
    """The reader, in a process of its own so that nothing here holds it up."""

    def __init__(self, port: int, pids: list[int]) -> None:
        self._orders, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(
            target=watch, args=(port, pids, theirs), daemon=True
        )
        self._process.start()
        self.worst_ms()

    def worst_ms(self) -> tuple[float, float]:
        """The longest wait since the last call, by the clock and in the server's processor time."""
        self._orders.send("report")
        worst: tuple[float, float] = self._orders.recv()
        return worst

    def stop(self) -> None:
        self._orders.send("stop")
        self._process.join(10)


def fill(port: int) -> None:
    """Make the tables and their items."""
    client = Client(port)
    for definition in (schema(), stall_values.indexed_schema()):
        status, answer = client.call("CreateTable", orjson.dumps(definition))
        if status != 200:
            raise SystemExit(f"CreateTable: {answer.decode()}")
    for row in (*rows(), stall_values.holders()):
        status, answer = client.call("PutItem", row)
        if status != 200:
            raise SystemExit(f"PutItem: {answer[:300].decode()}")
    stall_services.STREAM.fill(client.call)
    stall_metrics.fill(client.call)
    stall_jobs.JOBS.fill(client.call)


def outcome(status: int, body: bytes) -> str:
    """An answer in a few words."""
    if status == 200:
        return f"200, {len(body):,} bytes"
    try:
        kind = str(json.loads(body)["__type"]).rpartition("#")[2]
    except (ValueError, KeyError, TypeError):
        kind = body[:40].decode("latin-1")
    return f"{status} {kind}"


def tried(shape: Shape, port: int, watcher: Watcher, meter: Meter, clients: int) -> Stall:
    """Send one shape, from several clients at a time, and look what it does to the reader."""
    sent = shape.sent()
    connections = [Client(port) for _ in range(clients)]
    meter.settle()
    meter.forget_peak()
    before = meter.memory_bytes() or 0
    watcher.worst_ms()
    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        answers = list(
            pool.map(lambda client: client.call(shape.operation, sent, gzipped=shape.gzipped), connections)
        )
    if shape.is_over is not None and answers[0][0] == 200:
        wait_for(shape.is_over)
    seconds = time.perf_counter() - began
    time.sleep(_QUIET_SECONDS)  # what is cleared away afterwards counts, too
    worst, worst_cpu = watcher.worst_ms()
    memory = ((meter.peak_memory_bytes() or 0) - before) / _MIB
    time.sleep(min(seconds + _QUIET_SECONDS, _IDLE_SECONDS_MAX))
    idle, _ = watcher.worst_ms()
    return Stall(outcome(*answers[0]), seconds, worst, worst_cpu, idle, memory)


def wait_for(is_over: Callable[[], bool]) -> None:
    """Wait for work that goes on after its request was answered."""
    deadline = time.monotonic() + _ANSWER_SECONDS_MAX
    while not is_over():
        if time.monotonic() > deadline:
            raise SystemExit("the work of a request has not ended")
        time.sleep(_POLL_SECONDS)


def best(first: Stall, second: Stall) -> Stall:
    """Of two rounds, the one that was disturbed less."""
    return min(first, second, key=wait_ms)


def wait_ms(stall: Stall) -> float:
    """How long a reader would wait on a machine that nobody else uses."""
    return min(stall.worst_ms, stall.worst_cpu_ms)


def line(shape: Shape, stall: Stall, *, markdown: bool) -> str:
    cells = (
        f"{shape.name:44}",
        f"{stall.answer:34}",
        f"{stall.seconds * 1000:9.0f}",
        f"{stall.worst_ms:9.1f}",
        f"{stall.worst_cpu_ms:9.1f}",
        f"{stall.idle_ms:9.1f}",
        f"{stall.memory_mib:7.0f}",
    )
    return "| " + " | ".join(cells) + " |" if markdown else "  ".join(cells)


def parsed() -> argparse.Namespace:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--workers", type=int, default=1)
    flags.add_argument("--in-memory", action="store_true")
    flags.add_argument("--clients", type=int, default=1, help="that send a shape at the same time")
    flags.add_argument("--rounds", type=int, default=3)
    flags.add_argument("--only", default="", help="shapes whose name has this text")
    flags.add_argument("--markdown", action="store_true")
    return flags.parse_args()


def options(flags: argparse.Namespace, folder: str) -> list[str]:
    place = ["--in-memory"] if flags.in_memory else ["--data-dir", f"{folder}/data"]
    workers = ["--workers", str(flags.workers)] if flags.workers > 1 else []
    buckets = Path(folder, "buckets")
    (buckets / stall_services.BUCKET).mkdir(parents=True)
    return [*place, *workers, "--s3", str(buckets), "--transition-ms", "0"]


def measured(flags: argparse.Namespace, port: int, pid: int) -> dict[str, Stall]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    watcher, meter = Watcher(port, [pid, *map(int, children)]), Meter(pid)
    heads = (
        f"{'request':44}",
        f"{'answer':34}",
        f"{'ms':>9}",
        f"{'GetItem':>9}",
        f"{'CPU':>9}",
        f"{'idle':>9}",
        f"{'MiB':>7}",
    )
    print("  ".join(heads), flush=True)
    stalls: dict[str, Stall] = {}
    for shape in SHAPES:
        if flags.only not in shape.name:
            continue
        stall = tried(shape, port, watcher, meter, flags.clients)
        for _ in range(flags.rounds - 1):
            if wait_ms(stall) <= PROMISED_MS / 2:
                break
            stall = best(stall, tried(shape, port, watcher, meter, flags.clients))
        stalls[shape.name] = stall
        print(line(shape, stall, markdown=flags.markdown), flush=True)
    watcher.stop()
    return stalls


def main() -> int:
    flags: Any = parsed()
    with tempfile.TemporaryDirectory() as folder, serving(*options(flags, folder)) as server:
        fill(server.port)
        stalls = measured(flags, server.port, server.process.pid)
        failed = [line for line in server.log_text().splitlines() if "Traceback" in line]
    worst = max(stalls, key=lambda name: wait_ms(stalls[name]))
    beyond = [name for name, stall in stalls.items() if wait_ms(stall) > PROMISED_MS]
    broken = [name for name, stall in stalls.items() if stall.answer.startswith("5")]
    print(
        f"{len(stalls)} shapes; longest wait {wait_ms(stalls[worst]):.1f} ms ({worst}); promised {PROMISED_MS:.0f} ms"
    )
    for name in beyond:
        print(f"beyond the promise: {name}")
    for name in broken:
        print(f"the server's own fault: {name}")
    if failed:
        print(f"{len(failed)} tracebacks in the log")
    return 1 if beyond or broken or failed else 0


if __name__ == "__main__":
    sys.exit(main())
