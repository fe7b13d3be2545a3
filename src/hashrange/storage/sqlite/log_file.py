"""The write-ahead log as a file: what of it SQLite can read, and what it would pass over in silence.

SQLite reads a log up to the first frame that is not whole, and takes everything behind it for the remains of a commit
that was never finished. Every commit is synced before the next one begins. So if there are frames behind the end of a
commit that SQLite does not reach, that commit was acknowledged, and is lost.

The layout is described in https://sqlite.org/fileformat2.html#the_write_ahead_log.
"""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from hashrange.storage.sqlite import schema

HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24
_SUMMED_BYTES = 24  # of the header, in front of its checksum
_header = struct.Struct(">8I")  # magic, version, page size, checkpoint number, two salts, two checksums
_frame_header = struct.Struct(
    ">6I"
)  # page number, pages of the file after a commit or 0, two salts, two checksums
_MAGIC = 0x377F0682  # the last bit says in which byte order checksums are computed
PAGE_BYTES = range(512, 65537)
_USER_VERSION = slice(60, 64)  # on a file's first page
_WRITTEN_BYTES = 1024 * 1024  # at once


class Frame(NamedTuple):
    """The header of a frame."""

    number: int  # from 1
    page: int
    file_pages: int  # after the commit that ends with this frame; 0: it ends none
    salts: tuple[int, int]


class LogFile(NamedTuple):
    """What the frames of a log say, those of an earlier round left out."""

    page_bytes: int
    is_header_whole: bool
    frames: list[Frame]

    def lost_commits(self, readable_frames: int) -> int:
        """How many acknowledged commits are behind what SQLite can read."""
        ends = [frame.number for frame in self.frames if frame.file_pages and frame.number > readable_frames]
        # The last commit may be one that was never acknowledged.
        is_last_whole = bool(ends) and ends[-1] < self.frames[-1].number
        return len(ends) if is_last_whole else max(0, len(ends) - 1)

    def file_pages(self) -> int:
        """The pages of the data file after the last commit; 0: there is none."""
        return next((frame.file_pages for frame in reversed(self.frames) if frame.file_pages), 0)

    def bytes_of(self, frames: int) -> int:
        """The length of the file up to a frame."""
        return HEADER_BYTES + frames * (FRAME_HEADER_BYTES + self.page_bytes)


def read_log(path: Path) -> LogFile | None:
    """Read a log's headers; None if there is no log, or nothing in it."""
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return None
    with stream:
        start = stream.read(HEADER_BYTES)
        if len(start) < HEADER_BYTES:
            return None
        magic, _, page_bytes, _, *salts, first, second = _header.unpack(start)
        is_whole = magic | 1 == _MAGIC | 1 and (first, second) == _checksum(
            start[:_SUMMED_BYTES], big=bool(magic & 1)
        )
        if not is_whole or page_bytes not in PAGE_BYTES:
            is_whole, page_bytes = False, schema.PAGE_BYTES
        frames = list(_frames(stream, page_bytes))
    # After a restart of the log the frames of the round before are still behind those of this one.
    current = [frame for frame in frames if frame.salts == (salts[0], salts[1])] if is_whole else frames
    return LogFile(page_bytes, is_whole, current)


def readable_frames(path: Path, log: LogFile) -> int:
    """How many frames SQLite reads: up to the last commit before the first frame whose checksum is wrong.

    This takes a tenth of a millisecond per frame. A server asks SQLite, which has read the log anyway.
    """
    if not log.is_header_whole:
        return 0
    readable = 0
    with path.open("rb") as stream:
        start = stream.read(HEADER_BYTES)
        big = bool(_header.unpack(start)[0] & 1)
        sums = _checksum(start[:_SUMMED_BYTES], big=big)
        for number, frame in enumerate(log.frames, 1):
            stream.seek(log.bytes_of(number - 1))
            content = stream.read(FRAME_HEADER_BYTES + log.page_bytes)
            if frame.number != number or len(content) < FRAME_HEADER_BYTES + log.page_bytes:
                break
            sums = _checksum(content[:8] + content[FRAME_HEADER_BYTES:], big=big, start=sums)
            if sums != _frame_header.unpack(content[:FRAME_HEADER_BYTES])[4:]:
                break
            if frame.file_pages:
                readable = number
    return readable


def write_again(path: Path, size: int) -> None:
    """Write the first bytes of a log over themselves, and sync them.

    A system that could not write a page tells of that once, and from then on counts it as written: later syncs pass it
    over, and the log has a hole on disk that nobody sees before the power goes.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        for start in range(0, size, _WRITTEN_BYTES):
            content = os.pread(descriptor, min(_WRITTEN_BYTES, size - start), start)
            written = 0
            while written < len(content):
                written += os.pwrite(descriptor, content[written:], start + written)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def user_versions(path: Path, log: LogFile, frames_max: int) -> list[int]:
    """The user versions in all copies of the file's first page, up to a frame."""
    versions = []
    with path.open("rb") as stream:
        for frame in log.frames:
            if frame.page == 1 and frame.number <= frames_max:
                stream.seek(log.bytes_of(frame.number - 1) + FRAME_HEADER_BYTES)
                versions.append(int.from_bytes(stream.read(64)[_USER_VERSION], "big"))
    return versions


def _frames(stream: BinaryIO, page_bytes: int) -> Iterator[Frame]:
    number, size = 0, FRAME_HEADER_BYTES + page_bytes
    while True:
        stream.seek(HEADER_BYTES + number * size)
        head = stream.read(FRAME_HEADER_BYTES)
        if len(head) < FRAME_HEADER_BYTES:
            return
        number += 1
        page, file_pages, first_salt, second_salt, _, _ = _frame_header.unpack(head)
        yield Frame(number, page, file_pages, (first_salt, second_salt))


def _checksum(content: bytes, *, big: bool, start: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    words = struct.unpack(f"{'>' if big else '<'}{len(content) // 4}I", content)
    first, second = start
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
