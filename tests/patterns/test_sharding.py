"""Write sharding: many partitions that read as one."""

import random
from decimal import Decimal
from typing import Any

import pytest

from faulty_client import FaultyClient, StillRunner, every_fault
from hashrange.patterns import BadCursor, ShardedWriter, Span, Table
from hashrange.patterns.cursors import cursor_of, position_of
from hashrange.patterns.steps import Procedure
from item_tables import unique

_SORTS = [f"2026-{number:03d}" for number in range(40)]


@pytest.fixture(scope="module")
def writer(client: Any, table: Table) -> tuple[ShardedWriter, str]:
    """Forty items over five shards."""
    writer, key = ShardedWriter(table, 5), unique()
    with StillRunner(client) as runner:
        for sort in random.Random(7).sample(_SORTS, 40):
            runner.run(writer.put(key, sort, {"text": sort}))
    return writer, key


def pages(runner: StillRunner, query: Any) -> list[list[str]]:
    """The sort keys of all pages; `query` makes the next one of a cursor."""
    found, cursor = [], None
    for _ in range(100):
        page = runner.run(query(cursor))
        found.append([item["sk"] for item in page.items])
        cursor = page.cursor
        if cursor is None:
            return found
    raise AssertionError("paging does not end")


@pytest.mark.parametrize("limit", [1, 7, 40, 1000])
@pytest.mark.parametrize("forward", [True, False])
def test_pages_come_in_order_whatever_their_size(
    writer: tuple[ShardedWriter, str], runner: StillRunner, limit: int, forward: bool
) -> None:
    sharded, key = writer
    span = Span(forward=forward)
    found = pages(runner, lambda cursor: sharded.query(key, span, limit=limit, cursor=cursor))
    assert [sort for page in found for sort in page] == (_SORTS if forward else _SORTS[::-1])
    assert all(len(page) == limit for page in found[:-1])


@pytest.mark.parametrize("forward", [True, False])
def test_bounds_are_included_on_every_page(
    writer: tuple[ShardedWriter, str], runner: StillRunner, forward: bool
) -> None:
    sharded, key = writer
    span = Span("2026-010", "2026-019", forward=forward)
    found = pages(runner, lambda cursor: sharded.query(key, span, limit=3, cursor=cursor))
    assert sorted(sort for page in found for sort in page) == _SORTS[10:20]


@pytest.mark.parametrize("forward", [True, False])
def test_equal_sort_keys_in_several_shards_are_each_given_once(
    client: Any, table: Table, runner: StillRunner, forward: bool
) -> None:
    key = unique()
    for shard in range(3):
        for sort in ("a", "b"):
            client.put_item(TableName=table.name, Item={"pk": {"S": f"{key}#{shard}"}, "sk": {"S": sort}})
    sharded = ShardedWriter(table, 3)
    span = Span(forward=forward)
    found = pages(runner, lambda cursor: sharded.query(key, span, limit=1, cursor=cursor))
    assert [sort for page in found for sort in page] == (list("aaabbb") if forward else list("bbbaaa"))


def test_an_item_is_found_again_without_a_search(
    client: Any, table: Table, writer: tuple[ShardedWriter, str]
) -> None:
    sharded, key = writer
    faulty = FaultyClient(client)
    with StillRunner(faulty) as runner:
        item = runner.run(sharded.get(key, "2026-005"))
        assert item is not None
        assert item["text"] == "2026-005"
        runner.run(sharded.put(key, "extra", {}))
        runner.run(sharded.delete(key, "extra"))
        assert runner.run(sharded.get(key, "extra")) is None
    assert faulty.sent == ["get_item", "put_item", "delete_item", "get_item"]


def test_equal_numbers_are_in_one_shard(table: Table) -> None:
    sharded = ShardedWriter(table, 256)
    assert sharded.partition("k", 10) == sharded.partition("k", Decimal("10.00"))
    assert sharded.partition("k", b"a") == sharded.partition("k", b"a")
    assert len({sharded.partition("k", number) for number in range(20)}) > 10


def test_a_page_takes_about_one_query_for_each_shard(client: Any, writer: tuple[ShardedWriter, str]) -> None:
    sharded, key = writer
    faulty = FaultyClient(client)
    with StillRunner(faulty) as runner:
        assert len(runner.run(sharded.query(key, limit=20)).items) == 20
    assert len(faulty.sent) <= 7


def test_a_throttled_shard_is_asked_again(client: Any, writer: tuple[ShardedWriter, str]) -> None:
    sharded, key = writer
    for runner, faulty, _ in every_fault(client, faults=("throttled",)):
        page = runner.run(sharded.query(key, limit=10))
        assert [item["sk"] for item in page.items] == _SORTS[:10]
        assert [pause.jitter for pause in runner.pauses] == [True] * faulty.is_met


def refusal(runner: StillRunner, query: Procedure[Any]) -> str:
    with pytest.raises(BadCursor) as caught:
        runner.run(query)
    return str(caught.value)


def test_cursors_that_were_not_given_out_are_refused(
    writer: tuple[ShardedWriter, str], runner: StillRunner
) -> None:
    sharded, key = writer
    cursor = runner.run(sharded.query(key, limit=5)).cursor
    assert cursor is not None
    assert "another query" in refusal(runner, sharded.query(key, Span("2026-001"), cursor=cursor))
    assert "another query" in refusal(runner, sharded.query(key + "x", cursor=cursor))
    assert "damaged" in refusal(runner, sharded.query(key, cursor=cursor[:-6]))
    assert "too long" in refusal(runner, sharded.query(key, cursor="A" * 8_193))


def test_a_forged_cursor_outside_the_bounds_is_refused(
    table: Table, writer: tuple[ShardedWriter, str], runner: StillRunner
) -> None:
    sharded, key = writer
    name = f"{table.name}/{key}#0/'2026-010'/None/True"
    assert position_of(name, cursor_of(name, "2026-011", 1)) == ["2026-011", 1]
    for position in (("2026-009", 1), (b"\x00", 1), (7, 1), ("2026-011",), ("2026-011", "1")):
        forged = cursor_of(name, *position)
        assert "damaged" in refusal(runner, sharded.query(key, Span("2026-010"), cursor=forged))


@pytest.mark.parametrize(("shards", "limit"), [(0, 1), (257, 1), (1, 0), (1, 1001)])
def test_shards_and_limits_have_bounds(table: Table, runner: StillRunner, shards: int, limit: int) -> None:
    with pytest.raises(ValueError, match="1 to"):
        runner.run(ShardedWriter(table, shards).query("k", limit=limit))
