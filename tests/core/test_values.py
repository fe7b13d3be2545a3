"""Attribute values: canonical form, what is refused and with which words, and sizes."""

import base64
import copy
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import value_strategies
from hashrange.core import values
from hashrange.core.errors import Invalid, RequestInvalid

PREFIX = "One or more parameter values were invalid: "
EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)


def nested(levels: int, innermost: dict[str, Any], kind: str = "L") -> dict[str, Any]:
    """A value inside so many lists or maps."""
    value = innermost
    for _ in range(levels):
        value = {"L": [value]} if kind == "L" else {"M": {"a": value}}
    return value


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({"S": ""}, {"S": ""}),
        ({"N": "007.50"}, {"N": "7.5"}),
        ({"B": ""}, {"B": ""}),
        ({"SS": ["b", "", "a", "é", "z"]}, {"SS": ["", "a", "b", "z", "é"]}),
        ({"NS": ["10", "9.0", "-1"]}, {"NS": ["-1", "9", "10"]}),
        ({"BS": ["/w==", "AA==", ""]}, {"BS": ["", "AA==", "/w=="]}),
        ({"L": []}, {"L": []}),
        ({"M": {}}, {"M": {}}),
        ({"S": "a", "N": None}, {"S": "a"}),
        ({"S": "a", "X": "unknown"}, {"S": "a"}),
        ({"L": [{"N": "1.0"}, {"M": {"a": {"N": "+2"}}}]}, {"L": [{"N": "1"}, {"M": {"a": {"N": "2"}}}]}),
    ],
)
def test_canonical_form(sent: dict[str, Any], stored: dict[str, Any]) -> None:
    assert values.canonical(sent) == stored


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({}, EMPTY),
        ({"X": "a"}, EMPTY),
        ({"S": None}, EMPTY),
        ({"N": None}, EMPTY),
        ({"L": [{}]}, EMPTY),
        ({"M": {"a": {}}}, EMPTY),
        ({"S": "a", "N": "1"}, SEVERAL),
        ({"S": "a", "N": "b"}, "The parameter cannot be converted to a numeric value: b"),
        ({"L": [{"S": "a", "B": "AA=="}]}, SEVERAL),
        ({"M": {"": {"S": "a"}}}, "Empty attribute name"),
        ({"M": {"a" * 65536: {"S": "a"}}}, "Attribute name is too large, must be less than 65536 bytes"),
        ({"M": {"é" * 32768: {"S": "a"}}}, "Attribute name is too large, must be less than 65536 bytes"),
        ({"NULL": False}, PREFIX + "Null attribute value types must have the value of true"),
        ({"M": {"a": {"NULL": False}}}, PREFIX + "Null attribute value types must have the value of true"),
        ({"SS": []}, PREFIX + "An string set  may not be empty"),
        ({"NS": []}, PREFIX + "An number set  may not be empty"),
        ({"BS": []}, PREFIX + "Binary sets should not be empty"),
        (
            {"SS": ["c", "b", "c", "b", "a"]},
            PREFIX + 'Input collection ["b", "c", "c", "b", "a"] contains duplicates.',
        ),
        ({"NS": ["1", "1.0"]}, PREFIX + "Input collection contains duplicates."),
        ({"NS": ["1", "1", "x"]}, "The parameter cannot be converted to a numeric value: x"),
        (
            {"BS": ["/w==", "AA==", "AA=="]},
            PREFIX + 'Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
        ),
    ],
)
def test_refusals_of_the_newer_layer(sent: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid) as caught:
        values.canonical(sent)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"SS": ["b", "a", "b"]}, PREFIX + "Input collection [b, a, b] contains duplicates."),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        (
            {"BS": ["/w==", "AA==", "/w=="]},
            PREFIX + "Input collection [/w==, AA==, /w==]of type BS contains duplicates.",
        ),
        ({"N": ""}, "The parameter cannot be converted to a numeric value"),
    ],
)
def test_refusals_in_the_words_of_coral(sent: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid) as caught:
        values.canonical(sent, wording="coral")
    assert caught.value.message == message


