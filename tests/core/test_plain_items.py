"""The compiled helper against its twin in Python: the same items, sizes and JSON, or the same refusal."""

import copy
import sys
import tracemalloc
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import value_strategies
from hashrange.core import plain_items, values
from hashrange.core.errors import Refused
from hashrange.core.limits import ITEM_BYTES_MAX, NESTING_LEVELS_MAX

needs_helper = pytest.mark.skipif(plain_items.helper is None, reason="there was no C compiler")


class Odd(str):
    """A string that is not exactly one."""

    __slots__ = ()


def nested(levels: int, kind: str) -> dict[str, Any]:
    """A string inside so many lists or maps."""
    value: dict[str, Any] = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]} if kind == "L" else {"M": {"a": value}}
    return value


def judged(raw: Any) -> Any:
    """What Python alone makes of an item as sent: the item, its size and JSON; or what it raises."""
    try:
        item, size = values.canonical_sized(copy.deepcopy(raw))
    except (Refused, values.Malformed, AttributeError, TypeError, UnicodeEncodeError) as error:
        return type(error), str(error)
    return item, size, orjson.dumps(item)


def compared(raw: Any) -> bool:
    """Hold the helper against Python; give whether the helper took the item."""
    assert plain_items.helper is not None
    sent = copy.deepcopy(raw)
    plain = plain_items.helper(sent)
    if plain is not None:
        assert (sent, plain[1], plain[0]) == judged(raw)
        return True
    # What it leaves to Python it has not spoilt: Python says the same of it as before.
    assert judged(sent) == judged(raw)
    return False


@needs_helper
@given(value_strategies.items)
def test_an_item_has_the_same_form_size_and_json_either_way(item: dict[str, Any]) -> None:
    compared(item)


PLAIN: list[dict[str, Any]] = [
    {},
    {"a": {"S": ""}},
    {"a": {"S": "".join(map(chr, range(128))) * 3}, '\x00"\\\n\x1f\x7f': {"S": "é€😀\u2028"}},
    {"a": {"N": "0"}, "b": {"N": "-1"}, "c": {"N": "9" * 38}, "d": {"N": "1" + "0" * 37}},
    {"a": {"N": "0.5"}, "b": {"N": "-0.001"}, "c": {"N": "12.75"}, "d": {"N": "0." + "1" * 37}},
    {"a": {"B": ""}, "b": {"B": "AA=="}, "c": {"B": "AAE="}, "d": {"B": "+/+/"}},
    {"a": {"BOOL": False}, "b": {"BOOL": True}, "c": {"NULL": True}},
    {"a": {"SS": ["b", "", "a", "é", "z"]}, "b": {"SS": ["x"]}},
    {"a": {"NS": ["-10", "-9", "0", "3", "20"]}, "b": {"L": []}, "c": {"M": {}}},
    {"a": nested(NESTING_LEVELS_MAX - 1, "L"), "b": nested(NESTING_LEVELS_MAX - 1, "M")},
    {"a": {"S": "x" * (ITEM_BYTES_MAX - 1)}},
    {"n" * 16383: {"S": "\x01" * 5000}},
    {str(number): {"L": [{"N": str(number)}] * 20} for number in range(500)},
]


@needs_helper
@pytest.mark.parametrize("item", PLAIN, ids=range(len(PLAIN)))
def test_the_helper_takes_whatever_is_plain(item: dict[str, Any]) -> None:
    assert compared(item)


