"""Long writes: what they compute they compute before their transaction, which only makes sure that it still holds."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from calls import background_of, fake_call, loop_engine, noted, outcome, shared_executor, value_of
from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Answer, Plan, Read, Write
from hashrange.api.results import Result
from hashrange.chain.executor import LocalExecutor
from hashrange.chain.links import Runner
from hashrange.chain.long_writes import REHEARSALS_MAX
from hashrange.chain.rehearsal import Outdated, Rehearsal, Unrehearsable
from hashrange.core import effort
from hashrange.core.errors import Invalid
from hashrange.storage.errors import Conflict
from hashrange.storage.sqlite import MemoryEngine

KEY, OTHER = b"\xf0key", b"\xf0other"
LONG = effort.SHARED_UNITS + 1


def local_runner(service: Clocked) -> Runner:
    return LocalExecutor(service.engine, background_of()).run


def shared_runner(service: Clocked) -> Runner:
    return shared_executor(service, background=background_of()).run


Runners = Callable[[Clocked], Runner]
both = pytest.mark.parametrize("runner", [local_runner, shared_runner], ids=["local", "shared"])


def on_a_loop(test: Callable[[Clocked], Coroutine[Any, Any, None]], kind: Any = MemoryEngine) -> None:
    async def main() -> None:
        service = Clocked(loop_engine(kind))
        try:
            await test(service)
        finally:
            service.engine.close()

    asyncio.run(main())


class Long:
    """A write that takes long: it adds one to a number, and notes on which threads it was tried."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def plan(self, _context: Any, _request: Any) -> Plan:
        return Write(self.step, conflict=lambda: ApiError("Collided", None))

    def step(self, tx: Any) -> Result:
        self.threads.append(threading.current_thread().name)
        number = int(tx.get(KEY) or b"0")
        effort.spend(LONG)
        self.meanwhile()
        tx.put(KEY, str(number + 1).encode())
        tx.add(KEY, 1)
        return noted(number + 1)


def stored(service: Clocked, key: bytes = KEY) -> bytes | None:
    return service.engine.read(lambda reader: reader.get(key))


