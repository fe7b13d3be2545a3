"""Where rows are so large that the event loop leaves them to threads: copying them would hold up its clients."""

import time
from collections.abc import Iterable

LARGE_BYTES = 32 * 1024
_PREFIX_BYTES = 7  # a table or an index
_SECONDS = 60.0
_KEPT_MAX = 1024


class LargeRows:
    """Remembers for a minute which tables have had large rows; used by one thread."""

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until: dict[bytes, float] = {}

    def learn(self, key: bytes, row_bytes: int) -> None:
        """Note how large a row is."""
        if row_bytes > LARGE_BYTES:
            if len(self._until) >= _KEPT_MAX:
                self._until.clear()
            self._until[key[:_PREFIX_BYTES]] = time.monotonic() + _SECONDS

    def covers(self, keys: Iterable[bytes]) -> bool:
        """Whether one of these keys is in such a table."""
        until = self._until
        if not until:
            return False
        for key in keys:
            prefix = key[:_PREFIX_BYTES]
            if prefix in until:
                if time.monotonic() < until[prefix]:
                    return True
                del until[prefix]
        return False
