"""The vectors of docs/design/002-key-bytes.md hold for the code."""

import re
from pathlib import Path

import pytest

from hashrange.core import numbers
from hashrange.core.keys import encoding
from schemas import item_key

_PAGE = Path(__file__).parents[3] / "docs" / "design" / "002-key-bytes.md"
_VECTORS = re.findall(
    r"^\| (number|item|terminated|index) (.+) \| `([0-9a-f]+)` \|$", _PAGE.read_text(), re.MULTILINE
)


def _value(text: str) -> dict[str, str]:
    kind, content = text.split(" ", 1)
    return {kind: content.replace("\\0", "\0")}


def _values(text: str) -> list[dict[str, str]]:
    return [_value(part) for part in text.split(", ")]


def _bytes(what: str, text: str) -> bytes:
    if what == "number":
        return numbers.encode(text)
    if what == "item":
        partition, *sort = _values(text)
        return item_key(partition, sort[0] if sort else None)
    if what == "terminated":
        return encoding.terminated_scalar(_value(text))
    partition_text, sort_text, item_text = re.fullmatch(r"\((.*)\) \((.*)\) of item (.*)", text).groups()  # type: ignore[union-attr]
    return encoding.index_key(_values(partition_text), _values(sort_text), item_key(_value(item_text), None))


@pytest.mark.parametrize(("what", "text", "expected"), _VECTORS)
def test_key_bytes_are_as_written_down(what: str, text: str, expected: str) -> None:
    assert _bytes(what, text).hex() == expected


def test_the_page_has_vectors_of_every_kind() -> None:
    assert {what for what, _, _ in _VECTORS} == {"number", "item", "terminated", "index"}
