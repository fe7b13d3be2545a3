"""Ion as text that our own writer would not write: what the format allows, and what it does not."""

import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from amazon.ion import simpleion
from amazon.ion.core import IonType
from amazon.ion.exceptions import IonException
from hypothesis import given
from hypothesis import strategies as st

from formats.test_ion import binary, imported, rows, text_line
from hashrange.core.values import Item, Value, canonical_item
from hashrange.formats import ion_parser, ion_reader, ion_writer
from hashrange.formats.errors import Garbage, Rejection
from hashrange.formats.ion_values import Unmapped
from hashrange.formats.records import Row
from value_strategies import items

# The extension in C crashes on some input.
simpleion.c_ext = False
_REFUSALS = (Garbage, IonException, ValueError, TypeError, ArithmeticError, LookupError, AttributeError)


@pytest.mark.parametrize(
    ("ion", "value"),
    [
        ("a::'b' :: c::1", {"N": "1"}),
        ("0x1F", {"N": "31"}),
        ("-0b1_01", {"N": "-5"}),
        ("1_000.5_0d+1", {"N": "10005"}),
        (r'"\x41\u00fc\U0001F600\0\?\\\/"', {"S": "A\u00fc\U0001f600\0?\\/"}),
        (r'"\ud83d\ude00"', {"S": "\U0001f600"}),
        ('"a\tb"', {"S": "a\tb"}),
        ('"tab\t and escape\\n"', {"S": "tab\t and escape\n"}),
        ("'''one\r\ntwo\\\n three'''", {"S": "one\ntwo three"}),
        ("'''a'''/* no\nend */'''b'''", {"S": "ab"}),
        ("[1,2,]", {"L": [{"N": "1"}, {"N": "2"}]}),
        ("{\"a b\":1,'''c''':2,$d:3,}", {"M": {"a b": {"N": "1"}, "c": {"N": "2"}, "$d": {"N": "3"}}}),
        ("{{}}", {"B": ""}),
        ("{{AQ+=}}", {"B": "AQ8="}),
        (
            "[null,true,false,null.null]",
            {"L": [{"NULL": True}, {"BOOL": True}, {"BOOL": False}, {"NULL": True}]},
        ),
    ],
)
def test_every_way_to_write_a_value_is_read(ion: str, value: Any) -> None:
    assert imported(text_line(ion) * 2) == [{"pk": {"S": "a"}, "v": value}] * 2


@pytest.mark.parametrize(
    "ion",
    [
        "(a + ('b)' \")\" {{aGk=}} {x:[1]}))",
        "+inf",
        "2020-01-01T00:00:00.5+01:00",
        "{{'''c''' '''d'''}}",
        "['quoted symbol', {a: b}]",
    ],
)
def test_a_type_that_dynamodb_has_not_spoils_its_own_record_only(ion: str) -> None:
    assert [type(row) for row in rows(text_line(ion) + text_line("1"))] == [Rejection, Row]


@pytest.mark.parametrize(
    "data",
    [
        b"$ion_symbol_table::{symbols:['x']}",
        rb'{Item:{pk:"\q"}}',
        rb'{Item:{pk:"\ud800"}}',
        b"{Item:{pk:01}}",
        b"{Item:{pk:1a}}",
        b"{Item:{pk:1 2}}",
        b"{Item:{pk:[1 2]}}",
        b"{Item:{pk:,}}",
        b"{Item:{true:1}}",
        b"{Item:{pk:null.nothing}}",
        b"{Item:{pk:]}}",
        b"{Item:{pk a}}",
        b"{Item:{pk:{{A===}}}}",
    ],
)
def test_what_is_not_ion_stops_the_object(data: bytes) -> None:
    found = list(rows(text_line("1") + data + b"\n" + text_line("2")))
    assert [type(row) for row in found] == [Row, Rejection]


def test_a_line_may_have_several_values() -> None:
    line = text_line("1").strip() + b" " + text_line("2020T").strip() + b" " + text_line("2")
    assert [type(row) for row in rows(line)] == [Row, Rejection, Row]


