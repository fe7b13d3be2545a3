"""Lines of DynamoDB JSON: written, read back, and what is wrong with those of others."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import json_values
from hashrange.core.values import Item, canonical_item
from hashrange.formats import dynamodb_json
from hashrange.formats.errors import Garbage, Rejection
from hashrange.formats.readers import InputOptions, item_rows
from hashrange.formats.records import Change, Row, changes
from schemas import index, table
from value_strategies import items, numbers, strings

JSON = InputOptions(input_format="DYNAMODB_JSON")
TABLE = table("pk:S")


def rows(data: bytes | list[bytes]) -> Iterator[Row | Rejection]:
    return item_rows([data] if isinstance(data, bytes) else data, JSON, TABLE)


def line(item: Any) -> bytes:
    return orjson.dumps({"Item": item}) + b"\n"


@given(st.lists(items), st.integers(1, 100))
def test_an_exported_item_is_imported_as_it_was(several: list[Item], size: int) -> None:
    keyed = [canonical_item({**item, "pk": {"S": f"key-{at}"}}) for at, item in enumerate(several)]
    data = b"".join(dynamodb_json.item_line(orjson.dumps(item)) for item in keyed)
    found = list(rows([data[at : at + size] for at in range(0, len(data), size)]))
    assert [row.command.item for row in found if isinstance(row, Row)] == keyed
    assert [row.index for row in found] == list(range(len(keyed)))


keys = st.fixed_dictionaries({"pk": strings, "sk": numbers}).map(canonical_item)
change_records = st.builds(
    Change,
    written_at_micros=st.integers(0, 10**17),
    keys=keys,
    old_image=st.none() | items.map(canonical_item),
    new_image=st.none() | items.map(canonical_item),
)


@given(st.lists(change_records))
def test_changes_are_read_as_they_were_written(several: list[Change]) -> None:
    data = b"".join(map(dynamodb_json.change_line, several))
    assert list(changes(dynamodb_json.records([data]))) == several


def test_a_change_looks_as_the_service_writes_it() -> None:
    change = Change(
        written_at_micros=1693685933000000,
        keys={"pk": {"S": "a"}},
        new_image={"pk": {"S": "a"}, "n": {"N": "1"}},
    )
    assert dynamodb_json.change_line(change) == (
        b'{"Metadata":{"WriteTimestampMicros":{"N":"1693685933000000"}},"Keys":{"pk":{"S":"a"}},'
        b'"NewImage":{"pk":{"S":"a"},"n":{"N":"1"}}}\n'
    )


@pytest.mark.parametrize(
    "data",
    [
        b'{"Keys":{"pk":{"S":"a"}}}',
        b'{"Metadata":{"WriteTimestampMicros":"1"},"Keys":{}}',
        b'{"Metadata":{"WriteTimestampMicros":{"N":"-1"}},"Keys":{}}',
        b'{"Metadata":{"WriteTimestampMicros":{"N":"1e125"}},"Keys":{}}',
        b'{"Metadata":{"WriteTimestampMicros":{"S":"1"}},"Keys":{}}',
        b'{"Metadata":[],"Keys":{}}',
        b'{"Metadata":{"WriteTimestampMicros":{"N":"1"}},"Keys":{"pk":{"S":1}}}',
        b'{"Metadata":{"WriteTimestampMicros":{"N":"1"}},"Keys":{},"NewImage":3}',
    ],
)
def test_what_is_no_change_is_garbage(data: bytes) -> None:
    with pytest.raises(Garbage):
        list(changes(dynamodb_json.records([data])))


def test_an_item_is_stored_as_put_item_would() -> None:
    (row,) = rows(line({"pk": {"S": "a"}, "n": {"N": "1.50e1"}, "set": {"NS": ["2", "1.0"]}}))
    assert isinstance(row, Row)
    assert row.command.item == {"pk": {"S": "a"}, "n": {"N": "15"}, "set": {"NS": ["1", "2"]}}
    assert row.command.size == 13


def test_an_item_without_its_key_is_skipped() -> None:
    lines = [line({"pk": {"S": str(number)}}) for number in range(10)]
    lines[5] = line({"other": {"S": "x"}})
    found = list(rows(b"".join(lines)))
    assert len([row for row in found if isinstance(row, Row)]) == 9
    assert found[5] == Rejection(
        5, "One or more parameter values were invalid: Missing the key pk in the item"
    )


def test_a_garbage_line_stops_the_object() -> None:
    lines = [line({"pk": {"S": str(number)}}) for number in range(10)]
    lines[5] = b"garbage\n"
    found = list(rows(b"".join(lines)))
    assert [type(row) for row in found] == [Row] * 5 + [Rejection]
    assert found[5] == Rejection(5, "The line is not valid JSON", stops=True)


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"{}",
        b'"x"',
        b'{"Item":null}',
        b'{"Item":[]}',
        b'{"Item":{"pk":"a"}}',
        b'{"Item":{"pk":{"S":1}}}',
        b'{"Item":{"pk":{"N":1}}}',
        b'{"Item":{"pk":{"S":"a"},"b":{"B":"%"}}}',
        b'{"Item":{"pk":{"S":"\xff"}}}',
        b'{"Item":{"pk":{"S":"\\ud800"}}}',
        b'{"Item":',
        b"\xef\xbb\xbf{",
        b"\x1f\x8b\x08\x00",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"null",
        b"NaN",
    ],
)
def test_what_is_no_item_stops_the_object(data: bytes) -> None:
    found = list(rows(line({"pk": {"S": "a"}}) + data + b"\n" + line({"pk": {"S": "b"}})))
    assert [type(row) for row in found] == [Row, Rejection]
    assert found[1].index == 1
    assert isinstance(found[1], Rejection)
    assert found[1].stops


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"pk": {"N": "1"}}, "Type mismatch for key pk expected: S actual: N"),
        (
            {"pk": {"S": ""}},
            "The AttributeValue for a key attribute cannot contain an empty string value. Key: pk",
        ),
        ({"pk": {"S": "x" * 2049}}, "Size of hashkey has exceeded the maximum size limit of2048 bytes"),
        ({"pk": {"S": "a"}, "x": {"S": "x" * 409600}}, "Item size has exceeded the maximum allowed size"),
        ({"pk": {"S": "a"}, "n": {"N": "x"}}, "The parameter cannot be converted to a numeric value: x"),
        ({"pk": {"S": "a"}, "n": {"SS": []}}, "An string set  may not be empty"),
        ({"pk": {"S": "a"}, "n": {}}, "Supplied AttributeValue is empty"),
        ({"pk": {"S": "a"}, "": {"S": "x"}}, "Empty attribute name"),
        (
            {"pk": {"S": "a"}, "g": {"N": "1"}},
            "Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g",
        ),
    ],
)
def test_an_item_that_put_item_refuses_is_skipped_with_its_message(item: Any, message: str) -> None:
    indexed = table("pk:S", indexes=(index("by-g", "g:S"),))
    found = list(item_rows([line(item) + line({"pk": {"S": "b"}})], JSON, indexed))
    assert [type(row) for row in found] == [Rejection, Row]
    assert isinstance(found[0], Rejection)
    assert message in found[0].message


def test_a_value_that_is_nested_too_deeply_is_skipped() -> None:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(32):
        value = {"L": [value]}
    found = list(rows(line({"pk": {"S": "a"}, "deep": value}) + line({"pk": {"S": "b"}})))
    assert [type(row) for row in found] == [Rejection, Row]


def test_blank_lines_and_carriage_returns_are_nothing() -> None:
    data = (
        b"\n  \r\n" + line({"pk": {"S": "a"}}).replace(b"\n", b"\r\n") + b"\n" + b'{"Item":{"pk":{"S":"b"}}}'
    )
    assert [row.index for row in rows(data)] == [0, 1]


def test_a_line_with_too_many_values_is_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "VALUES_MAX", 100)
    assert isinstance(next(rows(line({"pk": {"S": "a" + "," * 200}}))), Row)
    found = next(rows(line({"pk": {"S": "a"}, "l": {"L": [{"NULL": True}] * 100}})))
    assert isinstance(found, Rejection)
    assert found.stops


def test_the_largest_item_in_json_is_imported() -> None:
    """An item of 400 KB of numbers that are two bytes each and have 126 digits."""
    numbers = [{"N": "1" + "0" * 125}] * 136_000
    item = {"pk": {"S": "a"}, "l": {"L": numbers}}
    data = line(item)
    assert len(data) > 17 * 1024 * 1024
    (row,) = rows([data[at : at + 2**20] for at in range(0, len(data), 2**20)])
    assert isinstance(row, Row)
    assert row.command.size > 408_000
