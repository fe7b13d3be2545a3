"""The past of a table: read while writes go on, it is exactly what it was at the moment."""

import random
from functools import partial
from typing import Any

import pytest

from clocked import MIDNIGHT, Clocked
from hashrange.core import items, partitions
from hashrange.core.schema import Table, changed
from hashrange.core.values import Item
from hashrange.jobs.change_logs import TrimLogs
from hashrange.storage import catalogue, change_log, history, holds, layout
from hashrange.storage.changed_items import ChangedItems
from hashrange.storage.engine import Engine
from hashrange.storage.history import PastTable
from new_tables import request as new_table

State = dict[str, Item]


class Past:
    """A service with one table, a model of it, and what the model was at every second."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.service = Clocked(engine, transition_ms=0)
        self.random = random.Random(seed)
        self.service.call("CreateTable", **new_table("pk", TableName="tab"))
        self.service.settle()
        self.model: State = {}
        self.states: dict[int, State] = {}  # by microsecond

    @property
    def table(self) -> Table:
        found = self.service.catalogue.find("000000000000", "us-east-1", "tab")
        assert found is not None
        return found

    def change(self, **settings: Any) -> None:
        """Change the table's record as an operation would."""
        now = self.service.clock.now()
        after = changed(self.table, version=self.table.version + 1, **settings)
        self.service.engine.write(lambda tx: catalogue.save(tx, after, now))
        self.service.catalogue.refresh(*catalogue.address(after))
        self.service.clock.advance(1)  # whatever is written to a new shard is a little younger than the shard

    def write(self) -> None:
        """Put, delete or transact some items of few keys, then let time pass."""
        keys = [f"k{self.random.randrange(30)}" for _ in range(self.random.choice([1, 1, 1, 3]))]
        actions: list[dict[str, Any]] = []
        for key in dict.fromkeys(keys):
            if self.random.random() < 0.3:
                self.model.pop(key, None)
                actions.append({"Delete": {"TableName": "tab", "Key": {"pk": {"S": key}}}})
            else:
                item: Item = {"pk": {"S": key}, "v": {"N": str(self.random.randrange(5))}}
                self.model[key] = item
                actions.append({"Put": {"TableName": "tab", "Item": item}})
        self.service.call("TransactWriteItems", TransactItems=actions)
        self.states[change_log.microseconds(self.service.clock.now())] = dict(self.model)
        self.service.clock.advance(1)

    def at(self, moment_us: int) -> State:
        times = [time for time in self.states if time <= moment_us]
        return self.states[max(times)] if times else {}


def state(rows: list[history.Row]) -> State:
    decoded = [items.decode(stored) for _, stored in rows]
    return {item["pk"]["S"]: item for item in decoded}


def read(past: Past, moment_us: int, *, between: Any = lambda: None) -> State:
    reader = PastTable(past.service.engine, past.table, moment_us)
    rows: list[history.Row] = []
    for chunk in reader.chunks():
        rows += chunk
        between()
    reader.close()
    assert [key for key, _ in rows] == sorted({key for key, _ in rows})
    return state(rows)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "CHUNK_ROWS", 4)


@pytest.mark.parametrize("seed", range(3))
def test_every_moment_of_the_window_can_be_read(engine: Engine, seed: int) -> None:
    past = Past(engine, seed)
    for _ in range(10):
        past.write()
    past.change(pitr_since=past.service.clock.now())
    since = change_log.microseconds(past.service.clock.now())
    past.states[since] = dict(past.model)
    for step in range(40):
        past.write()
        if step in (12, 25):  # the log goes on in other shards
            past.change(partitions=partitions.even(4 if step == 12 else 16))
        if step == 18:
            past.change(stream_view_type="KEYS_ONLY", stream_label="now")
    moments = [moment for moment in past.states if moment >= since]
    for moment in past.random.sample(moments, 8):
        assert read(past, moment, between=past.write) == past.at(moment)


def test_a_hold_fixes_a_moment_where_there_was_no_log(engine: Engine) -> None:
    past = Past(engine, 7)
    for _ in range(20):
        past.write()
    before, table, now = dict(past.model), past.table, past.service.clock.now()
    assert table.log is None
    moment = past.service.engine.write(lambda tx: holds.hold(tx, table, "backup", now))
    past.service.catalogue.refresh(*catalogue.address(table))
    past.service.clock.advance(-5)  # no clock can put a write before the moment
    for _ in range(5):
        past.write()
    assert read(past, moment, between=past.write) == before
    past.service.engine.write(lambda tx: holds.release(tx, past.table, "backup", now))
    past.service.catalogue.refresh(*catalogue.address(table))
    assert past.table.log is None
    assert not past.table.held