def test_members_that_no_record_has_are_read_over() -> None:
    data = b'{Time: 2020T, Item: {pk: "a"}, Note: symbol}\n'
    assert imported(data) == imported(binary(data)) == [{"pk": {"S": "a"}}]


@given(st.lists(items, min_size=1, max_size=2), st.data())
def test_damaged_text_is_read_as_the_library_of_the_format_reads_it(
    several: list[Item], data: st.DataObject
) -> None:
    """Where both of them take it for Ion."""
    text = b"".join(ion_writer.item_line(canonical_item(item)) for item in several).decode()
    at = data.draw(st.integers(0, len(text)))
    damage = data.draw(st.sampled_from([*"{}[](),:'\"\\/ \t-+.0dex_$", "::", "null", "//", "a::"]))
    text = text[:at] + damage + text[at + data.draw(st.integers(0, 2)) :]
    try:
        ours = list(ion_parser.values(text))
        theirs = simpleion.loads(text, single_value=False)
    except _REFUSALS:
        return
    for mine, other in zip(ours, theirs, strict=True):
        if not isinstance(mine, Unmapped):
            assert _spelled(mine) == _as_dynamodb(other)


def _spelled(value: Value) -> Value:
    """A value with its numbers and bytes in one spelling."""
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return {"N": str(Decimal(content).normalize())}
        case "L":
            return {"L": [_spelled(member) for member in content]}
        case "B":
            return {"B": _packed(content)}
        case "BS":
            return {"BS": [_packed(member) for member in content]}
        case "NS":
            return {"NS": [str(Decimal(member).normalize()) for member in content]}
        case "M":
            return {"M": {name: _spelled(member) for name, member in content.items()}}
        case _:
            return value


def _packed(text: str) -> str:
    return b64encode(b64decode(text)).decode()


def _as_dynamodb(value: Any) -> Any:
    """What the library has read, as a value of DynamoDB."""
    match getattr(value, "ion_type", None):
        case None:
            return {"NULL": True} if value is None else _bare(value)
        case IonType.STRUCT:
            return {"M": {name: _as_dynamodb(member) for name, member in value.items()}}
        case IonType.LIST:
            members = [_as_dynamodb(member) for member in value]
            names = [annotation.text for annotation in value.ion_annotations]
            kinds = [name[-2] for name in names if name in ("$dynamodb_SS", "$dynamodb_NS", "$dynamodb_BS")]
            if kinds:
                return {f"{kinds[0]}S": [member[kinds[0]] for member in members]}
            return {"L": members}
        case _:
            return _bare(value)


def _bare(value: Any) -> Any:
    ion_type = getattr(value, "ion_type", None)
    if ion_type is IonType.NULL:
        return {"NULL": True}
    if ion_type is IonType.BOOL or isinstance(value, bool):
        return {"BOOL": bool(value)}
    if isinstance(value, int | Decimal):
        return {"N": str(Decimal(value).normalize())}
    return {"B": b64encode(value).decode()} if isinstance(value, bytes) else {"S": str(value)}


def test_a_long_value_takes_no_longer_for_each_character() -> None:
    """The format's own library makes many calls for each of them: a string of 400 KB took it a minute and more."""
    line = text_line('"' + "x\\n" * 30_000 + '"') + text_line("{{" + "aGkh" * 30_000 + "}}")
    assert _calls(lambda: rows(line)) < 1000


def test_a_value_takes_few_calls() -> None:
    line = text_line("[" + "1.5," * 1000 + "]")
    packed = binary(line)
    assert _calls(lambda: ion_reader.records([line])) < 25_000
    assert _calls(lambda: ion_reader.records([packed])) < 25_000


def _calls(read: Callable[[], Iterator[Any]]) -> int:
    """How many calls of functions it takes to read all, those in C included."""
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = list(read())
    finally:
        sys.setprofile(before)
    assert not any(isinstance(row, Rejection) for row in found)
    return calls
