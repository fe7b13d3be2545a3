"""Sagas: all steps, or none that lasts."""

from typing import Any

import pytest

from faulty_client import FAULTS, Death, StillRunner, every_fault, survives
from hashrange.patterns import (
    Abort,
    PayloadDiffers,
    Saga,
    SagaFailed,
    SagaStep,
    SagaStuck,
    Stale,
    Table,
    Turn,
)
from item_tables import unique


class World:
    """What the actions change: each effect by its key, as a receiver with idempotency keys has them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.effects: list[str] = []
        self.log: list[str] = []

    def saga(self, **failing: Exception) -> Saga:
        steps = [self._step(name, failing.get(name)) for name in ("hotel", "flight", "car")]
        return Saga(self.table, "trip", steps)

    def _step(self, name: str, failure: Exception | None) -> SagaStep:
        def action(turn: Turn) -> str:
            self.log.append(name)
            if isinstance(failure, Abort):
                raise failure
            if turn.key not in self.effects:
                self.effects.append(turn.key)
            if failure is not None:
                raise failure
            return f"{name} for {turn.input}"

        def compensation(turn: Turn) -> None:
            self.log.append(f"-{name}")
            if turn.key in self.effects:
                self.effects.remove(turn.key)

        return SagaStep(name, action, compensation)


@pytest.fixture
def world(table: Table) -> World:
    return World(table)


def test_all_steps_are_done_once(world: World, runner: StillRunner) -> None:
    name = unique()
    results = runner.run(world.saga().run(name, "two"))
    assert results == {"hotel": "hotel for two", "flight": "flight for two", "car": "car for two"}
    assert runner.run(world.saga().run(name, "two")) == results
    assert world.log == ["hotel", "flight", "car"]


def test_a_step_that_aborts_undoes_those_before_it_in_reverse(world: World, runner: StillRunner) -> None:
    name = unique()
    for _ in range(2):
        with pytest.raises(SagaFailed, match="no cars"):
            runner.run(world.saga(car=Abort("no cars")).run(name))
    assert world.log == ["hotel", "flight", "car", "-flight", "-hotel"]
    assert world.effects == []


def test_a_step_that_may_have_been_done_is_undone_as_well(world: World, runner: StillRunner) -> None:
    with pytest.raises(SagaFailed, match="ConnectionError: lost"):
        runner.run(world.saga(flight=ConnectionError("lost")).run(unique()))
    assert world.log == ["hotel", "flight", "flight", "flight", "-flight", "-hotel"]
    assert world.effects == []
    assert len(runner.pauses) == 2


def test_a_compensation_that_fails_is_left_to_the_next_run(world: World, runner: StillRunner) -> None:
    name, saga = unique(), world.saga(car=Abort("no cars"))

    def refuse(turn: Turn) -> None:
        raise ConnectionError("no hotel")

    broken = [SagaStep("hotel", saga.steps[0].action, refuse), *saga.steps[1:]]
    with pytest.raises(SagaStuck, match="hotel is not compensated"):
        runner.run(Saga(world.table, "trip", broken).run(name))
    with pytest.raises(SagaFailed):
        runner.run(saga.run(name))
    assert world.log[-1] == "-hotel"
    assert world.effects == []


def test_it_goes_on_only_as_it_was_begun(world: World, runner: StillRunner) -> None:
    name = unique()
    runner.run(world.saga().run(name, {"nights": (1, 2)}))
    runner.run(world.saga().run(name, {"nights": [1, 2]}))
    runner.run(world.saga().run(name))  # whoever finds it need not know what it was begun with
    with pytest.raises(PayloadDiffers):
        runner.run(world.saga().run(name, {"nights": 3}))
    with pytest.raises(PayloadDiffers):
        runner.run(Saga(world.table, "trip", world.saga().steps[:2]).run(name))


def test_a_result_that_cannot_be_recorded_is_a_failed_step(world: World, runner: StillRunner) -> None:
    hotel = world.saga().steps[0]
    weighed = SagaStep("weigh", lambda _: 1.5, lambda _: world.log.append("-weigh"))
    with pytest.raises(SagaFailed, match="float"):
        runner.run(Saga(world.table, "trip", [hotel, weighed]).run(unique()))
    assert world.log == ["hotel", "-weigh", "-hotel"]


def test_all_is_done_whatever_goes_wrong(client: Any, world: World) -> None:
    name = unique()

    def work(faulty: StillRunner) -> None:
        faulty.run(world.saga().run(name))

    for _ in survives(client, work, faults=FAULTS):
        assert len(world.effects) == 3
        assert len(world.log) <= 4  # one of them again, where its record was not yet there
        world.effects.clear()
        world.log.clear()
        name = unique()


def test_all_is_undone_whatever_goes_wrong(client: Any, world: World, runner: StillRunner) -> None:
    for faulty, _, _ in every_fault(client):
        name = unique()
        saga = world.saga(car=ConnectionError("lost"))
        with pytest.raises((SagaFailed, Death)) as caught:
            faulty.run(saga.run(name))
        if caught.type is Death:
            with pytest.raises(SagaFailed):
                runner.run(saga.run(name))
        assert world.effects == []


def test_of_two_who_run_it_one_gives_way(world: World, runner: StillRunner) -> None:
    name = unique()
    saga = world.saga()

    def overtaken(turn: Turn) -> None:
        runner.run(saga.run(name))

    slow = Saga(world.table, "trip", [SagaStep("hotel", overtaken, overtaken), *saga.steps[1:]])
    with pytest.raises(Stale):
        runner.run(slow.run(name))
    assert world.log == ["hotel", "flight", "car"]