def test_a_reading_that_was_cut_off_goes_on_behind_a_key(engine: Engine) -> None:
    past = Past(engine, 3)
    past.change(pitr_since=past.service.clock.now())
    for _ in range(30):
        past.write()
    moment = change_log.microseconds(past.service.clock.now()) - 1
    expected = dict(past.model)
    first = PastTable(engine, past.table, moment)
    rows = next(first.chunks())
    first.close()
    past.write()
    second = PastTable(engine, past.table, moment)
    for chunk in second.chunks(after=rows[-1][0]):
        rows += chunk
        past.write()
    second.close()
    assert state(rows) == expected


def test_the_rows_of_a_deleted_table_wait_for_the_last_hold(engine: Engine) -> None:
    past = Past(engine, 5)
    for _ in range(10):
        past.write()
    table, now = past.table, past.service.clock.now()
    for holder in ("one", "two"):
        stored = engine.read(lambda reader: catalogue.stored_table(reader, *catalogue.address(table)))
        assert stored is not None
        moment = engine.write(partial(holds.hold, table=stored, holder=holder, now=now))
    past.service.catalogue.refresh(*catalogue.address(table))
    past.service.call("DeleteTable", TableName="tab")
    past.service.settle()
    reader = PastTable(engine, table, moment)
    assert state([row for chunk in reader.chunks() for row in chunk]) == past.model
    reader.close()
    prefix = layout.table_rows_prefix(table.number)
    for holder, remains in (("one", True), ("two", False)):
        engine.write(partial(holds.release, table=table, holder=holder, now=now))
        past.service.run_jobs()
        found = engine.read(lambda reader: next(reader.scan(prefix, prefix + b"\xff" * 9, limit=1), None))
        assert (found is not None) is remains


def log_rows(engine: Engine) -> int:
    kinds = (layout.LOG, layout.LOG_HEAD, layout.LOG_SHARD, layout.STREAM, layout.HOLD)
    return engine.read(
        lambda reader: sum(1 for kind in kinds for _ in reader.scan(kind, bytes([kind[0] + 1])))
    )


def run(job: TrimLogs, now: float) -> None:
    for _ in range(1000):
        if job.step(now) >= 1:
            return
    raise AssertionError("the job does not come to rest")


def test_what_nobody_may_read_any_more_is_trimmed(engine: Engine) -> None:
    past = Past(engine, 9)
    trim = TrimLogs(engine, past.service.catalogue)
    past.change(pitr_since=past.service.clock.now(), pitr_days=2)
    for _ in range(30):
        past.write()
    run(trim, past.service.clock.now())
    kept = log_rows(engine)
    assert kept > 30
    past.service.clock.advance(2 * 86400 - 10)
    run(trim, past.service.clock.now())
    assert log_rows(engine) == kept, "there is a margin"
    past.service.clock.advance(3600)
    run(trim, past.service.clock.now())
    assert log_rows(engine) == 2 * len(past.table.partitions), "open shards and their heads"
    past.change(pitr_since=None)
    run(trim, past.service.clock.now())
    assert log_rows(engine) == 0


def test_a_hold_keeps_the_log_from_being_trimmed(engine: Engine) -> None:
    past = Past(engine, 11)
    trim = TrimLogs(engine, past.service.catalogue)
    past.change(pitr_since=past.service.clock.now(), pitr_days=1)
    for _ in range(10):
        past.write()
    moment = change_log.microseconds(MIDNIGHT + 6)
    table, now = past.table, past.service.clock.now()
    engine.write(lambda tx: holds.hold(tx, table, "restore", now, moment_us=moment))
    past.service.clock.advance(3 * 86400)
    run(trim, past.service.clock.now())
    assert read(past, moment) == past.at(moment)


def test_changed_items_are_the_difference_of_two_moments(engine: Engine) -> None:
    past = Past(engine, 21)
    for _ in range(10):
        past.write()
    past.change(pitr_since=past.service.clock.now())
    start = change_log.microseconds(past.service.clock.now()) - 1
    past.states[start] = dict(past.model)
    for step in range(40):
        past.write()
        if step == 20:
            past.change(partitions=partitions.even(4))
    moments = sorted(moment for moment in past.states if moment >= start)
    for _ in range(4):
        first, last = sorted(past.random.sample(moments, 2))
        reader = ChangedItems(engine, past.table, first, last)
        found = []
        for chunk in reader.chunks():
            found += chunk
            past.write()
        reader.close()
        before, after = past.at(first), past.at(last)
        for item in found:
            images = [None if image is None else items.decode(image) for image in (item.before, item.after)]
            name = next(image for image in images if image is not None)["pk"]["S"]
            assert images == [before.pop(name, None), after.pop(name, None)]
            assert first < item.time_us <= last
        assert before == after, "what was not changed"
