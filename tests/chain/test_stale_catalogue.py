"""Servers that share an engine: a request planned with an outdated catalogue is planned again."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
import pytest

from calls import fake_call, loop_engine, noted, outcome, real_call, shared_executor, value_of
from clocked import Clocked
from hashrange.api import errors
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Answer, Plan, Read, Write
from hashrange.api.results import ItemRead, Result
from hashrange.storage import catalogue, layout
from hashrange.storage.errors import Unavailable
from hashrange.storage.follower import StaleCatalogue
from hashrange.storage.sqlite import MemoryEngine
from new_tables import request as new_table

A = {"pk": {"S": "a"}}
Test = Callable[[Clocked, Clocked], Coroutine[Any, Any, None]]


class Flaky(MemoryEngine):
    """An engine whose submitted reads may fail."""

    failing = False

    def submit_read(self, step: Any, done: Any, **hints: Any) -> None:
        if self.failing:
            asyncio.get_running_loop().call_soon(done, None, Unavailable("no connection"))
        else:
            super().submit_read(step, done, **hints)


def with_two_servers(test: Test) -> None:
    """Run a test with two services on one engine; the second makes changes that the first has not seen."""

    async def main() -> None:
        engine = loop_engine(Flaky)
        try:
            await test(Clocked(engine), Clocked(engine))
        finally:
            engine.close()

    asyncio.run(main())


def create(service: Clocked, name: str, **options: Any) -> None:
    service.call("CreateTable", **new_table("pk", TableName=name, **options))
    service.settle()


def bump(service: Clocked) -> None:
    """Count a change of the catalogue, as any change of a table does."""
    service.engine.write(catalogue._count_change)


def test_a_table_that_another_server_made_is_found() -> None:
    async def test(first: Clocked, second: Clocked) -> None:
        create(second, "late")
        second.call("PutItem", TableName="late", Item=A)
        first.clock.advance(5)
        assert first.catalogue.tables() == []
        result, error = await outcome(
            shared_executor(first).run, real_call(first, "GetItem", TableName="late", Key=A)
        )
        assert error is None
        assert isinstance(result, ItemRead)
        assert result.stored is not None
        assert [table.name for table in first.catalogue.tables()] == ["late"]

    with_two_servers(test)


def test_a_table_that_is_in_no_catalogue_is_not_found_at_once() -> None:
    async def test(first: Clocked, _second: Clocked) -> None:
        plans: list[int] = []

        def handler(*_: Any) -> Plan:
            plans.append(1)
            raise errors.not_found()

        _, error = await outcome(shared_executor(first).run, fake_call(first.context, handler))
        assert isinstance(error, ApiError)
        assert error.code == "ResourceNotFoundException"
        assert len(plans) == 1

    with_two_servers(test)


@pytest.mark.parametrize("kind", ["answer", "read", "error"])
def test_a_request_is_planned_again_from_what_was_sent(kind: str) -> None:
    async def test(first: Clocked, second: Clocked) -> None:
        requests: list[Any] = []

        def handler(_context: Any, request: Any) -> Plan:
            requests.append(orjson.dumps(request))
            request.clear()  # as planning may change a request in place
            buffer.clear()  # as the parser does for the next request
            if len(requests) == 1:
                bump(second)
            result: Result = noted(len(requests))
            match kind:
                case "answer":
                    return Answer(result)
                case "read":
                    return Read(lambda _: result)
                case _:
                    raise errors.in_use(str(len(requests)))

        call = fake_call(first.context, handler, a={"b": 1})
        buffer = bytearray(call.body)
        call.body = buffer
        ended = await outcome(shared_executor(first).run, call)
        assert requests == [b'{"a":{"b":1}}'] * 2
        if kind == "error":
            assert isinstance(ended[1], ApiError)
            assert ended[1].message == "2"
        else:
            assert value_of(ended) == 2

    with_two_servers(test)


def test_a_write_to_a_table_that_was_made_anew_goes_to_the_new_one() -> None:
    async def test(first: Clocked, second: Clocked) -> None:
        create(second, "tab")
        first.catalogue.reload()
        first.clock.advance(10)
        second.call("DeleteTable", TableName="tab")
        second.settle()
        create(second, "tab")
        run = shared_executor(first).run
        _, error = await outcome(run, real_call(first, "PutItem", TableName="tab", Item=A))
        assert error is None
        assert second.call("GetItem", TableName="tab", Key=A) == {"Item": A}

    with_two_servers(test)


def test_a_write_to_a_table_that_is_gone_is_refused() -> None:
    async def test(first: Clocked, second: Clocked) -> None:
        create(second, "tab")
        first.catalogue.reload()
        second.call("DeleteTable", TableName="tab")
        second.settle()
        first.clock.advance(10)
        run = shared_executor(first).run
        _, error = await outcome(run, real_call(first, "PutItem", TableName="tab", Item=A))
        assert isinstance(error, ApiError)
        assert error.code == "ResourceNotFoundException"
        assert first.catalogue.tables() == []

    with_two_servers(test)


def test_a_write_takes_the_newest_record_without_being_planned_again() -> None:
    async def test(first: Clocked, second: Clocked) -> None:
        create(second, "tab")
        first.catalogue.reload()
        first.clock.advance(10)
        second.call("UpdateTable", TableName="tab", DeletionProtectionEnabled=True)
        plans: list[int] = []

        def handler(context: Any, request: Any) -> Plan:
            plans.append(1)
            table = first.catalogue.find("000000000000", "us-east-1", "tab")
            assert table is not None

            def step(tx: Any) -> Result:
                current = catalogue.current(tx, table)
                assert current is not None
                return noted(current.version - table.version)

            return Write(step, reads=lambda: (layout.version_key(table.number),))

        assert value_of(await outcome(shared_executor(first).run, fake_call(first.context, handler))) > 0
        assert len(plans) == 1

    with_two_servers(test)


def test_tables_that_change_all_the_time_are_not_planned_for_ever() -> None:
    async def test(first: Clocked, second: Clocked) -> None:
        plans: list[int] = []

        def handler(*_: Any) -> Plan:
            plans.append(1)
            bump(second)
            return Answer(noted("never"))

        result, error = await outcome(shared_executor(first).run, fake_call(first.context, handler))
        assert result is None
        assert isinstance(error, StaleCatalogue)
        assert len(plans) == 10

    with_two_servers(test)


def test_an_error_that_cannot_be_confirmed_is_given_as_it_was_planned() -> None:
    async def test(first: Clocked, _second: Clocked) -> None:
        refusal = errors.in_use("busy")

        def handler(*_: Any) -> Plan:
            raise refusal

        assert isinstance(first.engine, Flaky)
        first.engine.failing = True
        run = shared_executor(first).run
        assert await outcome(run, fake_call(first.context, handler)) == (None, refusal)
        _, error = await outcome(run, fake_call(first.context, lambda *_: Answer(noted(1))))
        assert isinstance(error, Unavailable)

    with_two_servers(test)


def test_requests_that_wait_for_the_catalogue_share_one_read() -> None:
    async def test(first: Clocked, second: Clocked) -> None:
        create(second, "late")
        first.clock.advance(5)
        executor = shared_executor(first)
        reloads: list[int] = []
        replace = first.catalogue.replace

        def counted(records: Any) -> None:
            reloads.append(1)
            replace(records)

        first.catalogue.replace = counted  # type: ignore[method-assign]
        calls = [real_call(first, "GetItem", TableName="late", Key=A) for _ in range(5)]
        ended = await asyncio.gather(*(outcome(executor.run, call) for call in calls))
        assert all(error is None for _, error in ended)
        assert len(reloads) < 5

    with_two_servers(test)
