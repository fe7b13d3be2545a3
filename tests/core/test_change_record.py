"""Change records: what is written is what is read, and a write that changes nothing is known."""

from typing import Any

import orjson
import pytest

from hashrange.core import change_record, items
from hashrange.core.items import StoredItem
from hashrange.core.log_shards import OpenLog, OpenShard
from hashrange.core.mutation import Origin, Outcome
from hashrange.core.values import Item
from schemas import item_key, table

OLD: Item = {"pk": {"S": "a"}, "n": {"N": "1"}}
NEW: Item = {"pk": {"S": "a"}, "n": {"N": "2"}}


def outcome(before: Item | None, after: Item | None, actor: str = "client") -> tuple[Outcome, bytes | None]:
    key = item_key({"S": "a"})
    stored = None if before is None else StoredItem(items.encode(before, items.item_size(before), 1.0))
    size = 0 if after is None else items.item_size(after)
    encoded = None if after is None else items.encode(after, size, 2.0)
    return Outcome(key, stored, after, size, 1, [], Origin(2.0, actor)), encoded  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "event"), [(None, NEW, "INSERT"), (OLD, NEW, "MODIFY"), (OLD, None, "REMOVE")]
)
@pytest.mark.parametrize("view_type", ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"])
def test_a_record_holds_the_images_that_are_wanted(
    before: Item | None, after: Item | None, event: str, view_type: str
) -> None:
    logged = table("pk:S", stream_view_type=view_type)
    written, encoded = outcome(before, after, "ttl")
    record = change_record.decode(change_record.encode(logged, written, encoded))
    assert (record.event, record.actor, record.key) == (event, "ttl", written.key)
    assert orjson.loads(record.keys) == {"pk": {"S": "a"}}
    wants_old, wants_new = "OLD" in view_type, "NEW" in view_type
    assert record.before == (written.before.stored if written.before and wants_old else None)
    assert record.after == (encoded if wants_new else None)


@pytest.mark.parametrize("options", [{"pitr_since": 1.0}, {"held": True}])
def test_whoever_looks_back_needs_only_what_was_before(options: dict[str, Any]) -> None:
    written, encoded = outcome(OLD, NEW)
    record = change_record.decode(change_record.encode(table("pk:S", **options), written, encoded))
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
    written, encoded = outcome({**key, "v": one}, {"v": other, **key})
    assert change_record.changes_nothing(written, encoded) is same


def test_a_new_and_a_deleted_item_are_changes() -> None:
    assert not change_record.changes_nothing(*outcome(None, NEW))
    assert not change_record.changes_nothing(*outcome(OLD, None))


def test_a_key_belongs_to_the_shard_of_its_hash() -> None:
    log = OpenLog("", 0.0, (OpenShard(b"", 7), OpenShard(b"\x40", 8), OpenShard(b"\x80", 9)))
    hashes = (0, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
    assert [log.shard_of(number.to_bytes(8, "big") + b"x") for number in hashes] == [7, 7, 8, 8, 9, 9]
