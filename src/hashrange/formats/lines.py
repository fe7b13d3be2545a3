"""The lines of a file that arrives in pieces: each as long as an item may be, and no longer."""

from collections.abc import Iterable, Iterator

from hashrange.formats import limits
from hashrange.formats.errors import Garbage

_TOO_LONG = "The line is too long to be an item"


def lines(chunks: Iterable[bytes], bytes_max: int = limits.LINE_BYTES_MAX) -> Iterator[bytes]:
    """The lines with their line feeds, as far as they have one.

    A line that is too long is `Garbage`, and so are as many bytes of blank lines: a few kilobytes may unpack to
    gigabytes of them, which would keep a reader busy without its giving anything.
    """
    parts: list[bytes] = []
    size = blank = 0
    for chunk in chunks:
        start = 0
        while (end := chunk.find(b"\n", start) + 1) > 0:
            parts.append(chunk[start:end])
            line = b"".join(parts)
            parts, size, start = [], 0, end
            blank = 0 if line.strip() else blank + len(line)
            if len(line) > bytes_max or blank > bytes_max:
                raise Garbage(_TOO_LONG)
            yield line
        if start < len(chunk):
            parts.append(chunk[start:])
            size += len(chunk) - start
            if size > bytes_max:
                raise Garbage(_TOO_LONG)
    if parts:
        yield b"".join(parts)
