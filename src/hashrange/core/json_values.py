"""How many values JSON has, counted before anything is made of them.

A value takes 100 bytes of memory and more, and a microsecond, however little room it takes in JSON, let alone in JSON
that came compressed. The largest item has 400,000 attributes or elements, each of which is two values of JSON, an
object and the string in it; the limit is above that.
"""

from collections.abc import Iterator

VALUES_MAX = 1_000_000
_PIECE_BYTES = 256 * 1024


def too_many(text: bytes | bytearray) -> bool:
    """Whether there are more values than an item, or a request, may have."""
    # Strings have these characters too: only where there are many of them is it worth looking which are in strings.
    return marks(text) > VALUES_MAX and sum(map(marks, outside_strings(text))) > VALUES_MAX


def marks(text: bytes | bytearray) -> int:
    """As many as there are values, about: one begins after every comma and bracket."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def outside_strings(body: bytes | bytearray) -> Iterator[bytes]:
    """What is not inside a string, in pieces."""
    inside, escaped = 0, False
    for start in range(0, len(body), _PIECE_BYTES):
        piece = body[start : start + _PIECE_BYTES]
        if escaped:
            piece = piece[1:]
        # Without pairs of backslashes, one at the end escapes what comes in the next piece.
        piece = piece.replace(b"\\\\", b"")
        escaped = piece.endswith(b"\\")
        parts = piece.replace(b'\\"', b"").split(b'"')
        yield b"".join(parts[inside::2])
        inside = (inside + len(parts) - 1) % 2
