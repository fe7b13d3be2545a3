"""Migrations: both tables say the same, whatever happens meanwhile."""

import io
from collections.abc import Callable
from typing import Any

import pytest

from faulty_client import InterruptedRunner, StillRunner, survives
from hashrange.patterns import (
    Backfill,
    Compared,
    Migration,
    Progress,
    ProgressBar,
    Table,
    Verification,
    WrongPhase,
    verification,
)
from hashrange.patterns.steps import SdkCall, Step
from hashrange.patterns.values import Item, plain_item
from item_tables import all_items, make_table, unique


def transformed(item: Item) -> Item | None:
    """Names become upper case; drafts stay behind. The key is spelled differently over there."""
    if item.get("is_draft"):
        return None
    return {**new_key(item), "name": item["name"].upper()}


def new_key(key: Item) -> Item:
    return {"part": "new#" + key["pk"], "sort": key["sk"]}


def old_key(key: Item) -> Item | None:
    return {"pk": key["part"][4:], "sk": key["sort"]} if key["part"].startswith("new#") else None


@pytest.fixture(scope="module")
def make(client: Any, table: Table) -> Callable[[], Migration]:
    """A migration between two tables, emptied, with a state of its own."""
    source = Table(make_table(client, "pk", "sk"))
    target = Table(make_table(client, "part", "sort"), partition_key="part", sort_key="sort")

    def emptied() -> Migration:
        for place in (source, target):
            items = all_items(client.scan, TableName=place.name)
            with StillRunner(client) as runner:
                runner.run(place.write_many(deletes=[plain_item(place.key_of(item)) for item in items]))
        return Migration(unique(), source, target, table, transformed, new_key, old_key)

    return emptied


def fill(runner: StillRunner, migration: Migration, count: int = 12) -> None:
    """Items from before the migration, one of them a draft."""
    items: list[Item] = [{"pk": f"k{number}", "sk": "x", "name": f"name {number}"} for number in range(count)]
    items.append({"pk": "draft", "sk": "x", "name": "draft", "is_draft": True})
    runner.run(migration.source.write_many(puts=items))


def targets(client: Any, migration: Migration) -> set[str]:
    return {item["part"]["S"] for item in all_items(client.scan, TableName=migration.target.name)}


def test_from_the_beginning_to_the_flip_and_back(
    client: Any, make: Callable[[], Migration], runner: StillRunner
) -> None:
    migration = make()
    fill(runner, migration, 120)
    runner.run(migration.begin(segments=2))
    with pytest.raises(WrongPhase):
        runner.run(migration.flip())
    key = {"pk": "k1", "sk": "x"}
    runner.run(migration.put({**key, "name": "changed"}))
    runner.run(migration.delete({"pk": "k2", "sk": "x"}))
    shown: list[Progress] = []
    read = [runner.run(Backfill(migration, items_per_second=50).run(part, shown.append)) for part in range(2)]
    assert sum(read) == 120
    assert shown[-1].done == read[1]
    assert runner.run(migration.phase()) == "backfilled"
    assert runner.run(Verification(migration).run()) == Compared(compared=120)
    assert runner.run(migration.get(key)) == {**key, "name": "changed"}
    runner.run(migration.flip())
    runner.run(migration.flip())
    assert runner.run(migration.get(key)) == {**new_key(key), "name": "CHANGED"}
    assert len(targets(client, migration)) == 119
    runner.run(migration.put({**key, "name": "later"}))
    runner.run(migration.flip_back())
    assert runner.run(migration.get(key)) == {**key, "name": "later"}


def test_the_backfill_keeps_to_its_rate(make: Callable[[], Migration], runner: StillRunner) -> None:
    migration = make()
    fill(runner, migration, 120)
    runner.run(migration.begin(segments=1))
    runner.run(Backfill(migration, items_per_second=10).run(0))
    # Pages of 50, 50 and 21: the last is read ten seconds after the first two's worth.
    assert [pause.seconds for pause in runner.pauses] == [5.0, 5.0]


@pytest.mark.slow
def test_a_backfill_goes_on_where_it_was_interrupted_whatever_goes_wrong(
    client: Any, make: Callable[[], Migration], runner: StillRunner
) -> None:
    migration = make()

    def work(faulty: StillRunner) -> None:
        faulty.run(migration.begin(segments=1))
        faulty.run(Backfill(migration).run(0))

    fill(runner, migration, 2)
    for _ in survives(client, work):
        assert targets(client, migration) == {"new#k0", "new#k1"}
        assert runner.run(migration.phase()) == "backfilled"
        migration = make()
        fill(runner, migration, 2)


def test_it_is_verified_and_flipped_whatever_goes_wrong(
    client: Any, make: Callable[[], Migration], runner: StillRunner
) -> None:
    migration = make()
    fill(runner, migration, 2)
    runner.run(migration.begin(segments=1))
    runner.run(Backfill(migration).run(0))

    def work(faulty: StillRunner) -> None:
        assert faulty.run(Verification(migration).run()).is_equal
        faulty.run(migration.flip())

    for _ in survives(client, work):
        assert runner.run(migration.phase()) == "flipped"
        again = migration.state.updating(migration.phase_key(), "SET #phase = :phase", phase="backfilled")
        runner.run(migration.state.write(again))


