"""One request's expressions: what is left unused, what is kept between requests, what they mention."""

import pytest

from hashrange.core.errors import Invalid
from hashrange.core.expressions import Binder, apply_update, matches

VALUES = {":n": {"N": "1"}, ":s": {"S": "a"}}


def test_unused_names_then_unused_values_are_refused() -> None:
    def finish(names: dict[str, str], values: dict[str, dict[str, str]]) -> None:
        binder = Binder(names, values)
        binder.condition("ConditionExpression", "#a = :n")
        binder.update("SET b = :s")
        binder.finish()

    finish({"#a": "a"}, VALUES)
    with pytest.raises(Invalid) as refused:
        finish({"#a": "a", "#b": "b"}, {**VALUES, ":x": {"S": "a"}})
    assert (
        refused.value.message
        == "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"
    )
    with pytest.raises(Invalid) as refused:
        finish({"#a": "a"}, {**VALUES, ":x": {"S": "a"}, ":y": {"S": "a"}})
    assert (
        refused.value.message
        == "Value provided in ExpressionAttributeValues unused in expressions: keys: {:x, :y}"
    )


def test_the_same_text_serves_other_names_and_values() -> None:
    """What is kept between requests holds neither."""
    text = "#a BETWEEN :low AND :high"
    for name, low, high, holds in [("x", "1", "9", True), ("y", "1", "9", False), ("x", "6", "9", False)]:
        values = {":low": {"N": low}, ":high": {"N": high}}
        condition = Binder({"#a": name}, values).condition("FilterExpression", text)
        assert matches(condition, {"x": {"N": "5"}}) is holds
    with pytest.raises(Invalid, match="upper bound to be greater"):
        Binder({"#a": "x"}, {":low": {"N": "9"}, ":high": {"N": "1"}}).condition("FilterExpression", text)
    with pytest.raises(Invalid, match="attribute value: :high"):
        Binder({"#a": "x"}, {":low": {"N": "9"}}).condition("FilterExpression", text)
    with pytest.raises(Invalid, match="attribute name: #a"):
        Binder(None, {":low": {"N": "9"}}).condition("FilterExpression", text)


def test_removing_from_an_item_that_does_not_exist_is_no_error() -> None:
    for text in ("REMOVE a.b", "REMOVE a[0], c", "REMOVE a"):
        update = Binder(None, None).update(text)
        assert update.removes_only
        assert apply_update(update, {}).item == {}
    with pytest.raises(Invalid, match="invalid for update"):
        apply_update(Binder(None, VALUES).update("SET a.b = :n"), {})


def test_size_of_a_string_counts_utf16_units() -> None:
    item = {"plain": {"S": "abc"}, "accent": {"S": "é"}, "emoji": {"S": "a\U0001f600"}}
    for name, length in (("plain", 3), ("accent", 1), ("emoji", 3)):
        values = {":n": {"N": str(length)}}
        assert matches(Binder(None, values).condition("FilterExpression", f"size({name}) = :n"), item)


def test_what_an_expression_mentions() -> None:
    condition = Binder({"#c": "c.d"}, VALUES).condition("FilterExpression", "a.b = :n AND size(#c) > l[0]")
    assert condition.attributes == {"a", "c.d", "l"}
    assert condition.nested == {"a", "l"}
    update = Binder(None, VALUES).update("SET a.b = if_not_exists(c, d), e = :n REMOVE f")
    assert update.attributes == {"a", "c", "d", "e", "f"}
    assert set(update.targets) == {"a", "e", "f"}
    assert update.nested == {"a"}
    projection = Binder(None, None).projection("a, b.c, d[0]")
    assert projection.attributes == {"a", "b", "d"}
    assert projection.nested == {"b", "d"}
