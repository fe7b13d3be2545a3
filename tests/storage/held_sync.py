"""A disk that takes as long as a test says."""

from collections.abc import Callable

import pytest

from hashrange.storage.sqlite.background_sync import BackgroundSync, Ended, Rows


class HeldSync:
    """Syncs that begin when the test says so; `code` is what the disk says then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_held = False
        self.code = 0
        self._held: list[Callable[[], None]] = []
        begin, wait = BackgroundSync.begin, BackgroundSync.wait

        def held_begin(sync: BackgroundSync, rows: Rows | None = None) -> None:
            if not self.is_held:
                begin(sync, rows)
                return
            last = sync._last
            sync._last += 1

            def begin_now() -> None:
                sync._last = last
                begin(sync, rows)

            self._held.append(begin_now)

        def changed_wait(sync: BackgroundSync, number: int) -> Ended:
            ended = wait(sync, number)
            return ended._replace(code=self.code or ended.code)

        monkeypatch.setattr(BackgroundSync, "begin", held_begin)
        monkeypatch.setattr(BackgroundSync, "wait", changed_wait)

    def release(self) -> None:
        self.is_held = False
        held, self._held = self._held, []
        for begin in held:
            begin()