UNUSUAL: list[Any] = [
    None,
    [],
    "text",
    {"a": None},
    {"a": {}},
    {"a": {"S": None}},
    {"a": {"S": "x", "N": "1"}},
    {"a": {"S": "x", "N": None}},
    {"a": {"S": Odd("x")}},
    {"a": {"S": 1}},
    {"a": {"S": "\ud800"}},
    {"": {"S": "x"}},
    {"n" * 65536: {"S": "x"}},
    {"a": {"M": {"": {"S": "x"}}}},
    {"a": {"unknown": 1}},
    {"a": {"": ""}},
    *(
        {"a": {"N": text}}
        for text in ("", "-", "-0", "00", "01", "+1", "1.", ".5", "1.0", "0.0", "1e3", " 1")
    ),
    *(
        {"a": {"N": text}}
        for text in ("1" * 39, "0." + "1" * 38, "1_0", "\u0661", "1\x00", "--1", "-.1", "1.2.3")
    ),
    *(
        {"a": {"B": text}}
        for text in ("A", "AAA", "AAAA=", "====", "AB==", "AAB=", "A\n==", "AA-_", "é===", "AA=A")
    ),
    {"a": {"BOOL": "true"}},
    {"a": {"BOOL": 1}},
    {"a": {"NULL": False}},
    {"a": {"SS": []}},
    {"a": {"SS": ["b", "a", "b"]}},
    {"a": {"SS": ["b", "a", 1]}},
    {"a": {"SS": [str(number) for number in range(1025)]}},
    {"a": {"SS": "ab"}},
    {"a": {"NS": ["2", "1"]}},
    {"a": {"NS": ["1", "1"]}},
    {"a": {"NS": ["0.5"]}},
    {"a": {"BS": ["AA=="]}},
    {"a": {"L": {}}},
    {"a": {"L": [None]}},
    {"a": {"M": []}},
    {"a": nested(NESTING_LEVELS_MAX, "L")},
    {"a": nested(NESTING_LEVELS_MAX + 5, "M")},
    {"a": {"S": "x" * ITEM_BYTES_MAX}},
    {"a": {"L": [{"S": "\x01" * 1000}] * 500}},
]


@needs_helper
@pytest.mark.parametrize("item", UNUSUAL, ids=range(len(UNUSUAL)))
def test_the_helper_leaves_what_is_unusual_or_wrong_to_python(item: Any) -> None:
    assert not compared(item)


# What JSON can be, in the places where values and their contents stand.
_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), value_strategies.texts),
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
def test_whatever_json_has_at_the_place_of_an_item_is_judged_as_python_judges_it(raw: Any) -> None:
    compared(raw)


@needs_helper
def test_the_helper_keeps_nothing_of_what_it_was_given() -> None:
    assert plain_items.helper is not None
    members = {"SS": ["b", "a", "c"]}
    samples = [
        *copy.deepcopy(PLAIN),
        *(item for item in copy.deepcopy(UNUSUAL) if item is not None),
        {"a": members},
    ]
    for item in samples:
        plain_items.helper(item)
    counts = [sys.getrefcount(item) for item in samples]
    tracemalloc.start()
    held = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        for item in samples:
            plain_items.helper(item)
    grown = tracemalloc.get_traced_memory()[0] - held
    tracemalloc.stop()
    assert [sys.getrefcount(item) for item in samples] == counts
    assert grown < 10_000
    references = sys.getrefcount(members["SS"])  # of the value and of the call
    assert references == 2


@pytest.mark.parametrize("compiled", [True, False])
def test_an_item_is_checked_with_the_helper_and_without(
    monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    if not compiled:
        monkeypatch.setattr(plain_items, "helper", None)
    item, size, json = plain_items.canonical({"a": {"SS": ["b", "a"]}, "n": {"N": "10"}})
    assert (item, size) == ({"a": {"SS": ["a", "b"]}, "n": {"N": "10"}}, 6)
    assert json in (None, b'{"a":{"SS":["a","b"]},"n":{"N":"10"}}')
    item, size, json = plain_items.canonical({"n": {"N": "1.50"}})
    assert (item, size, json) == ({"n": {"N": "1.5"}}, 4, None)
    with pytest.raises(Refused, match="contains duplicates"):
        plain_items.canonical({"a": {"SS": ["a", "a"]}})
