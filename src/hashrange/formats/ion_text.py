"""Ion text that arrives in lines, cut into values before anybody parses it: each within limits of size and depth."""

import re
from collections.abc import Iterable, Iterator

from hashrange.formats import limits
from hashrange.formats.errors import Garbage
from hashrange.formats.lines import lines

_TOO_LONG = "The value is too long to be an item"
_TOO_DEEP = "The value is nested too deeply to be an item"
_NOT_ION = "The object is not valid Ion"
# What may have brackets in it that are none, and the brackets. A blob or clob is `{{…}}`.
_TOKEN = re.compile(
    rb"""'''|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'|//[^\n]*+|/\*|\{\{|[\[{(]|[\]})]|["']""",
    re.DOTALL,
)
_LONG_STRING_END = re.compile(rb"[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'''", re.DOTALL)
_COMMENT_END = re.compile(rb".*?\*/", re.DOTALL)
_BLOB_END = re.compile(rb""".*?\}\}""", re.DOTALL)
_ENDS = {b"'''": _LONG_STRING_END, b"/*": _COMMENT_END, b"{{": _BLOB_END}


def values(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The text of one top-level value each, which may have several lines; version markers stay before theirs."""
    parts: list[bytes] = []
    size = 0
    nesting = _Nesting()
    for line in lines(chunks, limits.ION_TEXT_BYTES_MAX):
        parts.append(line)
        size += len(line)
        if size > limits.ION_TEXT_BYTES_MAX:
            raise Garbage(_TOO_LONG)
        if nesting.is_balanced_after(line):
            text = b"".join(parts)
            parts, size = [], 0
            if text.strip():
                yield text
    if parts:
        raise Garbage(_NOT_ION)


class _Nesting:
    """How many brackets are open, and whether a string, comment or blob goes on."""

    def __init__(self) -> None:
        self._depth = 0
        self._end: re.Pattern[bytes] | None = None
        self._annotations = 0  # since the last comma or bracket

    def is_balanced_after(self, line: bytes) -> bool:
        """Whether a value may end where this line does."""
        position = 0
        while True:
            if self._end is not None:
                ended = self._end.match(line, position)
                if ended is None:
                    return False
                self._end = None
                position = ended.end()
            token = _TOKEN.search(line, position)
            self._check_annotations(line[position : token.start() if token else len(line)])
            if token is None:
                return self._depth == 0
            position = token.end()
            self._take(token[0])

    def _check_annotations(self, between: bytes) -> None:
        """The parser takes time by the square of the annotations of one value, whose names may be quoted."""
        for number, part in enumerate(between.split(b",")):
            self._annotations = (0 if number else self._annotations) + part.count(b"::")
            if self._annotations > limits.ION_ANNOTATIONS_MAX:
                raise Garbage(_NOT_ION)

    def _take(self, token: bytes) -> None:
        if token in _ENDS:
            self._end = _ENDS[token]
        elif token in (b"[", b"{", b"("):
            self._annotations = 0
            self._depth += 1
            if self._depth > limits.ION_LEVELS_MAX:
                raise Garbage(_TOO_DEEP)
        elif token in (b"]", b"}", b")"):
            self._annotations = 0
            self._depth -= 1
        if self._depth < 0 or token in (b'"', b"'"):
            raise Garbage(_NOT_ION)
