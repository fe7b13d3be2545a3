"""Holds processes to a share of a core, so that a small machine shows what several of them would do on a larger one."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOTS = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))  # version 1 of control groups, version 2
_PERIOD_MICROSECONDS = 10_000  # short, or a server would stand still for tenths of a second
_EMPTY_SECONDS_MAX = 5


@contextmanager
def quota(name: str, share: float) -> Iterator[Path]:
    """A control group whose processes get this share of a core; gone when they are."""
    folder = next((root for root in _ROOTS if root.is_dir()), _ROOTS[0]) / name
    try:
        folder.mkdir()
    except OSError as error:
        raise SystemExit(f"servers cannot be held to a share of a core here: {error}") from error
    try:
        _limit(folder, int(share * _PERIOD_MICROSECONDS))
        yield folder
    finally:
        _remove(folder)


def _limit(folder: Path, microseconds: int) -> None:
    try:
        if (folder / "cpu.max").exists():
            (folder / "cpu.max").write_text(f"{microseconds} {_PERIOD_MICROSECONDS}")
        else:
            (folder / "cpu.cfs_period_us").write_text(str(_PERIOD_MICROSECONDS))
            (folder / "cpu.cfs_quota_us").write_text(str(microseconds))
    except OSError as error:
        raise SystemExit(f"this machine's control groups do not limit processor time: {error}") from error


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + _EMPTY_SECONDS_MAX
    while folder.exists() and time.monotonic() < deadline:
        with suppress(OSError):  # a process that has ended is in it for a moment longer
            folder.rmdir()
            return
        time.sleep(0.05)
