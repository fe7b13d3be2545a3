"""Puts read from the bytes of requests: what the helper makes of a body is what decoding it would have come to."""

import json
import random
import sys
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import value_strategies
from hashrange.api.items import sent_puts
from hashrange.api.items.batch_write_item import BatchWriteItem
from hashrange.api.items.put_item import PutItem
from hashrange.core import plain_items, values
from hashrange.core.limits import BATCH_WRITE_ITEMS_MAX, ITEM_BYTES_MAX, NESTING_LEVELS_MAX

needs_helper = pytest.mark.skipif(sent_puts.helper is None, reason="there was no C compiler")

_decode_one = msgspec.json.Decoder(PutItem).decode
_decode_batch = msgspec.json.Decoder(BatchWriteItem).decode


def helper() -> sent_puts.Helper:
    assert sent_puts.helper is not None
    return sent_puts.helper


def canonical(item: Any) -> tuple[bytes, int]:
    """The JSON and the size of an item that was decoded."""
    item, size, text = plain_items.canonical(item)
    return orjson.dumps(item) if text is None else text, size


def compared(body: bytes) -> bool:
    """Hold what the helper makes of a PutItem's body against decoding it; give whether the helper took it."""
    sent = helper().one(body)
    assert sent == helper().one(bytearray(body))
    if sent is None:
        return False
    request = _decode_one(body)
    assert sent == (request.table_name, request.return_consumed_capacity, *canonical(request.item))
    return True


def compared_batch(body: bytes) -> bool:
    """The same with a BatchWriteItem's."""
    sent = helper().batch(body)
    if sent is None:
        return False
    request = _decode_batch(body)
    tables = request.request_items or {}
    assert sent[1] == request.return_consumed_capacity
    assert list(sent[0]) == list(tables)
    for name, writes in tables.items():
        items = [canonical(write.put_request.item) for write in writes if write.put_request is not None]
        assert list(zip(*sent[0][name], strict=True)) == items
        assert len(items) == len(writes) > 0
    return True


def body_of(item: Any, **dumps: Any) -> bytes:
    return json.dumps({"TableName": "t", "Item": item}, ensure_ascii=False, **dumps).encode()


def spaced(body: bytes, seed: int) -> bytes:
    """The same JSON with white space anywhere between its tokens."""
    chance = random.Random(seed)
    pieces, inside = [], False
    for place, byte in enumerate(body):
        character = body[place : place + 1]
        if byte == ord('"') and (place == 0 or body[place - 1 : place] != b"\\"):
            inside = not inside
        is_token = not inside and character in (b"{", b"}", b"[", b"]", b":", b",")
        space = bytes(chance.choices(b" \t\r\n", k=chance.randrange(3))) if is_token else b""
        pieces.append(space + character + space)
    return b"".join(pieces)


@needs_helper
@given(value_strategies.items, st.integers())
def test_an_item_has_the_same_json_and_size_as_if_it_was_decoded(item: Any, seed: int) -> None:
    body = body_of(item, separators=(",", ":"))
    taken = compared(body)
    if b"\\" not in body:
        assert compared(spaced(body, seed)) == compared(body_of(item)) == taken


@needs_helper
@given(st.lists(st.lists(value_strategies.items, max_size=3), max_size=3))
def test_a_batch_has_the_same_items_as_if_it_was_decoded(tables: list[list[Any]]) -> None:
    requests = {
        f"t{number}": [{"PutRequest": {"Item": item}} for item in items]
        for number, items in enumerate(tables)
    }
    compared_batch(json.dumps({"RequestItems": requests}, ensure_ascii=False).encode())


def nested(levels: int, kind: str) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]} if kind == "L" else {"M": {"a": value}}
    return value


