"""Large values: whole or not there, in items and in a bucket."""

import io
from typing import Any

import pytest
from botocore.exceptions import ClientError

from faulty_client import FEWER_FAULTS, Death, StillRunner, every_fault, survives
from hashrange.patterns import BucketPieces, Incomplete, ItemPieces, LargeValue, Stale, Table, TooLarge
from hashrange.patterns.steps import Pause, Step
from item_tables import all_items, make_table, unique

_OLD, _NEW = b"old" * 30, b"new!" * 25


class Bucket:
    """As much of S3 as the pattern uses."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def put_object(self, *, Bucket: str, Key: str, Body: bytes) -> dict[str, Any]:  # noqa: N803
        self.objects[Key] = Body
        return {}

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        if Key not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey", "Message": "No such key."}}, "GetObject")
        return {"Body": io.BytesIO(self.objects[Key])}

    def delete_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        self.objects.pop(Key, None)
        return {}


@pytest.fixture(scope="module")
def own_table(client: Any) -> Table:
    """A table in which nothing else is, so that what is left over can be seen."""
    return Table(make_table(client, "pk", "sk"))


@pytest.fixture
def values(own_table: Table) -> LargeValue:
    return LargeValue(own_table, ItemPieces(own_table, piece_bytes=40))


def rows(client: Any, table: Table) -> list[str]:
    return sorted(item["pk"]["S"].partition("#")[0] for item in all_items(client.scan, TableName=table.name))


def test_a_value_of_more_than_an_item_can_hold(table: Table, runner: StillRunner) -> None:
    values, name = LargeValue(table, ItemPieces(table)), unique()
    content = bytes(range(256)) * 4_000
    runner.run(values.put(name, content))
    assert runner.run(values.get(name)) == content
    assert runner.run(values.get(unique())) is None


@pytest.mark.parametrize("size", [0, 1, 40, 41, 40 * 60])
def test_sizes_around_a_piece_and_a_batch(
    client: Any, own_table: Table, values: LargeValue, runner: StillRunner, size: int
) -> None:
    runner.run(values.put("k", b"x" * size))
    assert runner.run(values.get("k")) == b"x" * size
    runner.run(values.delete("k"))
    runner.run(values.delete("k"))
    assert runner.run(values.get("k")) is None
    assert rows(client, own_table) == []


def test_a_value_outlives_another_size_of_pieces(own_table: Table, runner: StillRunner) -> None:
    runner.run(LargeValue(own_table, ItemPieces(own_table, piece_bytes=7)).put("k", _OLD))
    values = LargeValue(own_table, ItemPieces(own_table, piece_bytes=50))
    assert runner.run(values.get("k")) == _OLD
    runner.run(values.delete("k"))


@pytest.mark.slow
def test_readers_see_the_old_value_or_the_new_and_a_sweep_leaves_nothing_else(
    client: Any, own_table: Table, values: LargeValue, runner: StillRunner
) -> None:
    for faulty, _, dies in every_fault(client, faults=FEWER_FAULTS):
        runner.run(values.put("k", _OLD))
        try:
            faulty.run(values.put("k", _NEW))
        except Death:
            assert dies
        stored = runner.run(values.get("k"))
        assert stored in (_OLD, _NEW) if dies else stored == _NEW
        runner.run(values.sweep("k"))
        assert rows(client, own_table) == ["LARGE", "PIECE", "PIECE", "PIECE"]
        assert runner.run(values.get("k")) == stored
        runner.run(values.delete("k"))
    assert rows(client, own_table) == []


@pytest.mark.slow
def test_the_same_with_a_bucket(client: Any, own_table: Table) -> None:
    bucket = Bucket()
    values = LargeValue(own_table, BucketPieces("b", prefix="p/"))

    def work(faulty: StillRunner) -> None:
        faulty.run(values.put("b", _OLD))
        faulty.run(values.put("b", _NEW))

    with StillRunner(client, bucket) as runner:
        for _ in survives(client, work, s3=bucket):
            assert runner.run(values.get("b")) == _NEW
            runner.run(values.sweep("b"))
            assert list(bucket.objects.values()) == [_NEW]
            assert next(iter(bucket.objects)).startswith("p/")
        bucket.objects.clear()
        with pytest.raises(Incomplete):
            runner.run(values.get("b"))
        runner.run(values.delete("b"))
    assert rows(client, own_table) == []


def test_a_value_that_was_tampered_with_is_refused(
    client: Any, own_table: Table, values: LargeValue, runner: StillRunner
) -> None:
    runner.run(values.put("k", _OLD))
    items = all_items(client.scan, TableName=own_table.name)
    piece = next(item for item in items if item["pk"]["S"].startswith("PIECE"))
    client.put_item(TableName=own_table.name, Item={**piece, "content": {"B": b"x" * 40}})
    with pytest.raises(Incomplete):
        runner.run(values.get("k"))
    runner.run(values.delete("k"))


class Replacing(StillRunner):
    """Somebody replaces the value between the manifest and the pieces."""

    def __init__(self, client: Any, values: LargeValue) -> None:
        super().__init__(client)
        self._values, self._is_replaced = values, False

    def perform(self, step: Step) -> object:
        if getattr(step, "operation", "") == "batch_get_item" and not self._is_replaced:
            self._is_replaced = True
            self.run(self._values.put("k", _NEW))
        return super().perform(step)


def test_a_value_that_is_replaced_while_it_is_read_is_read_again(
    client: Any, values: LargeValue, runner: StillRunner
) -> None:
    runner.run(values.put("k", _OLD))
    with Replacing(client, values) as reader:
        assert reader.run(values.get("k")) == _NEW
        assert len(reader.pauses) == 1
    runner.run(values.delete("k"))


class Sweeping(StillRunner):
    """A sweep takes a slow writer for dead just before it is done."""

    def __init__(self, client: Any, values: LargeValue, sweeper: StillRunner) -> None:
        super().__init__(client)
        self._values, self._sweeper = values, sweeper

    def perform(self, step: Step) -> object:
        if getattr(step, "operation", "") == "transact_write_items":
            assert self._sweeper.run(self._values.sweep("k", grace_seconds=5)) == 1
        return super().perform(step)


def test_a_writer_that_was_taken_for_dead_leaves_nothing(
    client: Any, own_table: Table, values: LargeValue, runner: StillRunner
) -> None:
    with Sweeping(client, values, runner) as slow, pytest.raises(Stale):
        slow.run(values.put("k", _NEW))
    assert runner.pauses == [Pause(5)]
    assert rows(client, own_table) == []


def test_values_have_a_bound_when_written_and_when_read(own_table: Table, runner: StillRunner) -> None:
    pieces = ItemPieces(own_table)
    small = LargeValue(own_table, pieces, bytes_max=10)
    runner.run(small.put("k", b"x" * 10))
    with pytest.raises(TooLarge):
        runner.run(small.put("k", b"x" * 11))
    with pytest.raises(TooLarge):
        runner.run(LargeValue(own_table, pieces, bytes_max=9).get("k"))
    runner.run(small.delete("k"))
    for piece_bytes in (0, 400_001):
        with pytest.raises(ValueError, match="a piece has"):
            runner.run(LargeValue(own_table, ItemPieces(own_table, piece_bytes)).put("k", b"x"))
