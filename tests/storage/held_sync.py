"""A disk that takes as long as a test says."""

from collections.abc import Callable

import pytest

from hashrange.storage.sqlite.background_sync import BackgroundSync


class HeldSync:
    """Syncs that begin when the test says so; `code` is what the disk says then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_held = False
        self.code = 0
        self._held: list[Callable[[], None]] = []
        begin, wait = BackgroundSync.begin, BackgroundSync.wait

        def held_begin(sync: BackgroundSync) -> None:
            if not self.is_held:
                begin(sync)
                return
            last = sync._last
            sync._last += 1

            def begin_now() -> None:
                sync._last = last
                begin(sync)

            self._held.append(begin_now)

        def changed_wait(sync: BackgroundSync, number: int) -> tuple[int, float]:
            code, seconds = wait(sync, number)
            return self.code or code, seconds

        monkeypatch.setattr(BackgroundSync, "begin", held_begin)
        monkeypatch.setattr(BackgroundSync, "wait", changed_wait)

    def release(self) -> None:
        self.is_held = False
        held, self._held = self._held, []
        for begin in held:
            begin()
