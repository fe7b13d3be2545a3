"""Both executors: what is planned is run, and its outcome is told once, whatever happens."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from calls import Outcome, fake_call, loop_engine, noted, outcome, real_call, shared_executor, value_of
from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Answer, Plan, Read, Write
from hashrange.api.results import PageRead, Result
from hashrange.chain import executor as local
from hashrange.chain.executor import Call, LocalExecutor
from hashrange.chain.links import Runner
from hashrange.core.errors import Invalid
from hashrange.storage.errors import Conflict, ReadTimeout, Unavailable
from hashrange.storage.sqlite import MemoryEngine
from new_tables import request as new_table

KEY = b"\xf0key"
VALIDATION = "ValidationException"


def local_runner(service: Clocked) -> Runner:
    return LocalExecutor(service.engine).run


def shared_runner(service: Clocked) -> Runner:
    return shared_executor(service).run


Runners = Callable[[Clocked], Runner]
both = pytest.mark.parametrize("runner", [local_runner, shared_runner], ids=["local", "shared"])


def on_a_loop(test: Callable[[Clocked], Coroutine[Any, Any, None]], kind: Any = MemoryEngine) -> None:
    """Run a test on a loop, with a service whose engine delivers to it."""

    async def main() -> None:
        service = Clocked(loop_engine(kind))
        try:
            await test(service)
        finally:
            service.engine.close()

    asyncio.run(main())


def put(_context: Any, request: Any) -> Plan:
    """A write of what the request has; one without anything fails."""

    def step(tx: Any) -> Result:
        tx.put(KEY, request["value"].encode())
        if not request["value"]:
            raise Invalid("nothing to write")
        return noted("written")

    return Write(step)


def stored(service: Clocked) -> bytes | None:
    return service.engine.read(lambda reader: reader.get(KEY))


@both
def test_answers_reads_and_writes_give_their_results(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        run = runner(service)
        assert value_of(await outcome(run, fake_call(service.context, lambda *_: Answer(noted(1))))) == 1
        assert value_of(await outcome(run, fake_call(service.context, put, value="v"))) == "written"
        read = fake_call(service.context, lambda *_: Read(lambda reader: noted(reader.get(KEY)), (KEY,)))
        assert value_of(await outcome(run, read)) == b"v"
        eventual = fake_call(
            service.context, lambda *_: Read(lambda reader: noted(reader.get(KEY)), (KEY,), eventual=True)
        )
        assert value_of(await outcome(run, eventual)) == b"v"

    on_a_loop(test)


@both
@pytest.mark.parametrize(
    "error", [ApiError("LimitExceededException", "too many"), RuntimeError("a bug"), KeyError("x")]
)
def test_what_planning_raises_is_the_outcome(runner: Runners, error: Exception) -> None:
    def fail(*_: Any) -> Plan:
        raise error

    async def test(service: Clocked) -> None:
        assert await outcome(runner(service), fake_call(service.context, fail)) == (None, error)

    on_a_loop(test)


@both
def test_a_broken_rule_gets_the_words_of_the_operation(runner: Runners) -> None:
    def fail(*_: Any) -> Plan:
        raise Invalid("not like this")

    async def test(service: Clocked) -> None:
        _, error = await outcome(runner(service), fake_call(service.context, fail))
        assert isinstance(error, ApiError)
        assert (error.code, error.message) == (VALIDATION, "not like this")

    on_a_loop(test)


@both
def test_a_step_that_fails_leaves_nothing_behind(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        result, error = await outcome(runner(service), fake_call(service.context, put, value=""))
        assert result is None
        assert isinstance(error, Invalid)
        assert stored(service) is None

        def fail(_reader: Any) -> Result:
            raise KeyError("row")

        _, error = await outcome(runner(service), fake_call(service.context, lambda *_: Read(fail)))
        assert isinstance(error, KeyError)

    on_a_loop(test)


@both
def test_what_comes_after_a_write_sees_it_and_comes_before_the_answer(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        seen: list[Any] = []

        def handler(context: Any, request: Any) -> Plan:
            plan = put(context, request)
            assert isinstance(plan, Write)
            plan.after = lambda: seen.append(stored(service))
            return plan

        assert value_of(await outcome(runner(service), fake_call(service.context, handler, value="v")))
        assert seen == [b"v"]
        _, error = await outcome(runner(service), fake_call(service.context, handler, value=""))
        assert isinstance(error, Invalid)
        assert seen == [b"v"]

    on_a_loop(test)


def behind(context: Any, request: Any) -> Plan:
    """A write after which something goes wrong."""

    def after() -> None:
        raise Unavailable("the catalogue cannot be read")

    plan = put(context, request)
    assert isinstance(plan, Write)
    plan.after = after
    return plan


def test_a_local_write_fails_with_what_comes_after_it() -> None:
    async def test(service: Clocked) -> None:
        call = fake_call(service.context, behind, value="v")
        _, error = await outcome(local_runner(service), call)
        assert isinstance(error, Unavailable)

    on_a_loop(test)


def test_a_shared_write_is_answered_whatever_comes_after_it() -> None:
    async def test(service: Clocked) -> None:
        call = fake_call(service.context, behind, value="v")
        assert value_of(await outcome(shared_runner(service), call)) == "written"
        assert stored(service) == b"v"

    on_a_loop(test)


class Colliding(MemoryEngine):
    """An engine on which every write keeps colliding with another."""

    colliding = False

    def submit(self, step: Any, done: Any, *, reads: Any = ()) -> None:
        if self.colliding:
            done(None, Conflict("again and again"))
        else:
            super().submit(step, done, reads=reads)

    def submit_read(self, step: Any, done: Any, **hints: Any) -> None:
        if self.colliding:
            done(None, Conflict("again and again"))
        else:
            super().submit_read(step, done, **hints)


def test_a_write_that_kept_colliding_gets_its_own_error() -> None:
    refusal = ApiError("TransactionCanceledException", "cancelled")

    def cancelled(context: Any, request: Any) -> Plan:
        plan = put(context, request)
        assert isinstance(plan, Write)
        plan.conflict = lambda: refusal
        return plan

    async def test(service: Clocked) -> None:
        assert isinstance(service.engine, Colliding)
        service.engine.colliding = True
        run = shared_runner(service)
        assert await outcome(run, fake_call(service.context, cancelled, value="v")) == (None, refusal)
        _, error = await outcome(run, fake_call(service.context, put, value="v"))
        assert isinstance(error, Conflict)

    on_a_loop(test, Colliding)


def test_a_transactional_read_that_kept_colliding_is_cancelled() -> None:
    async def test(service: Clocked) -> None:
        assert isinstance(service.engine, Colliding)
        service.call("CreateTable", **new_table("pk", TableName="tab"))
        service.settle()
        service.engine.colliding = True
        gets = [{"Get": {"TableName": "tab", "Key": {"pk": {"S": key}}}} for key in ("a", "b")]
        _, error = await outcome(
            shared_runner(service), real_call(service, "TransactGetItems", TransactItems=gets)
        )
        assert isinstance(error, ApiError)
        assert error.code == "TransactionCanceledException"
        reasons: Any = error.fields["CancellationReasons"]
        assert [reason["Code"] for reason in reasons] == ["TransactionConflict"] * 2

    on_a_loop(test, Colliding)


class Impatient(MemoryEngine):
    """An engine on which every read takes too long for the loop."""

    refused = 0

    def read(self, step: Any, *, seconds: float | None = None) -> Any:
        if seconds is not None:
            self.refused += 1
            raise ReadTimeout
        return super().read(step)


def test_a_read_that_takes_too_long_is_read_again_on_a_thread() -> None:
    async def test(service: Clocked) -> None:
        assert isinstance(service.engine, Impatient)
        service.engine.write(lambda tx: tx.put(KEY, b"v"))
        read = fake_call(None, lambda *_: Read(lambda reader: noted(reader.get(KEY))))
        assert value_of(await outcome(local_runner(service), read)) == b"v"
        assert service.engine.refused == 1

        def fail(_reader: Any) -> Result:
            raise KeyError("row")

        _, error = await outcome(local_runner(service), fake_call(None, lambda *_: Read(fail)))
        assert isinstance(error, KeyError)

    on_a_loop(test, Impatient)


class Counting(MemoryEngine):
    """An engine that counts the reads that were given a thread."""

    on_threads = 0

    def submit_read(self, step: Any, done: Any, **hints: Any) -> None:
        self.on_threads += 1
        super().submit_read(step, done, **hints)


def test_a_scan_without_time_gives_the_same_page(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(service: Clocked) -> None:
        service.call("CreateTable", **new_table("pk", TableName="tab"))
        service.settle()
        for number in range(50):
            service.call("PutItem", TableName="tab", Item={"pk": {"S": str(number)}})
        scan = {"TableName": "tab", "FilterExpression": "attribute_exists(pk)"}
        monkeypatch.setattr(local, "_READ_SECONDS", 60.0)
        patient = await outcome(local_runner(service), real_call(service, "Scan", **scan))
        monkeypatch.setattr(local, "_READ_SECONDS", 0.0)
        hasty = await outcome(local_runner(service), real_call(service, "Scan", **scan))
        for result, error in (patient, hasty):
            assert error is None
            assert isinstance(result, PageRead)
            assert result.page.count == 50
        assert patient == hasty
        assert isinstance(service.engine, Counting)
        assert service.engine.on_threads == 1

    on_a_loop(test, Counting)


@both
def test_the_bytes_of_a_request_are_the_parsers_own_once_a_call_was_run(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        call = fake_call(service.context, lambda _, request: Answer(noted(dict(request))), a=1)
        buffer = bytearray(call.body)
        call.body = buffer
        told: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        runner(service)(call, lambda result, error: told.set_result((result, error)))
        buffer.clear()
        assert value_of(await told) == {"a": 1}

    on_a_loop(test)


@both
def test_a_wrong_request_is_explained(runner: Runners) -> None:
    async def test(service: Clocked) -> None:
        for members, code in (
            ({"TableName": "missing", "Key": {"pk": {"S": "a"}}}, "ResourceNotFoundException"),
            ({"TableName": "missing", "Key": {"pk": {"N": "x"}}}, VALIDATION),
            ({"TableName": 5}, "SerializationException"),
            ({"Key": {}}, VALIDATION),
        ):
            call: Call = real_call(service, "GetItem", **members)
            _, error = await outcome(runner(service), call)
            assert isinstance(error, ApiError)
            assert error.code == code

    on_a_loop(test)
