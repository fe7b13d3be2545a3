"""Ion: the mapping of exports both ways, text and binary, and what DynamoDB has nothing for."""

from collections.abc import Iterator
from typing import Any

import pytest
from amazon.ion import simpleion
from hypothesis import given
from hypothesis import strategies as st

from formats.test_dynamodb_json import change_records
from hashrange.core import numbers
from hashrange.core.values import Item, canonical_item
from hashrange.formats import ion_binary, ion_reader, ion_writer, limits
from hashrange.formats.errors import Garbage, Rejection
from hashrange.formats.readers import InputOptions, item_rows
from hashrange.formats.records import Change, Record, Row, Unread, changes
from schemas import table
from value_strategies import items, number_texts

ION = InputOptions(input_format="ION")
TABLE = table("pk:S")


def rows(data: bytes, size: int = 1 << 20) -> Iterator[Row | Rejection]:
    return item_rows([data[at : at + size] for at in range(0, len(data), size)], ION, TABLE)


def imported(data: bytes, size: int = 1 << 20) -> list[Item]:
    found = list(rows(data, size))
    assert [row for row in found if not isinstance(row, Row)] == []
    return [row.command.item for row in found if isinstance(row, Row)]


def text_line(inside: str) -> bytes:
    return b'$ion_1_0 {Item:{pk:"a",v:' + inside.encode() + b"}}\n"


def binary(data: bytes) -> bytes:
    """The same values as a writer of binary Ion writes them: one table of symbols, then all of them."""
    return simpleion.dumps(
        simpleion.loads(data.decode(), single_value=False), binary=True, sequence_as_stream=True
    )


@given(st.lists(items, max_size=4), st.integers(1, 200))
def test_an_exported_item_is_imported_as_it_was(several: list[Item], size: int) -> None:
    keyed = [canonical_item({**item, "pk": {"S": f"key-{at}"}}) for at, item in enumerate(several)]
    data = b"".join(map(ion_writer.item_line, keyed))
    assert imported(data, size) == keyed


@given(st.lists(items, min_size=1, max_size=4), st.integers(1, 200))
def test_binary_ion_is_read_like_text(several: list[Item], size: int) -> None:
    keyed = [canonical_item({**item, "pk": {"S": f"key-{at}"}}) for at, item in enumerate(several)]
    data = binary(b"".join(map(ion_writer.item_line, keyed)))
    assert data.startswith(b"\xe0\x01\x00\xea")
    assert imported(data, size) == keyed
    assert imported(data + data, size) == keyed + keyed


@given(st.lists(change_records, max_size=4))
def test_changes_are_read_as_they_were_written(several: list[Change]) -> None:
    data = b"".join(map(ion_writer.change_line, several))
    records = [record for record in ion_reader.records([data]) if isinstance(record, Record)]
    assert list(changes(records)) == several


@given(number_texts.map(numbers.canonical))
def test_numbers_are_exact_and_without_zeros_at_the_end(text: str) -> None:
    written = ion_writer.number(text)
    assert numbers.canonical(str(simpleion.loads(written))) == text
    assert "e" not in written
    assert not written.split("d")[0].rstrip(".").endswith("0") or written == "0."


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("103", "103."),
        ("600", "6d2"),
        ("0", "0."),
        ("-5", "-5."),
        ("12.5", "12.5"),
        ("-0.5", "-5d-1"),
        ("0.00000005", "5d-8"),
        ("1" + "0" * 125, "1d125"),
        ("9" * 38, "9" * 38 + "."),
    ],
)
def test_numbers_look_as_the_service_writes_them(text: str, written: str) -> None:
    assert ion_writer.number(text) == written
    assert imported(text_line(written)) == [{"pk": {"S": "a"}, "v": {"N": text}}]


