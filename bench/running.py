"""A system while it runs: started, waited for, measured at rest, and stopped."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from systems import Place, System

from hashrange_bench.endpoint import CallFailed, Endpoint
from hashrange_bench.process import Meter

_START_SECONDS_MAX = 60
_STOP_SECONDS_MAX = 15
_IDLE_SECONDS = 1.0


class NotStarted(Exception):
    """A system did not come up; the message says what it said."""


@dataclass(frozen=True, slots=True)
class Running:
    endpoint: Endpoint
    process: subprocess.Popen[bytes]
    start_seconds: float

    @property
    def meter(self) -> Meter:
        return Meter(self.process.pid)


def free_port() -> int:
    """Find a port that nobody listens on; all systems get the same, one after the other."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(
    system: System,
    tools: Path,
    port: int,
    prefix: Sequence[str] = (),
    *,
    stopped: Callable[[Path], None] = lambda _: None,
) -> Iterator[Running]:
    """Start a system with a data folder of its own; stop it, show the folder, and take it away."""
    (tools / "data").mkdir(parents=True, exist_ok=True)
    data = Path(tempfile.mkdtemp(prefix=f"{system.name}-", dir=tools / "data"))
    place = Place(tools, data, port)
    log = data / "output.log"
    started = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*prefix, *system.command(place)],
            cwd=system.folder(place),
            env={**os.environ, **system.environment(place)},
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        endpoint = system.endpoint(place)
        _wait(endpoint, process, log)
        yield Running(endpoint, process, time.perf_counter() - started)
    finally:
        _stop(process)
        stopped(data)
        shutil.rmtree(data, ignore_errors=True)


def cold_start(system: System, tools: Path, port: int, times: int) -> tuple[float, int | None]:
    """Give the median seconds from start to first answer, and the memory in use a second later."""
    seconds, memory = [], None
    for _ in range(times):
        with running(system, tools, port) as found:
            seconds.append(found.start_seconds)
            time.sleep(_IDLE_SECONDS)
            memory = found.meter.memory_bytes()
    return statistics.median(seconds), memory


def _wait(endpoint: Endpoint, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS_MAX
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            endpoint.call("ListTables", "{}", timeout_seconds=5)
        except (OSError, http.client.HTTPException, CallFailed):
            time.sleep(0.005)
        else:
            return
    words = log.read_text("utf-8", "replace").strip().splitlines() or ["it said nothing"]
    raise NotStarted(words[-1][:200])


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End the process and what it has started: they are a group of their own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_SECONDS_MAX)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(_STOP_SECONDS_MAX)
