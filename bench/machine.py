"""The machine that figures come from, in the words a reader needs to judge them."""

import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path
from zlib import crc32


def describe(folder: Path) -> dict[str, str]:
    """Describe processor, memory, system, and how long the disk under this folder takes to sync."""
    return {
        "processor": _first("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": f"{_distribution()}, Linux {platform.release()}"
        if platform.system() == "Linux"
        else platform.platform(),
        "Python": _python(),
        "fsync of 4 KB": f"{_fsync_ms(folder):.2f} ms (median of 100)",
        "load before": f"{os.getloadavg()[0]:.2f}",
    }


def pace(seconds: float = 1.0) -> float:
    """How often a second the machine does a fixed piece of work: before and after others, to see it slow down."""
    block = bytes(1024 * 1024)
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        crc32(block)
        sorted(range(2000), key=lambda number: number * 7919 % 2003)
        count += 1
    return count / seconds


def _python() -> str:
    """The version, and whose build: distributions compile theirs with a profile, which is worth some per cent."""
    is_distributions = sys.base_prefix == "/usr"
    return f"{platform.python_version()}{', as the distribution builds it' if is_distributions else ''}"


def _first(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)


def _memory() -> str:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{total / 2**30:.0f} GB"


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return "Linux"


def _fsync_ms(folder: Path) -> float:
    times = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(100):
            file.write(b"x" * 4096)
            file.flush()
            started = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e3
