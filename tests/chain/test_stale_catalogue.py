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
from hashrange.chain import executor
from hashrange.storage import catalogue, layout
from hashrange.storage.errors import Replaced, Unavailable
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

    with pytest.MonkeyPatch.context() as patch:
        # The test waits for the second one's answers on the loop itself: a read that were given to a thread, as on a
        # busy machine after some milliseconds, would never be told.
        patch.setattr(executor, "_READ_SECONDS", 60.0)
        asyncio.run(main())


def create(service: Clocked, name: str, **options: Any) -> None:
    service.call("CreateTable", **new_table("pk", TableName=name, **options))
    service.settle()


def bump(service: Clocked) -> None:
    """Count a change of the catalogue, as any change of a table does."""
    service.engine.write(catalogue._count_change)


def look_up(context: Any, name: str = "missing") -> Any:
    """Look into the catalogue, as planning does."""
    return context.catalogue.find("000000000000", "us-east-1", name)


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

        def handler(context: Any, _: Any) -> Plan:
            plans.append(1)
            look_up(context)
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

        def handler(context: Any, request: Any) -> Plan:
            requests.append(orjson.dumps(request))
            look_up(context)
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


def test_a_table_that_changes_all_the_time_is_not_planned_for_for_ever() -> None:
    async def test(first: Clocked, second: Clocked) -> None:
        plans: list[int] = []

        def handler(context: Any, _: Any) -> Plan:
            plans.append(1)
            look_up(context)
            bump(second)
            return Read(lambda _: noted("never"))

        result, error = await outcome(shared_executor(first).run, fake_call(first.context, handler))
        assert result is None
        assert isinstance(error, StaleCatalogue)
        assert len(plans) == 10

    with_two_servers(test)


@pytest.mark.parametrize("eventual", [True, False])
def test_changes_of_other_tables_do_not_disturb_a_read(eventual: bool) -> None:
    async def test(first: Clocked, second: Clocked) -> None:
        create(second, "tab")
        create(second, "other")
        first.catalogue.reload()
        first.clock.advance(10)
        plans: list[int] = []

        def handler(context: Any, _: Any) -> Plan:
            plans.append(1)
            assert look_up(context, "tab")
            for protect in (True, False):
                second.call("UpdateTable", TableName="other", DeletionProtectionEnabled=protect)
            return Read(lambda _: noted("read"), eventual=eventual)

        ended = await outcome(shared_executor(first).run, fake_call(first.context, handler))
        assert value_of(ended) == "read"
        assert len(plans) == 1

    with_two_servers(test)


@pytest.mark.parametrize("kind", ["answer", "error"])
def test_what_is_planned_after_a_fresh_look_needs_no_other_look(kind: str) -> None:
    """However fast tables change elsewhere: it was true of the moment of that look."""

    async def test(first: Clocked, second: Clocked) -> None:
        plans: list[int] = []

        def handler(context: Any, _: Any) -> Plan:
            plans.append(1)
            context.catalogue.tables()
            bump(second)
            if kind == "error":
                raise errors.in_use(str(len(plans)))
            return Answer(noted(len(plans)))

        ended = await outcome(shared_executor(first).run, fake_call(first.context, handler))
        if kind == "error":
            assert isinstance(ended[1], ApiError)
            assert ended[1].message == "2"
        else:
            assert value_of(ended) == 2

    with_two_servers(test)


def test_what_cannot_be_confirmed_is_not_answered_from_memory() -> None:
    async def test(first: Clocked, _second: Clocked) -> None:
        def refusing(context: Any, _: Any) -> Plan:
            look_up(context)
            raise errors.in_use("busy")

        def answering(context: Any, _: Any) -> Plan:
            look_up(context)
            return Answer(noted(1))

        assert isinstance(first.engine, Flaky)
        first.engine.failing = True
        run = shared_executor(first).run
        for handler in (refusing, answering):
            _, error = await outcome(run, fake_call(first.context, handler))
            assert isinstance(error, Unavailable)

    with_two_servers(test)


def test_what_is_wrong_whatever_the_catalogue_says_is_refused_without_it() -> None:
    async def test(first: Clocked, _second: Clocked) -> None:
        refusal = errors.validation("no")

        def handler(context: Any, _: Any) -> Plan:
            raise refusal

        assert isinstance(first.engine, Flaky)
        first.engine.failing = True
        run = shared_executor(first).run
        assert await outcome(run, fake_call(first.context, handler)) == (None, refusal)

    with_two_servers(test)


def restore(service: Clocked, rows: dict[bytes, bytes]) -> None:
    """Bring all rows back to what they were, as restoring a backup does."""

    def step(tx: Any) -> None:
        tx.clear(b"", b"\xff", limit=10_000)
        for key, value in rows.items():
            tx.put(key, value)

    service.engine.write(step)


def backup(service: Clocked) -> dict[bytes, bytes]:
    return service.engine.read(lambda reader: dict(reader.scan(b"", b"\xff")))


@pytest.mark.parametrize("changes_since", [0, 1])
@pytest.mark.parametrize("operation", ["GetItem", "PutItem", "ListTables"])
def test_a_server_refuses_to_work_on_an_older_backup(operation: str, changes_since: int) -> None:
    """Table numbers mean other tables now, whether or not the number of changes has caught up."""

    async def test(first: Clocked, second: Clocked) -> None:
        create(second, "kept")
        rows = backup(second)
        create(second, "lost")
        create(second, "lost2")
        first.catalogue.reload()
        first.clock.advance(10)
        restore(second, rows)
        second.catalogue.reload()
        for number in range(2 * changes_since):
            create(second, f"other{number}")
        requests: dict[str, Any] = {
            "GetItem": {"TableName": "lost", "Key": A, "ConsistentRead": True},
            "PutItem": {"TableName": "lost", "Item": A},
            "ListTables": {},
        }
        run = shared_executor(first).run
        for _ in range(2):
            _, error = await outcome(run, real_call(first, operation, **requests[operation]))
            assert isinstance(error, Replaced)
        _, error = await outcome(run, real_call(first, "DescribeTable", TableName="kept"))
        assert isinstance(error, Replaced)
        if changes_since:
            assert second.call("Scan", TableName="other0")["Count"] == 0

    with_two_servers(test)


def test_a_write_does_not_take_another_table_for_its_own() -> None:
    """The other table has the same number and the same version, and more changes have been made since."""

    async def test(first: Clocked, second: Clocked) -> None:
        rows = backup(second)
        create(second, "lost")
        first.catalogue.reload()
        first.clock.advance(10)
        lost = look_up(first, "lost")
        restore(second, rows)
        second.engine.write(lambda tx: tx.add(layout.TABLE_NUMBER, -tx.counter(layout.TABLE_NUMBER)))
        second.catalogue.reload()
        create(second, "other")
        create(second, "more")
        other = second.catalogue.find("000000000000", "us-east-1", "other")
        assert other is not None
        assert (other.number, other.version) == (lost.number, lost.version)
        run = shared_executor(first).run
        _, error = await outcome(run, real_call(first, "PutItem", TableName="lost", Item=A))
        assert isinstance(error, ApiError)
        assert error.code == "ResourceNotFoundException"
        assert second.call("Scan", TableName="other")["Count"] == 0

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
