"""A progress bar in a terminal."""

import sys
from typing import TextIO

import msgspec

_WIDTH = 30


class Progress(msgspec.Struct, frozen=True):
    """How far something is. The total is the service's estimate, which may be hours old, so it can be overtaken."""

    done: int
    total: int

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total > 0 else 1.0


class ProgressBar:
    """Draws over its own line: `copy [#########---------------------]  30% 300/1000`."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label, self._stream = label, stream or sys.stderr

    def __call__(self, progress: Progress) -> None:
        filled = int(_WIDTH * progress.share)
        bar = "#" * filled + "-" * (_WIDTH - filled)
        counts = f"{progress.done}/{max(progress.total, progress.done)}"
        self._stream.write(f"\r{self._label} [{bar}] {progress.share:4.0%} {counts}")
        self._stream.flush()
