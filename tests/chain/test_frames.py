"""A refused request is gone once it is answered, and does not wait for a garbage collection."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from calls import background_of, fake_call, loop_engine, shared_executor
from clocked import Clocked
from hashrange.api.protocol.plan import Plan, Read, Write
from hashrange.api.results import Result
from hashrange.chain.executor import Call, LocalExecutor
from hashrange.core.errors import Invalid

pytestmark = pytest.mark.slow


class PatientCall(Call, gc=False):
    """A call that came on a thread of its own."""

    patient = True


class Large:
    """Stands for what a large request has been made into."""


alive: list[weakref.ref[Large]] = []


def refuse(large: Large) -> Result:
    assert type(large) is Large
    raise Invalid("no")


def planned(large: Large) -> Plan:
    refuse(large)
    raise AssertionError


def read(large: Large) -> Plan:
    return Read(lambda _: refuse(large))


def write(large: Large) -> Plan:
    return Write(lambda _: refuse(large))


def handler(made: Callable[[Large], Plan]) -> Callable[[Any, Any], Plan]:
    def handle(_context: Any, _request: Any) -> Plan:
        large = Large()
        alive.append(weakref.ref(large))
        return made(large)

    return handle


async def gone(reference: "weakref.ref[Large]") -> None:
    """Wait until nobody has it: the thread that ran the call lets go of it after the answer."""
    async with asyncio.timeout(30):
        while reference() is not None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("shared", [False, True], ids=["local", "shared"])
@pytest.mark.parametrize("size", [1, 100_000], ids=["small", "rehearsed"])
@pytest.mark.parametrize("made", [planned, read, write], ids=["planned", "read", "write"])
def test_nothing_keeps_a_refused_request(made: Callable[[Large], Plan], size: int, *, shared: bool) -> None:
    async def main() -> None:
        service = Clocked(loop_engine())
        background = background_of()
        run = (
            shared_executor(service, background=background).run
            if shared
            else LocalExecutor(service.engine, background).run
        )
        usual = fake_call(service.context, handler(made), value="x" * size)
        call = PatientCall(usual.operation, usual.context, usual.request, usual.body)
        told: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def done(_: Result | None, error: BaseException | None) -> None:
            told.set_result(str(error))

        background.submit(partial(run, call, done))
        assert "no" in await asyncio.wait_for(told, 30)
        for reference in alive:
            await gone(reference)
        await asyncio.to_thread(background.close)
        service.engine.close()

    alive.clear()
    gc.collect()
    gc.disable()
    try:
        asyncio.run(main())
    finally:
        gc.enable()
    assert alive
