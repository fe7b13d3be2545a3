"""Load: requests from a file over so many connections for so many seconds, and what came of it."""

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hashrange_bench.endpoint import Endpoint

_PACKAGES = Path(__file__).resolve().parent.parent
_SCRIPT = Path(__file__).with_name("wrk.lua")
_RESULT = re.compile(r"^RESULT (.*)$", re.MULTILINE)
_ANSWER_SECONDS_MAX = 60
_GRACE_SECONDS = 90


class LoadFailed(Exception):
    """The load generator itself did not work; the message says why."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be sent: where to, what, from which request on, and for how long."""

    endpoint: Endpoint
    requests: Path
    start: int
    connections: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    requests: int
    seconds: float
    refused: int  # answered with an error
    broken: int  # not answered at all
    p50_ms: float
    p99_ms: float
    generator_cpu_seconds: float

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds if self.seconds else 0.0


class Generator(Protocol):
    """Something that makes load."""

    name: str

    def run(self, order: Order) -> Outcome:
        """Send what was ordered."""


class _Command:
    """A generator that is a command; its last words are `RESULT name=number …`."""

    name = ""

    def __init__(self, prefix: Sequence[str] = ()) -> None:
        self._prefix = prefix  # taskset, where the generator has a core of its own

    def run(self, order: Order) -> Outcome:
        command = [*self._prefix, *self.command(order)]
        before = _children_cpu_seconds()
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=order.seconds + _GRACE_SECONDS,
                # The generator is this very package, whichever other one the interpreter has installed.
                env={**os.environ, "PYTHONPATH": str(_PACKAGES)},
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise LoadFailed(f"{self.name} did not run: {problem}") from None
        result = _RESULT.search(done.stdout)
        if result is None:
            words = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
            raise LoadFailed(f"{self.name}: {words[-1]}")
        return outcome(result[1], _children_cpu_seconds() - before)

    def command(self, order: Order) -> list[str]:
        raise NotImplementedError


class Wrk(_Command):
    """wrk, with one thread."""

    name = "wrk"

    def command(self, order: Order) -> list[str]:
        return [
            *("wrk", "--threads", "1", "--connections", str(order.connections)),
            # wrk takes whole seconds only.
            *("--duration", f"{max(1, round(order.seconds))}s", "--timeout", f"{_ANSWER_SECONDS_MAX}s"),
            *("--script", str(_SCRIPT), order.endpoint.url, "--", str(order.requests), str(order.start)),
        ]


class PythonLoad(_Command):
    """Our own generator, for where there is no wrk: slower, so that it may hold back a fast server."""

    name = "python"

    def command(self, order: Order) -> list[str]:
        return [
            *(sys.executable, "-m", "hashrange_bench.python_load", order.endpoint.url),
            *(str(order.requests), str(order.start), str(order.connections), str(order.seconds)),
        ]


def outcome(text: str, cpu_seconds: float) -> Outcome:
    """Read a generator's last words."""
    numbers = {name: int(value) for name, _, value in (pair.partition("=") for pair in text.split())}
    return Outcome(
        requests=numbers["requests"],
        seconds=numbers["microseconds"] / 1e6,
        refused=numbers["refused"],
        broken=numbers["broken"],
        p50_ms=numbers["p50"] / 1e3,
        p99_ms=numbers["p99"] / 1e3,
        generator_cpu_seconds=cpu_seconds,
    )


def best_generator(prefix: Sequence[str] = ()) -> Generator:
    """Give wrk where it is installed, else our own."""
    return Wrk(prefix) if shutil.which("wrk") else PythonLoad(prefix)


def _children_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
