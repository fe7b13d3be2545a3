"""Lines of a model file, to be shown beside what is said about them."""

from collections.abc import Iterable
from pathlib import Path

from hashrange.modeling.reading.nodes import FILE_BYTES_MAX

_LINE_CHARS_MAX = 160


def excerpts(path: str, numbers: Iterable[int]) -> dict[int, str]:
    """The lines with these numbers, as far as the file still has them; none of a model that has no file."""
    try:
        with Path(path).open("rb") as file:
            lines = file.read(FILE_BYTES_MAX).decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        return {}
    return {
        number: lines[number - 1].strip()[:_LINE_CHARS_MAX]
        for number in sorted(set(numbers))
        if 0 < number <= len(lines)
    }
