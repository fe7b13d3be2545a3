"""Whether the write-ahead log on disk still has the frames that its index says it has.

SQLite does not look: it goes on behind the frames it knows of, and what was cut off before becomes a hole of zeros.
The index is described in https://sqlite.org/walformat.html#the_wal_index_file_format.
"""

import os
import struct
import sys
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from hashrange.storage.sqlite.log_file import FRAME_HEADER_BYTES, HEADER_BYTES
from hashrange.storage.sqlite.schema import PAGE_BYTES

FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
_SALTS_IN_HEADER = 16
_SALTS_IN_FRAME = 8
_SALT_BYTES = 8
# The number of the last frame, in the machine's own byte order, and both salts as they are in the log.
_index = struct.Struct(f"{'<' if sys.byteorder == 'little' else '>'}16xI12x8s")


class LogEnd(NamedTuple):
    """The end of the log by its index."""

    frames: int
    salts: bytes  # in every frame; others when the log has started over


class LogWatch:
    """Looks at a log, also while others write to it.

    The index is opened once. SQLite's locks are on that file, and by the rules of POSIX a process loses all its locks
    on a file when it closes any descriptor of it: `close` may be called only when no connection is open any more.
    """

    def __init__(self, file: Path) -> None:
        """Watch the log of a data file."""
        self._log = file.with_name(file.name + "-wal")
        self._index = file.with_name(file.name + "-shm")
        self._index_descriptor = -1
        self._seen = LogEnd(0, b"")

    def close(self) -> None:
        """Close the index, after all connections."""
        if self._index_descriptor >= 0:
            os.close(self._index_descriptor)
            self._index_descriptor = -1

    def is_cut(self) -> bool:
        """Whether frames that were committed are gone, be it that others have been written behind them since."""
        try:
            end = self._end()
            # If the index is another one by now, the log may have started over in between.
            return end.frames > 0 and not self._is_whole(end) and self._end() == end
        except FileNotFoundError:
            return False  # which the guard has its own words for

    def _end(self) -> LogEnd:
        if self._index_descriptor < 0:
            self._index_descriptor = os.open(self._index, os.O_RDONLY)
        header = os.pread(self._index_descriptor, _index.size, 0)
        return LogEnd(*_index.unpack(header)) if len(header) == _index.size else LogEnd(0, b"")

    def _is_whole(self, end: LogEnd) -> bool:
        if self._log.stat().st_size < HEADER_BYTES + end.frames * FRAME_BYTES:
            return False
        with self._log.open("rb", buffering=0) as stream:
            return self._has(stream, end)

    def _has(self, stream: FileIO, end: LogEnd) -> bool:
        """Whether the log begins as it should, and still has the frame that was the last one when it was looked at."""
        seen, self._seen = self._seen, end
        places = [_SALTS_IN_HEADER]
        if seen.salts == end.salts and seen.frames <= end.frames:
            places.append(HEADER_BYTES + (seen.frames - 1) * FRAME_BYTES + _SALTS_IN_FRAME)
        for place in places:
            stream.seek(place)
            if stream.read(_SALT_BYTES) != end.salts:
                return False
        return True
