"""The two drivers: the same procedures on threads and on an event loop."""

import asyncio
import gc
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hashrange.patterns import (
    BucketPieces,
    Idempotency,
    Lock,
    LockHeld,
    Refused,
    Runner,
    ShardedCounter,
    ShardedWriter,
    Table,
    aio,
)
from hashrange.patterns.steps import Fresh, Monotonic, Parallel, Pause, SdkCall, Steps, WallClock, procedure
from item_tables import unique
from serving import Serving

aioboto3 = pytest.importorskip("aioboto3", reason="aioboto3 is not installed")


@pytest.mark.slow
def test_aioboto3_runs_the_same_procedures(server: Serving, table: Table) -> None:
    async def tour() -> None:
        session = aioboto3.Session("test", "test", region_name="us-east-1")
        async with session.client("dynamodb", endpoint_url=server.endpoint) as client:
            runner, name = aio.Runner(client), unique()
            counter, writer, lock = ShardedCounter(table), ShardedWriter(table, 3), Lock(table)
            await asyncio.gather(*(runner.run(counter.add(name)) for _ in range(5)))
            assert await runner.run(counter.value(name)) == 5
            for sort in "cab":
                await runner.run(writer.put(name, sort, {}))
            page = await runner.run(writer.query(name))
            assert [item["sk"] for item in page.items] == ["a", "b", "c"]
            await runner.run(lock.acquire(name))
            with pytest.raises(LockHeld):
                await runner.run(lock.acquire(name))

            async def work() -> str:
                await asyncio.sleep(0)
                return "done"

            assert await runner.run(Idempotency(table).run(name, work)) == "done"

    asyncio.run(tour())


class Client:
    """An SDK's client; `fails` is refused by the service, `breaks` never gets there."""

    def answers(self, **parameters: Any) -> dict[str, Any]:
        return parameters

    def fails(self) -> None:
        raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "Too fast."}}, "Fails")

    def breaks(self) -> None:
        raise ConnectionError("lost")


class AsyncClient(Client):
    def __getattribute__(self, name: str) -> Any:
        async def method(**parameters: Any) -> Any:
            return getattr(Client(), name)(**parameters)

        return method


class Both:
    """The two drivers behind one interface."""

    def __init__(self, kind: str) -> None:
        self.is_async = kind == "async"

    def run(self, procedure: Any) -> Any:
        if self.is_async:
            return asyncio.run(self._run(procedure))
        with Runner(Client()) as runner:
            return runner.run(procedure)

    async def _run(self, procedure: Any) -> Any:
        return await aio.Runner(AsyncClient(), parallel_max=2).run(procedure)


@pytest.fixture(params=["sync", "async"])
def driver(request: pytest.FixtureRequest) -> Both:
    return Both(request.param)


def call(operation: str, **parameters: Any) -> SdkCall:
    return SdkCall(operation, parameters)


def test_parallel_requests_are_answered_in_their_order(driver: Both) -> None:
    @procedure
    def several() -> Steps[Any]:
        return (yield Parallel((call("answers", a=1), call("fails"), call("answers", a=3))))

    first, second, third = driver.run(several())
    assert (first, third) == ({"a": 1}, {"a": 3})
    assert isinstance(second, Refused)
    assert second.is_passing


def test_errors_of_the_service_and_of_the_network_reach_the_procedure(driver: Both) -> None:
    @procedure
    def caught() -> Steps[list[str]]:
        seen = []
        for step in (call("fails"), call("breaks"), Parallel((call("answers"), call("breaks")))):
            try:
                yield step
            except (Refused, ConnectionError) as error:
                seen.append(str(error))
        return seen

    assert driver.run(caught()) == ["ThrottlingException: Too fast.", "lost", "lost"]

    @procedure
    def uncaught() -> Steps[None]:
        yield call("breaks")

    with pytest.raises(ConnectionError):
        driver.run(uncaught())


def test_clocks_names_and_pauses(driver: Both) -> None:
    @procedure
    def looked() -> Steps[tuple[Any, ...]]:
        before = yield Monotonic()
        yield Pause(0.01)
        yield Pause(0.01, jitter=True)
        return before, (yield Monotonic()), (yield WallClock()), (yield Fresh()), (yield Fresh())

    before, after, wall, one, two = driver.run(looked())
    assert after - before >= 0.0099
    assert wall > 1_700_000_000
    assert len({one, two}) == 2
    assert all(len(name) == 32 for name in (one, two))


def test_a_body_is_read_up_to_its_bound() -> None:
    class Body:
        async def read(self, size: int) -> bytes:
            return (b"x" * 100)[:size]

    class Store:
        async def get_object(self, **_: Any) -> dict[str, Any]:
            return {"Body": Body()}

    steps = BucketPieces("b").load("name", 1, 10)
    assert asyncio.run(aio.Runner(None, Store()).run(steps)) == b"x" * 11


def test_a_coroutine_needs_the_other_runner(client: Any, table: Table) -> None:
    async def work() -> None: ...

    coroutine = work()
    with Runner(client) as runner, pytest.raises(TypeError, match=r"patterns\.aio\.Runner"):
        runner.run(Idempotency(table).run(unique(), lambda: coroutine))
    coroutine.close()


def forget(counter: ShardedCounter, name: str) -> None:
    counter.add(name)
    gc.collect()


def test_a_procedure_that_nobody_runs_is_told_of_and_one_may_run_twice(client: Any, table: Table) -> None:
    counter, name = ShardedCounter(table), unique()
    with pytest.warns(RuntimeWarning, match=r"ShardedCounter\.add was never run"):
        forget(counter, name)
    adding = counter.add(name, 2)
    with Runner(client) as runner:
        runner.run(adding)
        runner.run(adding)
        assert runner.run(counter.value(name)) == 4
