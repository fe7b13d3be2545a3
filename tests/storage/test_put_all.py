"""Puts that are stored together: the same rows, counters and units as one after the other."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import items
from hashrange.core.keys import primary_key
from hashrange.core.log_shards import OpenLog, OpenShard
from hashrange.core.mutation import DeleteCommand, Origin, Outcome, PutCommand, Puts
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import layout, store
from hashrange.storage.appends import Head
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.sqlite import MemoryEngine
from schemas import index, table

LOG = OpenLog("", 0.0, (OpenShard(b"", 1), OpenShard(b"\x80", 2)))
TABLES = [
    table("pk:S"),
    table("pk:S", log=LOG, pitr_since=1.0),
    table("pk:S", log=LOG, stream_view_type="NEW_AND_OLD_IMAGES"),
]
TABLE = TABLES[0]
ORIGIN = Origin(1_700_000_000.25)

attributes = st.fixed_dictionaries(
    {"pk": st.sampled_from("abcdef").map(lambda text: {"S": text})},
    optional={"text": st.integers(0, 5000).map(lambda length: {"S": "x" * length})},
)
batches = st.lists(
    st.lists(attributes, max_size=5, unique_by=lambda item: str(item["pk"])), min_size=1, max_size=4
)


def command(item: Item) -> PutCommand:
    return PutCommand(
        primary_key.of_item(TABLE, item), item, items.item_size(item), None, items.item_json(item)
    )


def one_by_one(commands: list[PutCommand], tx: Transaction, table: Table = TABLE) -> list[Outcome]:
    return [store.apply(tx, table, each, ORIGIN) for each in commands]


def together(puts: Puts, tx: Transaction, table: Table = TABLE) -> list[float]:
    return store.put_all(tx, table, puts, ORIGIN)


def engines_with_logs() -> tuple[MemoryEngine, MemoryEngine]:
    engines = MemoryEngine(), MemoryEngine()
    for engine in engines:
        for shard in LOG.shards:
            head = layout.log_head_key(TABLE.number, shard.number)
            engine.write(lambda tx, head=head: tx.put(head, Head(1, 0).encode()))
    return engines


def contents(reader: Reader) -> tuple[object, ...]:
    rows = list(reader.scan(b"", b"\xff"))
    return rows, store.row_count(reader, TABLE), store.size_bytes(reader, TABLE)


@given(batches, st.sampled_from(TABLES))
def test_a_batch_leaves_what_its_puts_leave(batches: list[list[Item]], table: Table) -> None:
    engines = engines_with_logs()
    for batch in batches:
        commands = [command(item) for item in batch]
        left = engines[0].write(partial(one_by_one, commands, table=table))
        right = engines[1].write(partial(together, Puts.of(commands), table=table))
        assert [outcome.units for outcome in left] == right
    assert engines[0].read(contents) == engines[1].read(contents)
    for engine in engines:
        engine.close()


def test_batches_of_one_commit_and_of_one_step_see_each_other() -> None:
    engines = MemoryEngine(), MemoryEngine()
    first = [command({"pk": {"S": text}, "text": {"S": "x" * 100}}) for text in "abc"]
    second = [command({"pk": {"S": text}, "text": {"S": "x" * 2000}}) for text in "bcd"]

    def both(tx: Transaction) -> list[float]:
        return together(Puts.of(first), tx) + together(Puts.of(second), tx)

    left = engines[0].write(partial(one_by_one, [*first, *second]))
    assert [outcome.units for outcome in left] == engines[1].write(both)
    assert engines[0].read(contents) == engines[1].read(contents)
    for engine in engines:
        engine.close()


def test_rows_are_swapped_for_bytes_only() -> None:
    engine = MemoryEngine()
    for keys, values in (([b"a"], ["text"]), ([bytearray(b"a")], [b"text"])):
        with pytest.raises(TypeError):
            engine.write(lambda tx, keys=keys, values=values: tx.swap(keys, values))
    engine.close()


@given(
    st.lists(attributes, max_size=5),
    st.lists(st.sampled_from("abcdef"), max_size=5),
    st.sampled_from(TABLES),
)
def test_a_removal_leaves_what_a_delete_leaves(stored: list[Item], removed: list[str], table: Table) -> None:
    engines = engines_with_logs()
    for engine in engines:
        for item in stored:
            engine.write(partial(one_by_one, [command(item)]))
    for text in removed:
        key = primary_key.of_key(TABLE, {"pk": {"S": text}})
        outcome = engines[0].write(lambda tx, key=key: store.apply(tx, table, DeleteCommand(key), ORIGIN))
        units = engines[1].write(lambda tx, key=key: store.remove(tx, table, key, ORIGIN))
        assert outcome.units == units
    assert engines[0].read(contents) == engines[1].read(contents)
    for engine in engines:
        engine.close()


def test_puts_are_the_commands_that_they_were_made_of() -> None:
    commands = [command({"pk": {"S": text}, "text": {"S": "x"}}) for text in "abc"]
    assert list(Puts.of(commands).commands()) == commands


def test_json_that_nobody_has_made_yet_is_made() -> None:
    made = command({"pk": {"S": "a"}})
    unmade = PutCommand(made.key, made.item, made.size)
    assert Puts.of([unmade]) == Puts.of([made])


@pytest.mark.parametrize(
    ("more", "expected"), [({}, True), ({"log": LOG}, True), ({"ttl": "expires"}, False)]
)
def test_tables_whose_items_somebody_looks_into_are_written_the_long_way(
    more: dict[str, Any], expected: bool
) -> None:
    assert table("pk:S", **more).is_plain is expected
    assert not table("pk:S", indexes=(index("by-g", "g:S"),), **more).is_plain
