"""Calls that never came over a wire: operations of a test's own making, and waiting for their outcome."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from clocked import Clocked
from hashrange.api.protocol.plan import Plan
from hashrange.api.registry import DYNAMODB
from hashrange.api.results import Described, Result
from hashrange.chain.background import Background
from hashrange.chain.executor import Call
from hashrange.chain.links import Runner
from hashrange.chain.shared_executor import SharedExecutor
from hashrange.storage.engine import Deliver, Engine
from hashrange.storage.follower import Follower
from hashrange.storage.sqlite import MemoryEngine
from wiring import Fake

Outcome = tuple[Result | None, BaseException | None]


class Noted(msgspec.Struct):
    """The body of an answer that says one thing."""

    value: Any


def noted(value: Any) -> Described:
    return Described(Noted(value))


def value_of(outcome: Outcome) -> Any:
    """What an operation noted in its answer."""
    result, error = outcome
    if error is not None:
        raise error
    assert isinstance(result, Described)
    assert isinstance(result.body, Noted)
    return result.body.value


def fake_call(context: Any, handler: Callable[[Any, Any], Plan], **request: Any) -> Call:
    """A call of an operation that is this handler."""
    operation: Any = Fake(handler)
    call = Call(operation, context, None, orjson.dumps(request))
    call.decode()
    return call


def real_call(service: Clocked, operation: str, **request: Any) -> Call:
    call = Call(DYNAMODB.operations[operation], service.context, None, orjson.dumps(request))
    call.decode()
    return call


async def outcome(run: Runner, call: Call) -> Outcome:
    """Run a call and wait for what becomes of it, which must be told once and on the loop's thread."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[Outcome] = loop.create_future()

    def done(result: Result | None, error: BaseException | None) -> None:
        assert asyncio.get_running_loop() is loop
        told.set_result((result, error))

    run(call, done)
    ended = await asyncio.wait_for(told, 10)
    await asyncio.sleep(0)
    return ended


def _deliver_here() -> Deliver:
    """What brings callbacks to the running loop."""
    loop = asyncio.get_running_loop()

    def deliver(callbacks: list[Callable[[], None]]) -> None:
        for callback in callbacks:
            loop.call_soon_threadsafe(callback)

    return deliver


def loop_engine(kind: type[MemoryEngine] = MemoryEngine) -> MemoryEngine:
    """An engine whose long reads are told on the running loop."""
    return kind(deliver=_deliver_here())


def background_of() -> Background:
    """Threads whose outcomes are told on the running loop."""
    return Background(_deliver_here())


def shared_executor(
    service: Clocked, engine: Engine | None = None, background: Background | None = None
) -> SharedExecutor:
    """An executor as a server has it that shares its engine with others."""
    engine = engine or service.engine
    return SharedExecutor(engine, Follower(engine, service.catalogue), background)