def test_a_line_looks_as_the_service_writes_it() -> None:
    item: Item = {
        "Id": {"N": "103"},
        "PageCount": {"N": "600"},
        "Title": {"S": "x"},
        "In": {"BOOL": False},
        "Authors": {"SS": ["A"]},
        "two words": {"NULL": True},
        "B": {"B": "aGk="},
        "M": {"M": {"l": {"L": [{"NS": ["1"]}, {"BS": ["aGk="]}]}}},
    }
    assert ion_writer.item_line(item) == (
        b'$ion_1_0 {Item:{Id:103.,PageCount:6d2,Title:"x",In:false,Authors:$dynamodb_SS::["A"],'
        b"'two words':null,B:{{aGk=}},M:{l:[$dynamodb_NS::[1.],$dynamodb_BS::[{{aGk=}}]]}}}\n"
    )


@pytest.mark.parametrize(
    ("ion", "value"),
    [
        ("5", {"N": "5"}),
        ("-0d0", {"N": "0"}),
        ("1.2300", {"N": "1.23"}),
        ("null.string", {"NULL": True}),
        ("'''a''' '''b'''", {"S": "ab"}),
        ("'''brackets ]}) '\\''''", {"S": "brackets ]}) ''"}),
        ('"}] // no comment"', {"S": "}] // no comment"}),
        ("[/* ] */ 1 // ]\n]", {"L": [{"N": "1"}]}),
        ("{\n  a: 1,\n  b: [\n 2 ]\n}", {"M": {"a": {"N": "1"}, "b": {"L": [{"N": "2"}]}}}),
        ("{{ aG\nk= }}", {"B": "aGk="}),
        ("{'a}': 1}", {"M": {"a}": {"N": "1"}}}),
        ("other::1", {"N": "1"}),
    ],
)
def test_other_ways_to_write_ion_are_read(ion: str, value: Any) -> None:
    assert imported(text_line(ion) * 2) == [{"pk": {"S": "a"}, "v": value}] * 2


@pytest.mark.parametrize(
    "ion",
    [
        "1e0",
        "nan",
        "2020T",
        "symbol",
        '{{"clob"}}',
        "(1 2)",
        "[2020T]",
        '$dynamodb_NS::["a"]',
        "$dynamodb_SS::[1]",
    ],
)
def test_what_dynamodb_has_nothing_for_is_skipped(ion: str) -> None:
    found = list(rows(text_line(ion) + text_line("1")))
    assert [type(row) for row in found] == [Rejection, Row]


@pytest.mark.parametrize(
    "ion", ["9" * 200, "1d126", "1d-131", "1" * 39, "$dynamodb_SS::[]", '$dynamodb_SS::["a","a"]', "{'':1}"]
)
def test_values_are_held_to_the_rules_of_put_item(ion: str) -> None:
    found = list(rows(text_line(ion) + text_line("1")))
    assert [type(row) for row in found] == [Rejection, Row]


@pytest.mark.parametrize(
    "data",
    [
        b"garbage {",
        b"{Item:{}",
        b"}",
        b'{Item:{pk:"a}}\n"',
        b"{Item:{pk:'''a}}",
        b"/* never ends",
        b"{{ never ends",
        b"5",
        b"{Item:5}",
        b"{Item:null.struct}",
        b"{}",
        b"[" * 1000 + b"]" * 1000,
        b"\xff\xfe",
        b"{Item:{$99:1}}",
        b"$ion_9_9 {Item:{}}",
        b"\xe0\x01\x00\xea",
    ],
)
def test_garbage_stops_the_object(data: bytes) -> None:
    found = list(rows(text_line("1") + data + b"\n" + text_line("2")))
    assert [type(row) for row in found] == [Row, Rejection]
    assert isinstance(found[1], Rejection)
    assert (found[1].index, found[1].stops) == (1, True)


def test_a_wrong_value_in_binary_ion_stops_the_object_where_it_stands() -> None:
    good = binary(text_line("1") * 5)
    for bad in (b"\xf0", b"\xd2\x84\x9f", b"\x8e\xff", b"\x21", b"\xde\x01\x01\x01\x01\x01\x81"):
        found = list(rows(good + bad + good[4:]))
        assert [type(row) for row in found] == [Row] * 5 + [Rejection]
        assert isinstance(found[5], Rejection)
        assert found[5].stops


