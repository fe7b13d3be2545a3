"""Key templates: with other values they select what the condition itself would select, or leave it to that."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import values
from hashrange.core.errors import Refused
from hashrange.core.expressions import Binder, key_condition, open_key_condition
from hashrange.core.keys import primary_key, ranges
from hashrange.core.keys.template import KeyTemplate
from schemas import index, table

TABLE = table("pk:S", "sk:N")
CASES = [
    (None, "pk = :a"),
    (None, "pk = :a AND sk = :b"),
    (None, "pk = :a AND sk > :b"),
    (None, "pk = :a AND sk BETWEEN :b AND :c"),
    (index("i", "pk:S", "x:S"), "pk = :a AND begins_with(x, :b)"),
    (index("i", "pk:S", "x:S y:N"), "pk = :a AND x = :b AND y <= :c"),
    (index("i", "pk:S q:N", "x:S"), "pk = :a AND q = :b AND x >= :c"),
]
sent_values = st.sampled_from(
    [
        *({"S": "a"}, {"S": "b\0"}, {"S": ""}, {"S": "a" * 1025}, {"S": 1}, {"N": "1"}, {"N": "-2.50"}),
        *({"N": "x"}, {"B": "AA=="}, {"S": "a", "N": "1"}, {}, None),
    ]
)


def condition(text: str, sent: dict[str, Any]) -> Any:
    binder = Binder(None, {name: values.canonical(value) for name, value in sent.items()})
    bound = binder.condition("KeyConditionExpression", text)
    binder.finish()
    return bound


def template(at: Any, text: str) -> KeyTemplate:
    sent = {name: {"S": "a"} for name in (":a", ":b", ":c") if name in text}
    return KeyTemplate(TABLE, at, open_key_condition(condition(text, sent)))


@pytest.mark.parametrize(("at", "text"), CASES)
@given(st.dictionaries(st.sampled_from([":a", ":b", ":c"]), sent_values))
def test_a_template_selects_what_the_condition_selects_or_leaves_it(
    at: Any, text: str, sent: dict[str, Any]
) -> None:
    sent = {name: value for name, value in sent.items() if name in text}
    quick = template(at, text).key_range_or_none(sent)
    try:
        thorough = ranges.query_range(TABLE, at, key_condition(condition(text, sent)))
    except (Refused, values.Malformed):
        assert quick is None
    else:
        assert quick == thorough


def test_the_whole_key_of_a_table_is_one_item() -> None:
    whole = template(None, "pk = :a AND sk = :b")
    assert whole.whole
    key = {"pk": {"S": "p"}, "sk": {"N": "1"}}
    assert whole.key_or_none({":a": key["pk"], ":b": key["sk"]}) == primary_key.of_key(TABLE, key)
    assert whole.key_or_none({":a": key["pk"], ":b": {"S": "1"}}) is None
    assert not template(None, "pk = :a AND sk >= :b").whole
    assert not template(index("i", "pk:S"), "pk = :a").whole


@pytest.mark.parametrize("sent", [None, [], {}, {":a": {"S": "p"}, ":c": {"N": "1"}}])
def test_values_of_other_names_are_left_to_the_condition(sent: Any) -> None:
    assert template(None, "pk = :a AND sk = :b").key_or_none(sent) is None


def test_values_that_a_filter_uses_make_no_difference() -> None:
    sent = {":a": {"S": "p"}, ":b": {"N": "1"}}
    more = sent | {":c": {"L": []}}
    plain = template(None, "pk = :a AND sk = :b")
    assert plain.key_or_none(more) == plain.key_or_none(sent) is not None
    assert plain.key_range_or_none(more) == plain.key_range_or_none(sent) is not None
