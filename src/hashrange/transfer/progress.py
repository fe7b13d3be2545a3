"""Telling the person at the terminal how far it is: a bar there, a line now and then anywhere else."""

import threading
import time

from hashrange.terminal import tell

_BAR_SECONDS = 0.2
_LINE_SECONDS = 5.0
_BAR_CHARS = 30


class Progress:
    """Counts items and shows it, to whoever is there to see it."""

    def __init__(self, *, is_terminal: bool) -> None:
        self._is_terminal = is_terminal
        self._lock = threading.Lock()
        self._phase = ""
        self._total: int | None = None
        self._count = 0
        self._began = self._shown_at = time.monotonic()
        self._began_count = 0
        self._width = 0

    def begin(self, phase: str, *, count: int = 0, total: int | None = None) -> None:
        """Begin to count something else; `count` of it were done by an earlier run."""
        with self._lock:
            self._end_line()
            self._phase, self._count, self._total = phase, count, total or None
            self._began_count = count
            self._began = self._shown_at = time.monotonic()

    def add(self, count: int) -> None:
        """Count, and show it if that was some time ago."""
        with self._lock:
            self._count += count
            now = time.monotonic()
            if now - self._shown_at >= (_BAR_SECONDS if self._is_terminal else _LINE_SECONDS):
                self._shown_at = now
                self._show(now)

    def message(self, text: str) -> None:
        """Show a line of its own."""
        with self._lock:
            self._end_line()
            tell(text)

    def finish(self) -> None:
        """Show the last state."""
        with self._lock:
            if self._phase and self._is_terminal:
                self._show(time.monotonic())
            self._end_line()

    def _show(self, now: float) -> None:
        rate = (self._count - self._began_count) / max(now - self._began, 0.001)
        text = f"{self._phase} {self._count:,} items, {rate:,.0f}/s"
        if self._total is not None:
            # The total of a table is an estimate that is some hours old.
            share = min(self._count / self._total, 1.0)
            if self._is_terminal:
                bar = "#" * int(share * _BAR_CHARS)
                text = f"[{bar:.<{_BAR_CHARS}}] {share:4.0%} {text}"
            else:
                text += f", {share:.0%}"
            if rate > 0 and share < 1:
                text += f", {_duration((self._total - self._count) / rate)} left"
        if not self._is_terminal:
            tell(text)
            return
        tell("\r" + text.ljust(self._width), end="")
        self._width = len(text)

    def _end_line(self) -> None:
        if self._width:
            self._width = 0
            tell("")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
