"""The outbox: an event for every change, delivered in order, at least once."""

from typing import Any

import pytest

from faulty_client import FAULTS, StillRunner, survives
from hashrange.patterns import Drained, Event, Outbox, OutboxConsumer, Table, TransactionCanceled, TryLater
from item_tables import all_items, make_table, unique


@pytest.fixture(scope="module")
def outbox(client: Any) -> Outbox:
    """One with a table of its own: a consumer takes whatever is there."""
    return Outbox(Table(make_table(client, "pk", "sk")), shards=1)


def stored(client: Any, outbox: Outbox, partition: str) -> list[str]:
    parameters = {
        "TableName": outbox.table.name,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": partition}},
    }
    return [item["sk"]["S"] for item in all_items(client.query, **parameters)]


def test_change_and_event_are_stored_together_or_not_at_all(
    client: Any, outbox: Outbox, runner: StillRunner
) -> None:
    order = outbox.table.key(unique(), "ORDER")
    new = outbox.table.putting(order, "attribute_not_exists(#pk)")
    runner.run(outbox.write([new], [Event(order["pk"], 1, "placed")]))
    with pytest.raises(TransactionCanceled):
        runner.run(outbox.write([new], [Event(order["pk"], 2, "placed again")]))
    received: list[Event] = []
    assert runner.run(OutboxConsumer(outbox).drain(0, received.append)) == Drained(delivered=1)
    assert received == [Event(order["pk"], 1, "placed")]
    assert received[0].id == f"{order['pk']}/1"


def test_events_of_an_aggregate_come_in_order_over_pages(outbox: Outbox, runner: StillRunner) -> None:
    names = [unique(), unique()]
    for sequence in range(40):
        runner.run(outbox.write([], [Event(name, sequence, sequence) for name in names]))
    received: list[Event] = []
    assert runner.run(OutboxConsumer(outbox).drain(0, received.append)) == Drained(delivered=80)
    for name in names:
        assert [event.body for event in received if event.aggregate == name] == list(range(40))


def test_an_event_that_fails_holds_up_its_aggregate_and_is_put_aside_in_the_end(
    client: Any, outbox: Outbox, runner: StillRunner
) -> None:
    bad, good = unique("a-bad"), unique("b-good")
    for name in (bad, good):
        runner.run(outbox.write([], [Event(name, 1, 1), Event(name, 2, 2)]))
    received: list[str] = []

    def deliver(event: Event) -> None:
        if event.id == f"{bad}/1":
            raise ConnectionError("no receiver")
        received.append(event.id)

    consumer = OutboxConsumer(outbox, attempts_max=3)
    assert runner.run(consumer.drain(0, deliver)) == Drained(delivered=2, failed=1)
    assert received == [f"{good}/1", f"{good}/2"]
    assert runner.run(consumer.drain(0, deliver)) == Drained(failed=1)
    assert runner.run(consumer.drain(0, deliver)) == Drained(delivered=1, dead=1)
    assert received[-1] == f"{bad}/2"
    assert stored(client, outbox, "OUTBOX-DEAD#0") == [f"{bad}#{1:015d}"]
    assert stored(client, outbox, "OUTBOX#0") == []


def test_a_receiver_that_is_away_costs_no_attempts(client: Any, outbox: Outbox, runner: StillRunner) -> None:
    name = unique()
    runner.run(outbox.write([], [Event(name, 1, 1)]))

    def away(event: Event) -> None:
        raise TryLater("back at nine")

    consumer = OutboxConsumer(outbox, attempts_max=1)
    for _ in range(3):
        assert runner.run(consumer.drain(0, away)) == Drained()
    assert runner.run(consumer.drain(0, lambda _: None)) == Drained(delivered=1)


def test_a_round_ends_when_everything_fails(outbox: Outbox, runner: StillRunner) -> None:
    name = unique()
    # One aggregate's events sort between another's: that must not let the other's second event through.
    names = [name, f"{name}#{1:015d}", f"{name}b"]
    runner.run(outbox.write([], [Event(name, sequence, 0) for name in names for sequence in (1, 2)]))
    tried: list[str] = []

    def refuse(event: Event) -> None:
        tried.append(event.id)
        raise ValueError("no")

    assert runner.run(OutboxConsumer(outbox, failures_per_round_max=2).drain(0, refuse)) == Drained(failed=2)
    assert tried == [f"{names[0]}/1", f"{names[1]}/1"]
    assert runner.run(OutboxConsumer(outbox).drain(0, refuse)) == Drained(failed=3)
    assert runner.run(OutboxConsumer(outbox).drain(0, lambda _: None)) == Drained(delivered=6)


def test_every_event_is_delivered_whatever_goes_wrong(client: Any, outbox: Outbox) -> None:
    name = unique()
    received: list[str] = []

    def work(faulty: StillRunner) -> None:
        events = [Event(name, 1, "one"), Event(name, 2, "two")]
        faulty.run(outbox.write([outbox.table.putting(outbox.table.key(name, "x"))], events, token=name))
        faulty.run(OutboxConsumer(outbox).drain(0, lambda event: received.append(event.id)))

    for _ in survives(client, work, faults=FAULTS):
        first, second = f"{name}/1", f"{name}/2"
        assert set(received) == {first, second}
        assert received.index(first) < received.index(second)
        # Once more only where the process died between a delivery and its note.
        assert len(received) <= 3
        assert stored(client, outbox, "OUTBOX#0") == []
        name = unique()
        received.clear()


def test_failures_are_noted_whatever_goes_wrong(client: Any, outbox: Outbox, runner: StillRunner) -> None:
    name = unique()
    consumer = OutboxConsumer(outbox, attempts_max=2)

    def refuse(event: Event) -> None:
        raise ValueError(event.id)

    def work(faulty: StillRunner) -> None:
        faulty.run(outbox.write([], [Event(name, 1, 1)], token=name))
        faulty.run(consumer.drain(0, refuse))
        faulty.run(consumer.drain(0, refuse))

    for _ in survives(client, work):
        assert stored(client, outbox, "OUTBOX#0") == []
        assert f"{name}#{1:015d}" in stored(client, outbox, "OUTBOX-DEAD#0")
        name = unique()


def test_bounds(outbox: Outbox, runner: StillRunner) -> None:
    for sequence in (-1, 10**15):
        with pytest.raises(ValueError, match="15 digits"):
            runner.run(outbox.write([], [Event("x", sequence, None)]))
    with pytest.raises(ValueError, match="at most 100"):
        runner.run(outbox.write([], [Event("x", number, None) for number in range(101)]))