def test_symbols_may_be_added_along_the_way() -> None:
    """`$ion_symbol_table::{symbols:[…]}`, and one with `imports:$ion_symbol_table`, which adds to it."""
    first = b"\xee\x92\x81\x83\xde\x8e\x87\xbc\x84Item\x82pk\x83one" + b"\xd8\x8a\xd6\x8b\x81a\x8c\x21\x01"
    more = b"\xec\x81\x83\xd9\x86\x71\x03\x87\xb4\x83two" + b"\xd8\x8a\xd6\x8b\x81b\x8d\x21\x02"
    padding = b"\x00\x03abc"
    items = [{"pk": {"S": "a"}, "one": {"N": "1"}}, {"pk": {"S": "b"}, "two": {"N": "2"}}]
    marker = b"\xe0\x01\x00\xea"
    assert imported(marker + first + padding + more + marker + first) == [*items, items[0]]
    (row, stopped) = rows(marker + first + marker + more)
    assert isinstance(row, Row)
    assert isinstance(stopped, Rejection)


def test_a_value_in_text_may_be_so_long_and_so_deep_and_no_more() -> None:
    deep = "[" * (limits.ION_LEVELS_MAX - 2) + "]" * (limits.ION_LEVELS_MAX - 2)
    assert [type(row) for row in rows(text_line(deep) + text_line("1"))] == [Rejection, Row]
    (stopped,) = rows(text_line("[" + deep + "]") + text_line("1"))
    assert isinstance(stopped, Rejection)
    assert stopped.stops
    long = text_line('"' + "x" * limits.ION_TEXT_BYTES_MAX + '"')
    (stopped,) = rows(long + text_line("1"))
    assert isinstance(stopped, Rejection)
    assert stopped.stops
    many_lines = b"{Item:{\n" + b"//\n" * (limits.ION_TEXT_BYTES_MAX // 3) + b"}}"
    (stopped,) = rows(many_lines)
    assert isinstance(stopped, Rejection)
    assert stopped.stops


def test_a_length_that_is_too_large_is_not_waited_for() -> None:
    with pytest.raises(Garbage):
        list(ion_reader.records([b"\xe0\x01\x00\xea\xde\x7f\x7f\x7f\xff"]))


def test_an_unread_value_says_where_it_was() -> None:
    found = list(ion_reader.records([text_line("1") + text_line("2020T")]))
    assert isinstance(found[1], Unread)
    assert found[1].index == 1


def _many(name: str, count: int = 100_000) -> bytes:
    return f"{{Item:{{pk:{f'{name}::' * count}1}}}}\n".encode()


def _annotated_binary(count: int) -> bytes:
    """A struct whose one member has so many annotations: the wrapper's length, the annotations' length, the value."""
    annotations = b"\x84" * count
    wrapped = _var_uint(len(annotations)) + annotations + b"\x21\x01"
    member = b"\x84" + b"\xee" + _var_uint(len(wrapped)) + wrapped
    return ion_binary.MARKER + b"\xde" + _var_uint(len(member)) + member


def _var_uint(number: int) -> bytes:
    groups = [number & 127 | 128]
    while number := number >> 7:
        groups.insert(0, number & 127)
    return bytes(groups)


@pytest.mark.parametrize("document", [_many("a"), _many("'a'"), _many("'a' "), _annotated_binary(100_000)])
def test_a_value_with_many_annotations_is_refused_before_it_is_parsed(document: bytes) -> None:
    """Parsing takes time by the square of their number: minutes for these."""
    with pytest.raises(Garbage):
        list(ion_reader.records([document]))


def test_many_values_may_have_an_annotation_each() -> None:
    sets = ",".join(f"'s{number}':$dynamodb_SS::[\"x\"]" for number in range(50))
    (record,) = ion_reader.records([f"$ion_1_0 {{Item:{{pk:1,{sets}}}}}\n".encode()])
    assert isinstance(record, Record)
    assert len(record.members["Item"]) == 51
    (record,) = ion_reader.records([_annotated_binary(3)])
    assert isinstance(record, Record)
