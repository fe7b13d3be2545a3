"""How much of a range to read before anyone has said how much is wanted: less where rows are large."""

ROWS_MAX = 25
_ROWS_MIN = 4
_BYTES = 2 * 1024 * 1024  # a page of an answer has one megabyte
_PREFIX_BYTES = 7  # ranges that begin alike have rows alike
_KEPT_MAX = 1024


class ReadAhead:
    """Remembers what rows weighed lately; used by one thread."""

    __slots__ = ("_row_bytes",)

    def __init__(self) -> None:
        self._row_bytes: dict[bytes, int] = {}

    def rows(self, start: bytes) -> int:
        """How many rows to read of a range that begins here."""
        size = self._row_bytes.get(start[:_PREFIX_BYTES])
        return ROWS_MAX if not size else max(_ROWS_MIN, min(ROWS_MAX, _BYTES // size))

    def learn(self, start: bytes, row_bytes: int) -> None:
        """Take note of a row that was found there."""
        if len(self._row_bytes) >= _KEPT_MAX:
            self._row_bytes.clear()
        before = self._row_bytes.get(start[:_PREFIX_BYTES], row_bytes)
        self._row_bytes[start[:_PREFIX_BYTES]] = (3 * before + row_bytes) // 4