def test_it_neither_brings_back_what_was_deleted_nor_overwrites_what_is_newer(
    client: Any, make: Callable[[], Migration], runner: StillRunner
) -> None:
    migration = make()
    fill(runner, migration, 5)
    runner.run(migration.begin(segments=1))

    def clients() -> None:
        runner.run(migration.delete({"pk": "k1", "sk": "x"}))
        runner.run(migration.put({"pk": "k2", "sk": "x", "name": "newer"}))

    with InterruptedRunner(client, "transact_write_items", clients) as busy:
        busy.run(Backfill(migration).run(0))
    assert targets(client, migration) == {"new#k0", "new#k2", "new#k3", "new#k4"}
    newer = runner.run(migration.target.get(new_key({"pk": "k2", "sk": "x"})))
    assert newer is not None
    assert newer["name"] == "NEWER"
    assert runner.run(Verification(migration).run()).is_equal


def test_a_dual_write_between_two_reads_is_no_difference(
    client: Any, make: Callable[[], Migration], runner: StillRunner
) -> None:
    migration = make()
    fill(runner, migration, 3)
    runner.run(migration.begin(segments=1))
    runner.run(Backfill(migration).run(0))
    newer = migration.put({"pk": "k1", "sk": "x", "name": "newer"})
    with InterruptedRunner(client, "batch_get_item", lambda: runner.run(newer)) as busy:
        assert busy.run(Verification(migration).run()) == Compared(compared=4)


class ScanCounter(StillRunner):
    """Counts pages, and dies before one of them."""

    def __init__(self, client: Any, dies_at: int | None = None) -> None:
        super().__init__(client)
        self.pages = 0
        self._dies_at = dies_at

    def perform(self, step: Step) -> object:
        if isinstance(step, SdkCall) and step.operation == "scan":
            if self.pages == self._dies_at:
                raise KeyboardInterrupt
            self.pages += 1
        return super().perform(step)


def test_a_verification_goes_on_where_it_was_interrupted(
    client: Any, make: Callable[[], Migration], runner: StillRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "_PAGE_ITEMS", 2)
    migration = make()
    fill(runner, migration, 5)
    runner.run(migration.begin(segments=1))
    runner.run(Backfill(migration).run(0))
    runner.run(migration.target.write(migration.target.deleting(new_key({"pk": "k0", "sk": "x"}))))

    def whole(*, afresh: bool = False) -> tuple[Compared, int]:
        with ScanCounter(client) as counter:
            return counter.run(Verification(migration).run(afresh=afresh)), counter.pages

    def interrupted() -> None:
        with ScanCounter(client, dies_at=4) as counter, pytest.raises(KeyboardInterrupt):
            counter.run(Verification(migration).run())

    outcome, pages = whole()
    assert (outcome.compared, outcome.missing) == (6, 1)
    interrupted()
    # The four pages before are not read again, and what they had found is still known.
    assert whole() == (outcome, pages - 4)
    interrupted()
    assert whole(afresh=True) == (outcome, pages)


def test_differences_are_counted_and_keep_it_from_flipping(
    client: Any, make: Callable[[], Migration], runner: StillRunner
) -> None:
    migration = make()
    fill(runner, migration, 5)
    runner.run(migration.begin(segments=1))
    runner.run(Backfill(migration).run(0))
    target = migration.target
    runner.run(target.write(target.deleting(new_key({"pk": "k0", "sk": "x"}))))
    runner.run(target.write(target.putting({**new_key({"pk": "k1", "sk": "x"}), "name": "WRONG"})))
    runner.run(target.write(target.putting({**new_key({"pk": "gone", "sk": "x"}), "name": "GONE"})))
    runner.run(target.write(target.putting({"part": "of another application", "sort": "x"})))
    outcome = runner.run(Verification(migration).run())
    assert (outcome.missing, outcome.different, outcome.surplus) == (1, 1, 1)
    assert {key["pk"] for key in outcome.samples} == {"k0", "k1", "gone"}
    with pytest.raises(WrongPhase):
        runner.run(migration.flip())


def test_what_is_refused(make: Callable[[], Migration], table: Table, runner: StillRunner) -> None:
    migration = make()
    with pytest.raises(WrongPhase, match="has not begun"):
        runner.run(migration.phase())
    for segments in (0, 1001):
        with pytest.raises(ValueError, match="1 to 1000"):
            runner.run(migration.begin(segments=segments))
    with pytest.raises(ValueError, match="one table to another"):
        runner.run(Migration("x", table, table, table).begin())
    with pytest.raises(ValueError, match="disagree"):
        Migration("x", table, table, table, lambda item: {**item, "pk": "other"}).made({"pk": "k", "sk": "x"})
    with pytest.raises(ValueError, match="rate"):
        runner.run(Verification(migration, items_per_second=0).run())


def test_a_progress_bar() -> None:
    stream = io.StringIO()
    bar = ProgressBar("copy", stream)
    for progress in (Progress(0, 10), Progress(3, 10), Progress(12, 10), Progress(0, 0)):
        bar(progress)
    lines = stream.getvalue().split("\r")[1:]
    assert lines[0] == "copy [" + "-" * 30 + "]   0% 0/10"
    assert lines[1] == "copy [" + "#" * 9 + "-" * 21 + "]  30% 3/10"
    assert lines[2] == "copy [" + "#" * 30 + "] 100% 12/12"
    assert lines[3].endswith("100% 0/0")
