"""Where the statements of a document stand in its text, as the policy simulator tells it."""

import re
from typing import NamedTuple

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)
_TOP = 1  # the depth of the document's own members


class Position(NamedTuple):
    """A line and a column, both from 1, behind the bracket that begins or ends a statement."""

    line: int
    column: int


def statement_positions(document: str) -> list[tuple[Position, Position]]:
    """Where each statement of a document, which is known to be one, begins and ends."""
    depth, member, is_name = 0, "", False
    begins: int | None = None
    spans: list[tuple[int, int]] = []
    inner = _TOP  # the depth of the statements' own brackets: one more where they are in a list
    for token in _TOKEN.finditer(document):
        text = token[0]
        if text in "{[":
            depth += 1
            inner = depth if text == "[" and depth == _TOP + 1 else inner
            is_name = text == "{" and depth == _TOP
            if text == "{" and member == '"Statement"' and begins is None and depth == inner + 1:
                begins = token.end()
        elif text in "}]":
            if begins is not None and depth == inner + 1:
                spans.append((begins, token.end()))
                begins = None
            depth -= 1
        elif depth == _TOP and text == ",":
            is_name, inner = True, _TOP
        elif depth == _TOP and is_name and text.startswith('"'):
            member, is_name = text, False
    return [(_position(document, start), _position(document, end)) for start, end in spans]


def _position(document: str, offset: int) -> Position:
    line_start = document.rfind("\n", 0, offset) + 1
    return Position(document.count("\n", 0, offset) + 1, offset - line_start + 1)
