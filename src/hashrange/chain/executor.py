"""Running calls on an engine of this process: reads here and now, writes answered when their commit is on disk."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import cast

from hashrange.api.protocol.plan import Answer, Read, Write
from hashrange.api.results import Result
from hashrange.chain.call import Call, Done
from hashrange.storage.engine import Engine
from hashrange.storage.errors import ReadTimeout

# A scan that goes on longer than this gets a thread, so that the other clients do not wait for it.
_READ_SECONDS = 0.005


class LocalExecutor:
    """Runs calls on an engine whose reads wait for nobody."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._read = partial(engine.read, seconds=_READ_SECONDS)

    def run(self, call: Call, done: Done, /) -> None:
        """Plan a call and run its step; `done` is called now or later, on the engine's terms."""
        try:
            plan = call.plan()
            if type(plan) is Read:
                try:
                    result = self._read(plan.step)
                except ReadTimeout:
                    self._engine.submit_read(plan.step, done)
                    return
            elif type(plan) is Write:
                after = plan.after
                self._engine.submit(plan.step, done if after is None else partial(_finish, after, done))
                return
            else:
                result = cast("Answer", plan).result
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this call's outcome
            done(None, error)
            return
        done(result, None)


def _finish(
    after: Callable[[], object], done: Done, result: Result | None, error: BaseException | None
) -> None:
    """Do what is to be done once a write is on disk, then say so."""
    if error is None:
        try:
            after()
        except Exception as problem:  # noqa: BLE001 - likewise
            done(None, problem)
            return
    done(result, error)


def run_now(executor: "LocalExecutor", call: Call) -> Result:
    """Run a call and wait for its result. Not on the thread that delivers commits."""
    outcome: list[tuple[Result | None, BaseException | None]] = []
    finished = Event()

    def done(result: Result | None, error: BaseException | None) -> None:
        outcome.append((result, error))
        finished.set()

    executor.run(call, done)
    finished.wait()
    result, error = outcome[0]
    if error is not None:
        raise error
    if result is None:
        raise TypeError(call.operation.name)
    return result
