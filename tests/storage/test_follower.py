"""Two servers' catalogues over one engine: neither overlooks what the other has changed."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from clocked import Clocked
from hashrange.storage import layout
from hashrange.storage.catalogue import address
from hashrange.storage.engine import Transaction
from hashrange.storage.follower import Follower
from hashrange.storage.sqlite import MemoryEngine
from item_tables import definitions, key_schema


class AtOnce(MemoryEngine):
    """An engine that answers every read before the caller goes on."""

    after_read: Callable[[], None] | None = None  # called once, behind the next read

    def read(self, step: Any, *, seconds: float | None = None) -> Any:
        result = super().read(step, seconds=seconds)
        then, self.after_read = self.after_read, None
        if then is not None:
            then()
        return result

    def submit_read(self, step: Any, done: Any, **_options: Any) -> None:
        try:
            result = self.read(step)
        except Exception as error:  # noqa: BLE001 - it is the step's outcome
            done(None, error)
        else:
            done(result, None)


def create(service: Clocked, name: str) -> Any:
    return service.call(
        "CreateTable",
        TableName=name,
        KeySchema=key_schema("pk"),
        AttributeDefinitions=definitions(pk="S"),
        BillingMode="PAY_PER_REQUEST",
    )


@pytest.fixture
def pair() -> tuple[Clocked, Clocked]:
    engine = AtOnce()
    return Clocked(engine), Clocked(engine)


def follow(service: Clocked) -> None:
    """What a server does every now and then."""
    Follower(service.engine, service.catalogue).poll()


def test_a_change_by_another_server_is_seen(pair: tuple[Clocked, Clocked]) -> None:
    one, two = pair
    create(one, "ones")
    follow(two)
    assert two.describe("ones")["TableName"] == "ones"


def test_a_change_just_before_an_own_one_is_not_overlooked(pair: tuple[Clocked, Clocked]) -> None:
    """An own change is taken over by itself: that must not pass for having seen the other's."""
    one, two = pair
    create(one, "ones")
    create(two, "twos")
    assert two.describe("twos")["TableName"] == "twos"
    follow(two)
    assert two.describe("ones")["TableName"] == "ones"


def test_own_changes_alone_are_not_read_again(pair: tuple[Clocked, Clocked]) -> None:
    one, _ = pair
    reads: list[object] = []
    create(one, "first")
    create(one, "second")
    one.catalogue.on_change = lambda: reads.append("again")
    follow(one)
    assert reads == []


def test_reading_an_unchanged_record_again_does_not_hide_a_change(pair: tuple[Clocked, Clocked]) -> None:
    """The one change since may be of another table: its server would answer ResourceNotFoundException for it."""
    one, two = pair
    create(two, "twos")
    (known,) = two.catalogue.tables()
    create(one, "ones")
    two.catalogue.refresh(*address(known))
    follow(two)
    assert two.describe("ones")["TableName"] == "ones"


def test_the_epoch_is_never_behind_a_record_that_was_read_again(pair: tuple[Clocked, Clocked]) -> None:
    """Else an older backup of just that epoch, which lacks the record, would not be noticed."""
    one, two = pair
    create(two, "twos")
    (known,) = two.catalogue.tables()
    before = one.catalogue.epoch
    create(two, "more")
    one.catalogue.refresh(*address(known))
    assert {table.name for table in one.catalogue.tables()} == {"twos", "more"}
    assert one.catalogue.epoch == two.catalogue.epoch != before


def test_the_records_of_an_older_database_are_not_taken_over(pair: tuple[Clocked, Clocked]) -> None:
    """Else nobody would notice that an older backup has taken the place of the database."""
    one, _ = pair
    create(one, "kept")
    older = one.engine.read(lambda reader: reader.get(layout.CATALOGUE_EPOCH)) or b""
    create(one, "lost")
    (lost,) = (table for table in one.catalogue.tables() if table.name == "lost")
    newest = one.catalogue.epoch

    def restore(tx: Transaction) -> None:
        tx.put(layout.CATALOGUE_EPOCH, older)
        tx.delete(layout.catalogue_key(*address(lost)))

    one.engine.write(restore)
    one.catalogue.refresh(*address(lost))
    assert one.catalogue.epoch == newest
    assert {table.name for table in one.catalogue.tables()} == {"kept", "lost"}


def test_nor_are_they_if_it_took_that_place_between_two_reads(pair: tuple[Clocked, Clocked]) -> None:
    one, two = pair
    create(one, "kept")
    follow(two)
    (kept,) = two.catalogue.tables()
    known = two.catalogue.epoch
    create(one, "first")
    create(one, "second")

    def restore(tx: Transaction) -> None:
        tx.put(layout.CATALOGUE_EPOCH, known)
        for table in one.catalogue.tables():
            tx.delete(layout.catalogue_key(*address(table)))

    engine: Any = two.engine
    engine.after_read = partial(engine.write, restore)
    two.catalogue.refresh(*address(kept))
    assert [table.name for table in two.catalogue.tables()] == ["kept"]
