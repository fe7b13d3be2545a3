"""Idempotency keys: asked twice, done once."""

from typing import Any

import pytest

from faulty_client import FAULTS, FaultyClient, StillRunner, survives
from hashrange.patterns import Idempotency, InProgress, PayloadDiffers, Refused, ResultLost, Table
from item_tables import unique


def test_the_second_caller_gets_what_the_first_got(table: Table, runner: StillRunner) -> None:
    keys, name = Idempotency(table), unique()
    runs: list[int] = []

    def work() -> dict[str, Any]:
        runs.append(1)
        return {"charged": 5, "notes": [None, True]}

    for _ in range(3):
        assert runner.run(keys.run(name, work, payload="5 EUR")) == {"charged": 5, "notes": [None, True]}
    assert len(runs) == 1
    with pytest.raises(PayloadDiffers):
        runner.run(keys.run(name, work, payload="6 EUR"))


def test_work_that_fails_is_tried_again(table: Table, runner: StillRunner) -> None:
    keys, name = Idempotency(table), unique()
    with pytest.raises(ZeroDivisionError):
        runner.run(keys.run(name, lambda: 1 // 0))
    assert runner.run(keys.run(name, lambda: "done")) == "done"


@pytest.mark.parametrize("result", [0.5, object(), "x" * 500_000], ids=["float", "object", "too large"])
def test_work_whose_result_cannot_be_kept_is_not_done_again(
    table: Table, runner: StillRunner, result: object
) -> None:
    keys, name = Idempotency(table), unique()
    runs: list[int] = []

    def work() -> object:
        runs.append(1)
        return result

    for _ in range(2):
        with pytest.raises(ResultLost):
            runner.run(keys.run(name, work))
    assert len(runs) == 1


def test_a_caller_in_the_middle_of_it_is_waited_for(table: Table, runner: StillRunner) -> None:
    keys, name = Idempotency(table, lease_seconds=10), unique()
    outcomes: list[Any] = []

    def work() -> str:
        with pytest.raises(InProgress):
            runner.run(keys.run(name, lambda: "second"))
        # A second caller that waits for a whole lease takes the first for dead; its result then counts for both.
        outcomes.append(runner.run(keys.run(name, lambda: "second", wait_seconds=30)))
        return "first"

    outcomes.append(runner.run(keys.run(name, work)))
    assert outcomes == ["second", "second"]


def test_it_is_done_whatever_goes_wrong(client: Any, table: Table, runner: StillRunner) -> None:
    keys, name = Idempotency(table, lease_seconds=2), unique()
    runs: list[int] = []

    def counted() -> int:
        runs.append(1)
        return len(runs)

    def work(faulty: StillRunner) -> None:
        assert faulty.run(keys.run(name, counted, wait_seconds=5)) == len(runs)

    for faulty in survives(client, work, faults=FAULTS):
        assert runner.run(keys.run(name, lambda: "not again")) == len(runs)
        # Twice only if the process died with the work done and its result not yet kept.
        assert len(runs) <= 2
        assert len(faulty.sent) < 10
        name = unique()
        runs.clear()


def test_a_claim_that_is_sent_twice_is_no_other_caller(client: Any, table: Table) -> None:
    with StillRunner(FaultyClient(client, "sent twice", 0)) as runner:
        assert runner.run(Idempotency(table).run(unique(), lambda: "done")) == "done"
        assert runner.pauses == []


def test_writes_are_made_exactly_once_whatever_goes_wrong(
    client: Any, table: Table, runner: StillRunner
) -> None:
    keys, name = Idempotency(table), unique()
    done: list[bool] = []

    def work(faulty: StillRunner) -> None:
        add = table.updating(table.key(name, "balance"), "ADD #euros :five", five=5)
        done.append(faulty.run(keys.once(name, [add])))

    for faulty in survives(client, work):
        assert faulty.dies or done == [True]
        work(runner)
        assert done[-1] is False
        done.clear()
        balance = runner.run(table.get(table.key(name, "balance")))
        assert balance is not None
        assert balance["euros"] == 5
        name = unique()


def test_another_refusal_is_not_taken_for_a_repetition(table: Table, runner: StillRunner) -> None:
    keys, name = Idempotency(table), unique()
    with pytest.raises(Refused) as caught:
        runner.run(keys.once(name, [table.checking(table.key(name, "x"), "attribute_exists(#pk)")]))
    assert caught.value.code == "TransactionCanceledException"
    assert runner.run(keys.once(name, [])) is True
    with pytest.raises(ValueError, match="99 writes"):
        runner.run(keys.once(name, [table.putting({})] * 100))


def test_records_are_left_to_ttl(client: Any, table: Table) -> None:
    name = unique()
    with StillRunner(client) as runner:
        runner.run(Idempotency(table, kept_seconds=60).once(name, []))
        record = runner.run(table.get(Idempotency(table)._key(name)))
    assert record is not None
    assert record["expires_at"] > 1_700_000_000
