"""Change records: what is written is what is read, and a write that changes nothing is known."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import change_record, items, values
from hashrange.core.keys import primary_key
from hashrange.core.log_shards import OpenLog, OpenShard
from hashrange.core.values import Item, Value
from schemas import item_key, table
from value_strategies import binaries, numbers, strings

OLD: Item = {"pk": {"S": "a"}, "n": {"N": "1"}}
NEW: Item = {"pk": {"S": "a"}, "n": {"N": "2"}}


def stored(item: Item | None, time: float = 1.0) -> bytes | None:
    return None if item is None else items.encode(item, items.item_size(item), time)


@pytest.mark.parametrize(
    ("before", "after", "event"), [(None, NEW, "INSERT"), (OLD, NEW, "MODIFY"), (OLD, None, "REMOVE")]
)
@pytest.mark.parametrize("view_type", ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"])
def test_a_record_holds_the_images_that_are_wanted(
    before: Item | None, after: Item | None, event: str, view_type: str
) -> None:
    logged, key = table("pk:S", stream_view_type=view_type), item_key({"S": "a"})
    old, new = stored(before), stored(after, 2.0)
    record = change_record.decode(change_record.encode(logged, key, old, new, "ttl"))
    assert (record.event, record.actor, record.key) == (event, "ttl", key)
    assert orjson.loads(record.keys) == {"pk": {"S": "a"}}
    wants_old, wants_new = "OLD" in view_type, "NEW" in view_type
    assert record.before == (old if wants_old else None)
    assert record.after == (new if wants_new else None)


key_values = st.one_of(strings, numbers, binaries).filter(lambda value: any(value.values()))


@given(key_values, key_values)
def test_the_keys_of_a_record_are_those_of_the_item(hash_value: Value, range_value: Value) -> None:
    item = {"sk": values.canonical(range_value), "other": {"S": "x"}, "pk": values.canonical(hash_value)}
    logged = table(f"pk:{next(iter(hash_value))}", f"sk:{next(iter(range_value))}", pitr_since=1.0)
    record = change_record.encode(logged, primary_key.of_item(logged, item), stored(item), None, "client")
    assert change_record.decode(record).keys == orjson.dumps({"pk": item["pk"], "sk": item["sk"]})


@pytest.mark.parametrize("options", [{"pitr_since": 1.0}, {"held": True}])
def test_whoever_looks_back_needs_only_what_was_before(options: dict[str, Any]) -> None:
    logged, key = table("pk:S", **options), item_key({"S": "a"})
    record = change_record.decode(change_record.encode(logged, key, stored(OLD), stored(NEW, 2.0), "client"))
    assert record.before is not None
    assert record.after is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"N": "1"}, {"N": "1"}, True),
        ({"N": "1"}, {"N": "2"}, False),
        ({"N": "1"}, {"S": "1"}, False),
        ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}, True),
        ({"SS": ["a", "b"]}, {"SS": ["b", "c"]}, False),
        ({"NS": ["1", "2"]}, {"NS": ["2", "1"]}, True),
        ({"L": [{"N": "1"}, {"N": "2"}]}, {"L": [{"N": "2"}, {"N": "1"}]}, False),
        ({"M": {"x": {"N": "1"}, "y": {"N": "2"}}}, {"M": {"y": {"N": "2"}, "x": {"N": "1"}}}, True),
        (
            {"M": {"x": {"L": [{"BS": ["YQ==", "Yg=="]}]}}},
            {"M": {"x": {"L": [{"BS": ["Yg==", "YQ=="]}]}}},
            True,
        ),
        ({"M": {"x": {"N": "1"}}}, {"M": {"y": {"N": "1"}}}, False),
        ({"L": [{"N": "1"}]}, {"L": []}, False),
    ],
)
def test_equality_ignores_the_order_in_maps_and_sets(one: Item, other: Item, same: bool) -> None:
    key: Item = {"pk": {"S": "a"}}
    assert change_record.changes_nothing(stored({**key, "v": one}), stored({"v": other, **key}, 2.0)) is same


def test_a_new_and_a_deleted_item_are_changes() -> None:
    assert not change_record.changes_nothing(None, stored(NEW))
    assert not change_record.changes_nothing(stored(OLD), None)


def test_a_key_belongs_to_the_shard_of_its_hash() -> None:
    log = OpenLog("", 0.0, (OpenShard(b"", 7), OpenShard(b"\x40", 8), OpenShard(b"\x80", 9)))
    hashes = (0, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
    assert [log.shard_of(number.to_bytes(8, "big") + b"x") for number in hashes] == [7, 7, 8, 8, 9, 9]
