"""Primary keys: what requests may send, and the quick judgement that must agree with the thorough one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import limits, values
from hashrange.core.errors import EmptyKeyValue, Invalid, Refused
from hashrange.core.keys import primary_key
from schemas import index, table

TABLE = table("pk:S", "sk:N")
PLAIN = table("pk:B")
LIMIT = limits.PARTITION_KEY_BYTES_MAX

sent_values = st.one_of(
    st.sampled_from(
        [
            *({"S": "a"}, {"S": ""}, {"S": "é"}, {"S": "a" * LIMIT}, {"S": "a" * (LIMIT + 1)}, {"S": None}),
            *({"N": "1"}, {"N": "1.0"}, {"N": "-0"}, {"N": "1e200"}, {"N": "x"}, {"N": 1}, {"N": ""}),
            *({"B": "AA=="}, {"B": "AA="}, {"B": ""}, {"BOOL": True}, {"S": "a", "N": "1"}, {}, None, "a", 1),
        ]
    )
)
sent_keys = st.dictionaries(st.sampled_from(["pk", "sk", "other"]), sent_values, max_size=3)


@given(st.sampled_from([TABLE, PLAIN]), st.one_of(sent_keys, sent_values))
def test_a_quick_key_is_the_thorough_key_or_none(schema: Any, sent: Any) -> None:
    quick = primary_key.of_key_or_none(schema, sent)
    try:
        thorough = primary_key.of_key(schema, values.canonical_item(sent))
    except (Refused, values.Malformed):
        assert quick is None
    else:
        assert quick == thorough


def test_a_key_is_within_the_limit_to_the_byte() -> None:
    schema = table("pk:S")
    assert primary_key.of_key(schema, {"pk": {"S": "a" * LIMIT}}).endswith(b"a")
    with pytest.raises(Invalid, match="exceeded the maximum size limit of2048 bytes"):
        primary_key.of_key(schema, {"pk": {"S": "a" * (LIMIT + 1)}})


@pytest.mark.parametrize(
    ("item", "kind", "message"),
    [
        ({"pk": {"S": "a"}}, Invalid, "Missing the key sk in the item"),
        ({"pk": {"N": "1"}, "sk": {"N": "1"}}, Invalid, "Type mismatch for key pk expected: S actual: N"),
        ({"pk": {"S": ""}, "sk": {"N": "1"}}, EmptyKeyValue, "cannot contain an empty string value. Key: pk"),
    ],
)
def test_an_item_must_have_its_key(item: dict[str, Any], kind: type[Refused], message: str) -> None:
    with pytest.raises(kind, match=message):
        primary_key.of_item(TABLE, item)


@pytest.mark.parametrize("key", [{}, {"pk": {"S": "a"}}, {"pk": {"S": "a"}, "sk": {"S": "1"}}])
def test_a_key_must_have_exactly_the_key_attributes(key: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=primary_key.KEY_MISMATCH):
        primary_key.of_key(TABLE, key)


def test_the_key_to_read_on_from_has_the_keys_of_table_and_index() -> None:
    item = {"pk": {"S": "a"}, "sk": {"N": "1"}, "g": {"S": "b"}, "x": {"S": "c"}}
    assert primary_key.last_evaluated_key(TABLE, None, item).keys() == {"pk", "sk"}
    by_g = index("by-g", "g:S", "sk:N")
    assert list(primary_key.last_evaluated_key(TABLE, by_g, item)) == ["pk", "sk", "g"]
