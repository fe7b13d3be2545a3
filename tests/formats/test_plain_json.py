"""Plain JSON lines: types from JSON, numbers to the last digit, and no half of a line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.formats import plain_json
from hashrange.formats.errors import Garbage


def items(*lines: bytes) -> list[object]:
    return [record.members["Item"] for record in plain_json.records([b"\n".join(lines)])]


def test_every_type_of_json_has_one_of_the_service() -> None:
    line = b'{"s":"\xc3\xbc","n":1,"t":true,"f":false,"z":null,"l":[1,"a",[]],"m":{"x":{"y":-2.50}}}'
    assert items(line) == [
        {
            "s": {"S": "ü"},
            "n": {"N": "1"},
            "t": {"BOOL": True},
            "f": {"BOOL": False},
            "z": {"NULL": True},
            "l": {"L": [{"N": "1"}, {"S": "a"}, {"L": []}]},
            "m": {"M": {"x": {"M": {"y": {"N": "-2.50"}}}}},
        }
    ]


def test_numbers_keep_all_their_digits() -> None:
    digits = "12345678901234567890.123456789012345678"
    assert items(f'{{"n":{digits},"e":1E+120}}'.encode()) == [{"n": {"N": digits}, "e": {"N": "1E+120"}}]


def test_blank_lines_are_no_items() -> None:
    assert items(b"", b'{"a":"b"}', b"  ", b'{"a":"c"}', b"") == [{"a": {"S": "b"}}, {"a": {"S": "c"}}]


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b'"a"',
        b"{",
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":1} {"a":2}',
        b'{"a":"\\ud800"}',
        b'{"\\udfff":1}',
        b'{"a":"\xff"}',
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":[' + b"1," * 1_000_001 + b"1]}",
    ],
)
def test_what_is_no_item_is_garbage(line: bytes) -> None:
    with pytest.raises(Garbage):
        items(line)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(), max_size=4))
def test_whatever_json_writes_is_read(members: dict[str, int]) -> None:
    assert items(json.dumps(members).encode()) == [
        {name: {"N": str(number)} for name, number in members.items()}
    ]
