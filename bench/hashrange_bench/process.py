"""What a server's processes use: processor time and memory, as Linux counts them in /proc."""

import contextlib
import os
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_SETTLE_SECONDS_MAX = 30
_SETTLE_STEP_SECONDS = 0.1


class Meter:
    """Reads a process and all its descendants; where there is no /proc it reads None."""

    def __init__(self, pid: int | None) -> None:
        self._pid = pid

    def cpu_seconds(self) -> float | None:
        """Processor time so far, that of ended children included."""
        ticks = [_cpu_ticks(pid) for pid in self._tree()]
        return sum(ticks) / _TICKS if ticks else None

    def settle(self) -> None:
        """Wait until the processes are done with what earlier load has left to them."""
        deadline = time.monotonic() + _SETTLE_SECONDS_MAX
        while time.monotonic() < deadline and (before := self.cpu_seconds()) is not None:
            time.sleep(_SETTLE_STEP_SECONDS)
            after = self.cpu_seconds()
            if after is None or after - before < _SETTLE_STEP_SECONDS / 2:
                return

    def memory_bytes(self) -> int | None:
        """Memory in use now."""
        return self._status("VmRSS:")

    def forget_peak(self) -> None:
        """Let the peak start anew from what is in use now, where the kernel allows it."""
        for pid in self._tree():
            with contextlib.suppress(OSError):
                (_PROC / str(pid) / "clear_refs").write_text("5", "ascii")  # proc(5): resets VmHWM

    def peak_memory_bytes(self) -> int | None:
        """The most memory in use at any time since then."""
        return self._status("VmHWM:")

    def _status(self, name: str) -> int | None:
        sizes = [size for pid in self._tree() if (size := _status_bytes(pid, name)) is not None]
        return sum(sizes) if sizes else None

    def _tree(self) -> list[int]:
        tree = [self._pid] if self._pid is not None and (_PROC / str(self._pid)).exists() else []
        for pid in tree:
            tree += _children(pid)
        return tree


def _children(pid: int) -> list[int]:
    pids: list[int] = []
    with contextlib.suppress(OSError):  # it has ended meanwhile
        for thread in (_PROC / str(pid) / "task").iterdir():
            pids += map(int, (thread / "children").read_text("ascii").split())
    return pids


def _cpu_ticks(pid: int) -> int:
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return 0
    # The name, in parentheses, may hold anything; utime, stime, cutime and cstime are fields 14 to 17.
    return sum(map(int, text.rpartition(")")[2].split()[11:15]))


def _status_bytes(pid: int, name: str) -> int | None:
    try:
        lines = (_PROC / str(pid) / "status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), None)
