"""A call, whatever protocol brought it, and running it on an engine of this process.

Reads run here and now, writes are answered when their commit is on disk. shared_executor.py is for other engines.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import msgspec
import orjson

from hashrange.api.context import Context
from hashrange.api.errors import ApiError, serialization, validation
from hashrange.api.protocol.operation import UNDECODED, Operation
from hashrange.api.protocol.plan import Answer, Plan, Read, Write
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Result
from hashrange.audit.events import Origin
from hashrange.chain.background import Background, limited, patience
from hashrange.chain.long_writes import LongWrites
from hashrange.core import effort, patient_json
from hashrange.core.effort import Postponed
from hashrange.core.errors import Refused, forget_frames
from hashrange.core.values import Malformed
from hashrange.storage.engine import AtHand, Engine, Reader
from hashrange.storage.errors import ReadTimeout, Unavailable

# Told the result, or None and the error, once; on the event loop's thread where there is one.
Done = Callable[[Result | None, BaseException | None], None]


class Call(msgspec.Struct, gc=False):
    """Who asks for what."""

    # Whether it has come on a thread of its own: it is then run there, and no part of it on the event loop.
    patient: ClassVar[bool] = False

    operation: Operation[Any]
    context: Context
    request: Request | None  # None: it does not decode, and planning explains why
    body: (
        bytes | bytearray
    )  # as sent, if it was JSON, else empty; the parser's own buffer until the call is planned

    def plan(self) -> Plan:
        """Have the operation say what is to be done: check fast, explain slowly. It may be asked again."""
        operation, shortcut = self.operation, self.operation.shortcut
        if shortcut is not None and type(self.request) is shortcut.request:
            try:
                plan = shortcut.plan(self.context, self.request)
            except (ApiError, Refused):
                plan = None
            if plan is not None:
                return plan
            self.decode()
        request = self.request
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

    def origin(self) -> Origin:
        """Where the request came from; to be asked before the call is run."""
        return Origin()

    def arrival(self) -> Callable[[], Origin]:
        """The same to be asked later, if at all: while the call is planned, or at any time once it was retained.

        It must not refer to the call, whose context is going to have it: nothing would ever free the two.
        """
        origin = self.origin()
        return lambda: origin

    def retain(self) -> None:
        """Keep what is only good until the handler returns: the call is going to be planned after that."""
        self.body = bytes(self.body)
        if self.context.principal is not None:
            self.context.origin()

    def prepare(self, result: Result) -> Result:
        """Make the answer on this thread, which need not be the event loop's, and give what is left of the result."""
        return result

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
        content = patient_json.loads(body, orjson.loads)
    except (orjson.JSONDecodeError, *UNDECODED):
        raise serialization(None) from None
    if type(content) is not dict:
        raise serialization("Start of list found where not expected" if type(content) is list else None)
    return content


# A scan that goes on longer than this gets a thread, so that the other clients do not wait for it.
_READ_SECONDS = 0.005
_REHEARSED_BYTES = 64 * 1024  # the writes of smaller requests are tried on a thread that others wait for


class LocalExecutor:
    """Runs calls on an engine whose reads wait for nobody."""

    def __init__(self, engine: Engine, background: Background | None = None) -> None:
        self._engine = engine
        self._at_hand: AtHand = getattr(engine, "at_hand", _nothing)
        self._background = background or Background()
        self._long_writes = LongWrites(engine, self._background)

    def run(self, call: Call, done: Done, /) -> None:
        """Plan a call and run its step; `done` is called now or later, on the engine's terms."""
        if call.patient:
            self._run_patiently(call, done)
            return
        plan = result = None
        effort.begin()
        try:
            plan = call.plan()
            if type(plan) is Read:
                rows = plan.reads
                stored = self._at_hand(rows[0]) if len(rows) == 1 else None
                if stored is None:
                    result = self._engine.read(plan.step, seconds=_READ_SECONDS)
                else:
                    # All that such a step does with its reader is to `get` this row.
                    row: Any = {rows[0]: stored}
                    result = plan.step(row)
            elif type(plan) is Answer:
                result = plan.result
        except (ReadTimeout, Postponed):
            if type(plan) is Read:
                self._engine.submit_read(partial(read_patiently, call, plan.step), done)
            else:
                self._postpone(call, done)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this call's outcome
            done(None, error)
            return
        finally:
            effort.end()
        if result is None:
            # What the engine schedules now may run a job's step, which has no limit: each step has its own.
            write: Any = plan
            self._engine.submit(partial(limited, write.step), partial(self._written, call, write, done))
        else:
            done(result, None)

    def _postpone(self, call: Call, done: Done) -> None:
        """Plan a call elsewhere."""
        call.retain()
        if not self._background.submit(partial(self._plan_again, call, done)):
            done(None, Unavailable("the server is stopping"))

    def _plan_again(self, call: Call, done: Done) -> None:
        # Planning may have changed the request in place, so it is decoded anew.
        call.decode()
        self._run_patiently(call, done)

    def _written(
        self, call: Call, plan: Write, done: Done, result: Result | None, error: BaseException | None
    ) -> None:
        """Do what is to be done once a write is on disk, then say so; one that was too long is run elsewhere."""
        if error is None:
            if plan.after is not None:
                try:
                    plan.after()
                except Exception as problem:  # noqa: BLE001 - likewise
                    done(None, problem)
                    return
        elif type(error) is Postponed:
            self._long_writes.submit(call, plan, done)
            return
        done(result, error)

    def _run_patiently(self, call: Call, done: Done) -> None:
        """Run a call that came on a thread of its own; `done` is called on the event loop's."""
        try:
            plan = call.plan()
        except Exception as error:  # noqa: BLE001 - likewise
            forget_frames(error)
            self._background.call_on_loop(partial(done, None, error))
            return
        if isinstance(plan, Read):
            self._engine.submit_read(partial(read_patiently, call, plan.step), done)
        elif isinstance(plan, Write) and plan.after is None and len(call.body) > _REHEARSED_BYTES:
            self._long_writes.run(call, plan, done)
        elif isinstance(plan, Write):
            written = self._background.on_loop(partial(self._written, call, plan, done))
            self._engine.submit(partial(limited, plan.step), written)
        else:
            self._background.call_on_loop(partial(done, plan.result, None))


def _nothing(_key: bytes, /) -> None:
    return None


def read_patiently(call: Call, step: Callable[[Reader], Result], reader: Reader) -> Result:
    """A step on a thread of its own, on which the answer is made as well."""
    with patience():
        result = call.prepare(step(reader))
        if call.patient:
            # The loop must not be the one that takes a large request apart.
            call.request = None
        return result