PLAIN: list[dict[str, Any]] = [
    {},
    {"a": {"S": ""}},
    {"a": {"S": "é€😀\u2028\x7f\ud7ff\ue000\U0010ffff"}, "ü": {"S": "x" * 33}},
    {"a": {"N": "0"}, "b": {"N": "-1"}, "c": {"N": "9" * 38}, "d": {"N": "1" + "0" * 37}},
    {"a": {"N": "0.5"}, "b": {"N": "-0.001"}, "c": {"N": "12.75"}, "d": {"N": "0." + "1" * 37}},
    {"a": {"B": ""}, "b": {"B": "AA=="}, "c": {"B": "AAE="}, "d": {"B": "+/+/"}},
    {"a": {"BOOL": False}, "b": {"BOOL": True}, "c": {"NULL": True}},
    {"a": {"SS": ["b", "", "a", "é", "z"]}, "b": {"SS": ["x"]}},
    {"a": {"SS": [str(number) for number in range(64)]}},
    {"a": {"NS": ["-10", "-9", "0", "3", "20"]}, "b": {"L": []}, "c": {"M": {}}},
    {"a": {"NS": [str(number) for number in range(1024)]}},
    {"a": nested(NESTING_LEVELS_MAX - 1, "L"), "b": nested(NESTING_LEVELS_MAX - 1, "M")},
    {"a": {"S": "x" * (ITEM_BYTES_MAX - 1)}},
    {"n" * 16383: {"S": "x"}},
    {str(number): {"L": [{"N": str(number)}] * 20} for number in range(64)},
]


@needs_helper
@pytest.mark.parametrize("item", PLAIN, ids=range(len(PLAIN)))
def test_the_helper_takes_whatever_is_plain(item: dict[str, Any]) -> None:
    assert compared(body_of(item))


UNUSUAL: list[Any] = [
    *(None, [], "text", 1, {"a": None}, {"a": {}}, {"a": []}, {"a": {"S": None}}, {"a": {"S": 1}}),
    *({"a": {"S": text}} for text in ('"', "\\", "\n", "\x00", "\x1f")),
    *({"a": {"S": "x", "N": "1"}}, {"a": {"S": "x", "N": None}}, {"a": {"unknown": 1}}, {"a": {"": ""}}),
    *({"": {"S": "x"}}, {"n" * 16384: {"S": "x"}}, {"a": {"M": {"": {"S": "x"}}}}, {"a\n": {"S": "x"}}),
    *({"a": {"N": text}} for text in ("", "-", "-0", "00", "01", "+1", "1.", ".5", "1.0", "1e3", " 1", "é")),
    *({"a": {"N": text}} for text in ("1" * 39, "0." + "1" * 38, "1_0", "--1", "-.1", "1.2.3")),
    *({"a": {"B": text}} for text in ("A", "AAA", "AAAA=", "====", "AB==", "AAB=", "AA-_", "é===", "AA=A")),
    *({"a": {"BOOL": "true"}}, {"a": {"BOOL": 1}}, {"a": {"BOOL": None}}, {"a": {"NULL": False}}),
    *({"a": {"SS": []}}, {"a": {"SS": ["b", "a", "b"]}}, {"a": {"SS": ["b", 1]}}, {"a": {"SS": "ab"}}),
    {"a": {"SS": [str(number) for number in range(65)]}},
    *({"a": {"NS": []}}, {"a": {"NS": ["2", "1"]}}, {"a": {"NS": ["1", "1"]}}, {"a": {"NS": ["0.5"]}}),
    {"a": {"NS": [str(number) for number in range(1025)]}},
    *({"a": {"BS": ["AA=="]}}, {"a": {"L": {}}}, {"a": {"L": [None]}}, {"a": {"M": []}}),
    *({"a": nested(NESTING_LEVELS_MAX, "L")}, {"a": nested(NESTING_LEVELS_MAX + 5, "M")}),
    {"a": {"S": "x" * ITEM_BYTES_MAX}},
    {str(number): {"S": ""} for number in range(65)},
]


@needs_helper
@pytest.mark.parametrize("item", UNUSUAL, ids=range(len(UNUSUAL)))
def test_the_helper_leaves_what_is_unusual_or_wrong_to_python(item: Any) -> None:
    assert not compared(body_of(item))