@pytest.mark.parametrize("sent", [{}, {"S": "a", "N": "1"}])
def test_malformed_values_are_not_announced_as_request_errors(sent: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as caught:
        values.canonical(sent)
    assert not isinstance(caught.value, RequestInvalid)


@pytest.mark.parametrize("kind", ["L", "M"])
@pytest.mark.parametrize("innermost", [{"S": "a"}, {"N": "1"}, {"NULL": True}, {"L": []}, {"M": {}}])
def test_32_levels_are_allowed_and_33_are_not(kind: str, innermost: dict[str, Any]) -> None:
    values.canonical(nested(31, copy.deepcopy(innermost), kind))
    with pytest.raises(RequestInvalid) as caught:
        values.canonical(nested(32, copy.deepcopy(innermost), kind))
    assert caught.value.message == TOO_DEEP


@pytest.mark.parametrize(
    "sent",
    [
        *("a", 1, None, [], {"S": 1}, {"N": 1}, {"B": "a"}, {"B": "a==="}, {"B": "+/+="}, {"B": 5}),
        *({"BOOL": "x"}, {"NULL": 1}, {"SS": "a"}, {"SS": [1]}, {"NS": [1]}, {"BS": ["-"]}),
        *({"L": {}}, {"M": []}, {"L": ["a"]}),
    ],
)
def test_wrong_json_types_are_the_shape_s_affair(sent: Any) -> None:
    with pytest.raises(values.Malformed):
        values.canonical(sent)


@given(value_strategies.values)
def test_canonical_form_is_its_own_canonical_form(sent: dict[str, Any]) -> None:
    once = copy.deepcopy(values.canonical(sent))
    assert values.canonical(copy.deepcopy(once)) == once
    assert values.canonical(copy.deepcopy(once)) == once


@given(value_strategies.sets)
def test_the_order_in_which_a_set_was_sent_does_not_matter(sent: dict[str, Any]) -> None:
    ((kind, members),) = sent.items()
    backward = {kind: members[::-1]}
    assert values.canonical(backward) == values.canonical(sent)


@given(value_strategies.sets)
def test_sets_are_sorted(sent: dict[str, Any]) -> None:
    ((kind, members),) = values.canonical(sent).items()
    orders: dict[str, Callable[[Any], Any]] = {"SS": str.encode, "NS": Decimal, "BS": base64.b64decode}
    assert members == sorted(members, key=orders[kind])


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": ""}, 0),
        ({"S": "abc"}, 3),
        ({"S": "é😀"}, 6),
        ({"N": "123456"}, 4),
        ({"B": ""}, 0),
        ({"B": "AA=="}, 1),
        ({"B": "AAA="}, 2),
        ({"B": "AAAA"}, 3),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["a", "é"]}, 3),
        ({"NS": ["1", "-1"]}, 5),
        ({"BS": ["AA==", "AAA="]}, 3),
        ({"L": []}, 3),
        ({"M": {}}, 3),
        ({"L": [{"S": "ab"}, {"BOOL": True}]}, 3 + 3 + 2),
        ({"M": {"é": {"S": "ab"}, "b": {"L": []}}}, 3 + 1 + 2 + 2 + 1 + 1 + 3),
    ],
)
def test_size(value: dict[str, Any], size: int) -> None:
    assert values.size(value) == size


def test_names_are_checked_before_values_at_the_top_and_behind_them_below() -> None:
    deep = nested(32, {"S": "a"})
    with pytest.raises(Invalid, match="Empty attribute name"):
        values.canonical_item({"a": copy.deepcopy(deep), "": {"S": "x"}})
    with pytest.raises(Invalid, match="Nesting Levels"):
        values.canonical_item({"a": {"M": {"": copy.deepcopy(deep)}}})
    assert values.canonical_item({"a" * 65535: {"S": "x"}})


ODD = st.sampled_from(
    [
        {"S": 1},
        {"S": None},
        {"N": "01"},
        {"N": "x"},
        {"N": 5},
        {"BOOL": "true"},
        {"NULL": False},
        {"SS": []},
        {"SS": ["b", "a"]},
        {"SS": ["a", "a"]},
        {"SS": ["a", 1]},
        {"M": {"": {"S": "x"}}},
        {"M": {"a" * 70_000: {"S": "x"}}},
        {"M": []},
        {"L": {}},
        {"L": [{"N": "1.0"}]},
        {"S": "a", "N": "1"},
        {"X": "a"},
        {},
        [],
        None,
        nested(31, {"S": "deep"}, "M"),
        nested(32, {"S": "deep"}),
        nested(33, {"S": "deep"}, "M"),
    ]
)


@given(st.dictionaries(st.text(max_size=3), value_strategies.values | ODD, max_size=4))
def test_an_item_is_measured_as_its_values_are(sent: dict[str, Any]) -> None:
    """The walk that checks and measures at once agrees with the two that do one of these."""

    def slowly(raw: dict[str, Any]) -> tuple[dict[str, Any], int]:
        for name in raw:
            values.check_name(name)
        item = {name: values.canonical(value) for name, value in raw.items()}
        return item, values.attributes_size(item)

    outcomes: list[Any] = []
    for measure in (slowly, values.canonical_sized):
        try:
            outcomes.append(measure(copy.deepcopy(sent)))
        except (Invalid, RequestInvalid, values.Malformed) as error:
            outcomes.append((type(error), getattr(error, "message", None)))
    assert outcomes[0] == outcomes[1]
