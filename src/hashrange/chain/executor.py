"""A call, whatever protocol brought it, and running it on an engine of this process.

Reads run here and now, writes are answered when their commit is on disk. shared_executor.py is for other engines.
"""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any, cast

import msgspec
import orjson

from hashrange.api.context import Context
from hashrange.api.errors import ApiError, serialization, validation
from hashrange.api.protocol.operation import UNDECODED, Operation
from hashrange.api.protocol.plan import Answer, Plan, Read, Write
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Result
from hashrange.core.errors import Refused
from hashrange.core.values import Malformed
from hashrange.storage.engine import Engine
from hashrange.storage.errors import ReadTimeout

# Told the result, or None and the error, once; on the event loop's thread where there is one.
Done = Callable[[Result | None, BaseException | None], None]


class Call(msgspec.Struct, gc=False):
    """Who asks for what."""

    operation: Operation[Any]
    context: Context
    request: Request | None  # None: it does not decode, and planning explains why
    body: (
        bytes | bytearray
    )  # as sent, if it was JSON, else empty; the parser's own buffer until the call is planned

    def plan(self) -> Plan:
        """Have the operation say what is to be done: check fast, explain slowly. It may be asked again."""
        operation, request = self.operation, self.request
        if request is not None:
            try:
                return operation.handler(self.context, request)
            except Malformed:
                # Either the shape says what is wrong, or it reads what only looked wrong: nulls, words for booleans.
                pass
            except (ApiError, Refused) as error:
                # Constraints that decoding leaves out, and JSON of a wrong type further behind, are reported first.
                operation.shape.check(self.sent())
                if isinstance(error, ApiError):
                    raise
                raise validation(operation.shape.worded(error)) from None
        self.request = request = operation.shape.explain(self.sent())
        try:
            return operation.handler(self.context, request)
        except Refused as refused:
            raise validation(operation.shape.worded(refused)) from None
        except Malformed:
            # It is nested too deep for the shape to read, and has something else that no value may be.
            raise serialization(None) from None

    def decode(self) -> None:
        """Read the request anew from what was sent."""
        if self.body:
            try:
                self.request = self.operation.decode(self.body)
            except UNDECODED:
                self.request = None

    def sent(self) -> dict[str, Any]:
        """The request as JSON, with all that decoding leaves out."""
        if self.body:
            return read_object(self.body)
        return msgspec.to_builtins(self.request)  # type: ignore[no-any-return]


def read_object(body: bytes | bytearray) -> dict[str, Any]:
    """Read a request's JSON, which must be an object."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise serialization(None) from None
    if type(content) is not dict:
        raise serialization("Start of list found where not expected" if type(content) is list else None)
    return content


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


def run_now(executor: LocalExecutor, call: Call) -> Result:
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