ITEM = b'{"pk":{"S":"k"}}'
ODD_BODIES = [
    b"",
    b" ",
    b"{}",
    b"[]",
    b"null",
    b'{"TableName":"t"}',
    b'{"Item":%b}' % ITEM,
    b'{"TableName":"t","Item":%b' % ITEM,
    b'{"TableName":"t","Item":%b,}' % ITEM,
    b'{"TableName":"t","Item":%b}x' % ITEM,
    b'{"TableName":"t","Item":%b}\x00' % ITEM,
    b'{"TableName":"t","Item":%b}{}' % ITEM,
    b'\xef\xbb\xbf{"TableName":"t","Item":%b}' % ITEM,
    b'{"TableName":"t","Item":%b,"Item":%b}' % (ITEM, ITEM),
    b'{"TableName":"t","TableName":"t","Item":%b}' % ITEM,
    b'{"TableName":"t","Item":%b,"Expected":null}' % ITEM,
    b'{"TableName":"t","Item":%b,"ReturnValues":"NONE"}' % ITEM,
    b'{"TableName":"t","Item":%b,"Unknown":1}' % ITEM,
    b'{"TableName":"t","Item":%b,"ReturnConsumedCapacity":null}' % ITEM,
    b'{"TableName":null,"Item":%b}' % ITEM,
    b'{"TableName":1,"Item":%b}' % ITEM,
    b'{"TableName":"\xc3\xa9","Item":%b}' % ITEM,
    b'{"TableName":"%b","Item":%b}' % (b"t" * 1025, ITEM),
    b'{"TableName":"t","It\\u0065m":%b}' % ITEM,
    b'{"TableName":"t","Item":{"a":{"S":"x"},"a":{"S":"y"}}}',
    b'{"TableName":"t","Item":{"a":{"M":{"b":{"S":"x"},"b":{"S":"y"}}}}}',
    b'{"TableName":"t","Item":{"a":{"S":"x","S":"x"}}}',
    b'{"TableName":"t","Item":{"a":{"BOOL":truex}}}',
    b'{"TableName":"t","Item":{"a":{"BOOL":tru}}}',
    b'{"TableName":"t","Item":{"a":{"L":[{"S":"x"},]}}}',
    b'{"TableName":"t","Item":{"a":{"SS":["x",]}}}',
    b'{"TableName":"t","Item":{"a":{"S":"x"},}}',
    b'{"TableName":"t","Item":{,"a":{"S":"x"}}}',
    b'{"TableName":"t","Item":{"a" {"S":"x"}}}',
    b'{"TableName":"t","Item":{"a":{"S":"x"}\x0b}}',
    *(
        b'{"TableName":"t","Item":{"a":{"S":"%b"}}}' % text
        for text in (
            *(b"\xff", b"\x80", b"\xc3", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe2\x82"),
            *(
                b"\xed\xa0\x80",
                b"\xed\xbf\xbf",
                b"\xf0\x80\x80\x80",
                b"\xf4\x90\x80\x80",
                b"\xf5\x80\x80\x80",
            ),
        )
    ),
]


@needs_helper
@pytest.mark.parametrize("body", ODD_BODIES, ids=range(len(ODD_BODIES)))
def test_a_body_with_anything_else_in_it_is_left_to_python(body: bytes) -> None:
    assert helper().one(body) is None
    assert helper().batch(body) is None


def batch_of(*writes: bytes, name: bytes = b"t") -> bytes:
    return b'{"RequestItems":{"%b":[%b]}}' % (name, b",".join(writes))


PUT = b'{"PutRequest":{"Item":%b}}' % ITEM
ODD_BATCHES = [
    b'{"RequestItems":{}}',
    b'{"RequestItems":null}',
    b'{"ReturnConsumedCapacity":"TOTAL"}',
    batch_of(),
    batch_of(*[PUT] * (BATCH_WRITE_ITEMS_MAX + 1)),
    batch_of(PUT, b'{"DeleteRequest":{"Key":%b}}' % ITEM),
    batch_of(b"{}"),
    batch_of(b'{"PutRequest":{}}'),
    batch_of(b'{"PutRequest":{"Item":%b,"Item":%b}}' % (ITEM, ITEM)),
    batch_of(b'{"PutRequest":{"Item":%b},"DeleteRequest":null}' % ITEM),
    batch_of(b'{"PutRequest":null}'),
    b'{"RequestItems":{"t":[%b],"t":[%b]}}' % (PUT, PUT),
    b'{"RequestItems":{"t":[%b]},"RequestItems":{"t":[%b]}}' % (PUT, PUT),
    b'{"RequestItems":{"t":[%b]},"ReturnItemCollectionMetrics":"SIZE"}' % PUT,
]


@needs_helper
@pytest.mark.parametrize("body", ODD_BATCHES, ids=range(len(ODD_BATCHES)))
def test_a_batch_with_anything_else_in_it_is_left_to_python(body: bytes) -> None:
    assert helper().batch(body) is None


@needs_helper
def test_as_many_items_are_taken_as_a_batch_may_have() -> None:
    assert compared_batch(batch_of(*[PUT] * BATCH_WRITE_ITEMS_MAX))
    tables = b",".join(b'"t%d":[%b]' % (number, PUT) for number in range(BATCH_WRITE_ITEMS_MAX))
    assert compared_batch(b'{"ReturnConsumedCapacity":"NONE", "RequestItems":{%b}}' % tables)


WHOLE = body_of(
    {
        "pk": {"S": "schlüssel"},
        "n": {"N": "-1.5"},
        "l": {"L": [{"BOOL": True}, {"NULL": True}, {"M": {"x": {"B": "AAE="}}}]},
        "s": {"SS": ["b", "a"]},
        "t": {"NS": ["1", "2"]},
    }
)


@needs_helper
@pytest.mark.parametrize("body", [WHOLE, batch_of(PUT, PUT)])
def test_what_is_cut_short_is_left_to_python(body: bytes) -> None:
    for length in range(len(body)):
        # In memory of its own, whose end a checked build notices.
        assert helper().one(body[:length]) is None
        assert helper().batch(body[:length]) is None


_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), value_strategies.texts, st.just("1")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(st.sampled_from(values.TYPE_NAMES), value_strategies.texts), inner, max_size=2
        ),
    ),
    max_leaves=8,
)