@both
def test_a_long_write_leaves_the_shared_thread_and_is_written_all_the_same(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        write = Long()
        run = runner(service)
        for _ in range(3):
            _, error = await outcome(run, fake_call(service.context, write.plan))
            assert error is None
        assert stored(service) == b"3"
        assert service.engine.read(lambda reader: reader.counter(KEY)) == 3
        # Each was tried once where others wait, and then once where nobody does.
        assert [name.startswith("hashrange-background") for name in write.threads] == [False, True] * 3

    on_a_loop(test)


@both
def test_what_was_changed_meanwhile_is_not_overwritten(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        write = Long()
        changes = iter([b"10", b"20"])

        def meanwhile() -> None:
            change = next(changes, None)
            if change is not None:
                service.engine.write(lambda tx: tx.put(KEY, change))

        write.meanwhile = meanwhile
        _, error = await outcome(runner(service), fake_call(service.context, write.plan))
        assert error is None
        assert stored(service) == b"21"

    on_a_loop(test)


@both
def test_one_that_others_keep_overtaking_runs_in_its_transaction_at_last(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        write = Long()
        left = iter(range(REHEARSALS_MAX))

        def meanwhile() -> None:
            number = next(left, None)
            if number is not None:
                service.engine.write(lambda tx: tx.put(KEY, b"%d" % (10 * number)))

        write.meanwhile = meanwhile
        _, error = await outcome(runner(service), fake_call(service.context, write.plan))
        assert error is None
        assert stored(service) == b"%d" % (10 * (REHEARSALS_MAX - 1) + 1)

    on_a_loop(test)


@both
def test_what_it_raises_is_raised_only_if_it_saw_the_truth(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        seen: list[bytes | None] = []

        def step(tx: Any) -> Result:
            seen.append(tx.get(KEY))
            effort.spend(LONG)
            if len(seen) == 2:
                service.engine.write(lambda tx: tx.put(KEY, b"there"))
            if seen[-1] is None:
                raise Invalid("nothing there")
            tx.put(OTHER, b"written")
            return noted("written")

        _, error = await outcome(runner(service), fake_call(service.context, lambda *_: Write(step)))
        assert error is None
        assert seen == [None, None, b"there"]
        assert stored(service, OTHER) == b"written"

    on_a_loop(test)


@both
def test_an_error_of_a_long_write_is_its_answer_and_nothing_is_written(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        def step(tx: Any) -> Result:
            tx.put(KEY, b"written")
            effort.spend(LONG)
            raise Invalid("no")

        _, error = await outcome(runner(service), fake_call(service.context, lambda *_: Write(step)))
        assert isinstance(error, Invalid)
        assert stored(service) is None

    on_a_loop(test)


@both
def test_a_plan_that_takes_long_is_made_elsewhere(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        threads: list[str] = []

        def plan(_context: Any, request: Any) -> Plan:
            threads.append(threading.current_thread().name)
            effort.spend(LONG)
            return Answer(noted(request["value"]))

        call = fake_call(service.context, plan, value=7)
        assert value_of(await outcome(runner(service), call)) == 7
        assert [name.startswith("hashrange-background") for name in threads] == [False, True]

    on_a_loop(test)


@both
def test_a_read_that_takes_long_is_made_elsewhere(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        threads: list[int] = []

        def step(reader: Any) -> Result:
            threads.append(threading.get_ident())
            effort.spend(LONG)
            return noted(reader.get(KEY))

        service.engine.write(lambda tx: tx.put(KEY, b"v"))
        call = fake_call(service.context, lambda *_: Read(step))
        assert value_of(await outcome(runner(service), call)) == b"v"
        assert len(threads) == 2
        assert threads[1] != threading.get_ident()

    on_a_loop(test)


class SchedulingEngine(MemoryEngine):
    """Does something on the loop soon after a step was submitted, as the engine on disk does."""

    soon: Callable[[], None]

    def submit(self, step: Any, done: Any, *, reads: Any = ()) -> None:
        asyncio.get_running_loop().call_soon(self.soon)
        super().submit(step, done, reads=reads)


def test_what_an_engine_schedules_meanwhile_is_not_limited() -> None:
    """A job's step may be among it, and nobody would run that again elsewhere."""

    async def test(service: Clocked) -> None:
        spent = asyncio.Event()

        def soon() -> None:
            effort.spend(LONG)
            spent.set()

        assert isinstance(service.engine, SchedulingEngine)
        service.engine.soon = soon
        run = LocalExecutor(service.engine, background_of()).run
        await outcome(run, fake_call(service.context, lambda *_: Write(lambda _: noted(1))))
        await asyncio.wait_for(spent.wait(), 30)

    on_a_loop(test, SchedulingEngine)


def test_a_rehearsal_reads_its_own_writes_and_writes_nothing_itself() -> None:
    engine = MemoryEngine()
    engine.write(lambda tx: tx.put(KEY, b"old"))

    def step(tx: Any) -> Result:
        assert tx.get(KEY) == b"old"
        tx.put(KEY, b"new")
        assert tx.get(KEY) == b"new"
        tx.delete(KEY)
        assert tx.get(KEY) is None
        tx.put(OTHER, b"other")
        return noted(None)

    rehearsal = Rehearsal(engine, step)
    assert engine.read(lambda reader: reader.get(KEY)) == b"old"
    engine.write(rehearsal.replay)
    assert engine.read(lambda reader: (reader.get(KEY), reader.get(OTHER))) == (None, b"other")


def test_a_replay_after_a_change_writes_nothing() -> None:
    engine = MemoryEngine()

    def step(tx: Any) -> Result:
        tx.get(KEY)
        tx.put(OTHER, b"other")
        return noted(None)

    rehearsal = Rehearsal(engine, step)
    engine.write(lambda tx: tx.put(KEY, b""))
    with pytest.raises(Outdated):
        engine.write(rehearsal.replay)
    assert engine.read(lambda reader: reader.get(OTHER)) is None


@pytest.mark.parametrize(
    "step",
    [
        lambda tx: list(tx.scan(b"", b"\xff")),
        lambda tx: tx.counter(KEY),
        lambda tx: tx.clear(b"", b"\xff", limit=1),
    ],
)
def test_what_cannot_be_validated_is_not_rehearsed(step: Any) -> None:
    with pytest.raises(Unrehearsable):
        Rehearsal(MemoryEngine(), step)


def test_a_step_that_is_too_long_for_its_transaction_is_told_to_conflict() -> None:
    """Nobody waits longer than a moment for a write that others keep overtaking."""

    async def test(service: Clocked) -> None:
        number = 0

        def step(tx: Any) -> Result:
            nonlocal number
            tx.get(KEY)
            effort.spend(LONG)
            number += 1
            if number <= REHEARSALS_MAX:
                service.engine.write(lambda tx: tx.put(KEY, b"%d" % number))
                return noted(None)
            raise effort.Exhausted

        run = LocalExecutor(service.engine, background_of()).run
        _, error = await outcome(run, fake_call(service.context, lambda *_: Write(step)))
        assert isinstance(error, Conflict)

    on_a_loop(test)
