"""How many rows of a range to prefetch when the step has not said how many it takes: fewer where rows are large."""

ROWS_MAX = 25
_ROWS_MIN = 4
_BYTES = 2 * 1024 * 1024  # a page of an answer has one megabyte
_PREFIX_BYTES = 7  # ranges that begin alike have rows alike
_KEPT_MAX = 1024
JOINED_ROWS_MAX = 128
_JOINED_BYTES = 256 * 1024  # what others in the batch wait for


class ReadAhead:
    """Remembers how large rows were lately; used by one thread."""

    __slots__ = ("_row_bytes",)

    def __init__(self) -> None:
        self._row_bytes: dict[bytes, int] = {}

    def rows(self, start: bytes) -> int:
        """How many rows to read of a range that begins here."""
        size = self._row_bytes.get(start[:_PREFIX_BYTES])
        return ROWS_MAX if not size else max(_ROWS_MIN, min(ROWS_MAX, _BYTES // size))

    def joined_rows(self, start: bytes) -> int:
        """How many rows to read at once of an item collection whose whole page is wanted; 0 if too little is known."""
        size = self._row_bytes.get(start[:_PREFIX_BYTES])
        return 0 if not size else min(JOINED_ROWS_MAX, _JOINED_BYTES // size)

    def learn(self, start: bytes, row_bytes: int) -> None:
        """Record the size of a row of that range."""
        if len(self._row_bytes) >= _KEPT_MAX:
            self._row_bytes.clear()
        before = self._row_bytes.get(start[:_PREFIX_BYTES], row_bytes)
        self._row_bytes[start[:_PREFIX_BYTES]] = (3 * before + row_bytes) // 4