@needs_helper
@given(st.dictionaries(value_strategies.texts, _json, max_size=3))
def test_whatever_json_has_at_the_place_of_an_item_is_judged_as_python_judges_it(item: Any) -> None:
    compared(body_of(item))


_edits = st.lists(
    st.tuples(
        st.sampled_from(["put", "insert", "remove", "double"]),
        st.integers(0, len(WHOLE)),
        st.one_of(st.sampled_from(b'{}[]:,"\\ \n0SNBLM\xff\xc3'), st.integers(0, 255)),
    ),
    min_size=1,
    max_size=4,
)


@needs_helper
@given(_edits, st.sampled_from([WHOLE, batch_of(PUT, PUT, name=b"\x22")]))
def test_a_spoilt_body_is_taken_only_if_it_decodes_to_the_same(edits: Any, body: bytes) -> None:
    spoilt = bytearray(body)
    for kind, place, byte in edits:
        at = min(place, len(spoilt) - 1)
        if kind == "put":
            spoilt[at] = byte
        elif kind == "insert":
            spoilt.insert(at, byte)
        elif kind == "remove" and len(spoilt) > 1:
            del spoilt[at]
        else:
            spoilt[at:at] = spoilt[at : at + 20]
    compared(bytes(spoilt))
    compared_batch(bytes(spoilt))


@needs_helper
@given(
    value_strategies.items, st.lists(value_strategies.texts.filter(bool), min_size=2, max_size=2, unique=True)
)
def test_the_key_is_found_wherever_it_stands(item: dict[str, Any], names: list[str]) -> None:
    hash_name, range_name = names
    item = {**item, range_name: {"N": "12"}, "zz": {"M": {hash_name: {"S": "no"}}}, hash_name: {"S": "ü"}}
    sent = helper().one(body_of(item, separators=(",", ":")))
    if sent is not None:
        kept = {name: item[name] for name in names}
        assert helper().key(sent[2], hash_name, range_name) == kept
        assert helper().key(sent[2], range_name) == {range_name: item[range_name]}


@needs_helper
def test_a_key_that_is_missing_or_no_scalar_is_none() -> None:
    for text in (
        b"{}",
        b'{"a":{"S":"x"}}',
        b'{"pk":{"BOOL":true}}',
        b'{"pk":{"L":[]}}',
        b'{"pk":{"SS":["x"]}}',
    ):
        assert helper().key(text, "pk") is None
        assert helper().key(text[:-1], "pk") is None
    assert helper().key(b'{"pk":{"S":"x"}}', "pk", "sk") is None


@needs_helper
def test_the_helper_keeps_nothing_of_what_it_was_given() -> None:
    bodies = [WHOLE, batch_of(PUT, PUT), *ODD_BODIES, *ODD_BATCHES, *map(body_of, UNUSUAL)]
    for body in bodies * 3:
        helper().one(body)
        helper().batch(body)
    before = sys.getallocatedblocks()
    for body in bodies * 20:
        helper().one(body)
        helper().batch(body)
    assert sys.getallocatedblocks() - before < 50
