"""Comments that silence a rule: `# hashrange: HR103 reason`."""

import re
from collections.abc import Iterator

from hashrange.modeling.model import Place, Silence
from hashrange.modeling.problems import Problems

SILENCES_MAX = 1000
_COMMENT = re.compile(r"(?:^|\s)#\s*hashrange:\s*(.*)$")
_CODES = re.compile(r"(HR[0-9]{3}(?:\s*,\s*HR[0-9]{3}){0,9})\b[\s:,]*(.*)")


def read_silences(text: str, problems: Problems) -> tuple[Silence, ...]:
    """All of them: one at the end of a line is about that line, one that stands alone about the next line."""
    lines = text.splitlines()
    silences = [silence for number in range(len(lines)) for silence in _silences(lines, number, problems)]
    if len(silences) > SILENCES_MAX:
        problems.add(Place(silences[SILENCES_MAX].line, 1), f"more than {SILENCES_MAX} rules are silenced")
    return tuple(silences[:SILENCES_MAX])


def _silences(lines: list[str], number: int, problems: Problems) -> Iterator[Silence]:
    comment = _COMMENT.search(lines[number]) if "hashrange:" in lines[number] else None
    if comment is None:
        return
    place = Place(number + 1, lines[number].index("#", comment.start()) + 1)
    codes = _CODES.match(comment[1])
    if codes is None:
        problems.add(place, "a comment to silence a rule names none", "write # hashrange: HR103 and why")
        return
    if not codes[2].strip():
        problems.add(place, f"{codes[1]} is silenced without a reason", "write it behind the code")
        return
    line = _line_meant(lines, number)
    for code in re.findall("HR[0-9]{3}", codes[1]):
        yield Silence(code, codes[2].strip(), line)


def _line_meant(lines: list[str], number: int) -> int:
    """Counted from 1. Only so many lines are looked through: a file of comments is no reason to take long."""
    if not lines[number].lstrip().startswith("#"):
        return number + 1
    for later in range(number + 1, min(number + 50, len(lines))):
        content = lines[later].strip()
        if content and not content.startswith("#"):
            return later + 1
    return number + 1
