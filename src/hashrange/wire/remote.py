"""Requests on an engine that is across a network and shared with other servers: nothing here ever waits.

Whatever is answered, be it an error, was true of the catalogue at the moment of the read: see storage/follower.py.
Writes look at their table's version inside their transaction, and need the check only when the table is gone.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, Protocol

import msgspec

from hashrange import logs
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.plan import Answer, Plan, Read, Write
from hashrange.storage import follower
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.errors import Conflict, StorageError
from hashrange.storage.follower import Follower, StaleCatalogue
from hashrange.wire import codec, errors
from hashrange.wire.codec import Form
from hashrange.wire.http import Exchange

_PLANS_MAX = 10  # tables that change faster than a request can be planned are not worth more attempts

log = logs.Log("wire")


class Operation(Protocol):
    """An operation as the registry holds it."""

    def plan(self, context: Context, request: dict[str, Any]) -> Plan:
        """Check the request and say what is to be done."""


class Request(msgspec.Struct):
    """A request on its way, with all it takes to plan it again."""

    exchange: Exchange
    form: Form
    request_id: bytes
    operation: Operation
    context: Context
    body: bytes
    plans: int = 0

    def succeed(self, answer: bytes) -> None:
        """Send a good answer."""
        self.exchange.send(self.form.ok(self.request_id, answer), answer)

    def fail(self, error: BaseException) -> None:
        """Send an error."""
        self.exchange.send(*errors.render(error, self.form, self.request_id))


class Remote:
    """Plans requests and has the engine run them."""

    def __init__(self, engine: Engine, followed: Follower) -> None:
        self._engine = engine
        self._follower = followed

    def begin(self, request: Request, members: dict[str, Any]) -> None:
        """Plan a request and hand it to the engine."""
        request.plans += 1
        epoch = request.context.catalogue.epoch
        try:
            plan = request.operation.plan(request.context, members)
        except Exception as error:  # noqa: BLE001 - the answer, unless it came from an outdated record
            self._confirm(request, error, epoch)
            return
        match plan:
            case Write():
                self._engine.submit(
                    plan.step, partial(self._written, request, plan, epoch), reads=plan.reads()
                )
            case Read():
                checked = partial(_checked, step=plan.step, epoch=epoch)
                self._engine.submit_read(
                    checked,
                    partial(self._done, request),
                    reads=(*follower.READS, *plan.reads),
                    more=not plan.reads,
                    eventual=plan.eventual,
                )
            case Answer():
                checked = partial(_checked, step=lambda _: plan.body, epoch=epoch)
                self._engine.submit_read(checked, partial(self._done, request), reads=follower.READS)

    def _confirm(self, request: Request, error: Exception, epoch: int) -> None:
        """Send an error if the catalogue is still the one it came from."""
        step = partial(_raise, error=error, epoch=epoch)
        self._engine.submit_read(step, partial(self._failed, request, error), reads=follower.READS)

    def _done(self, request: Request, answer: bytes | None, error: BaseException | None) -> None:
        if error is None:
            request.succeed(answer or b"")
        elif isinstance(error, StaleCatalogue) and request.plans < _PLANS_MAX:
            self._follower.catch_up(partial(self._again, request))
        else:
            request.fail(error)

    def _failed(
        self, request: Request, planned: BaseException, _answer: None, error: BaseException | None
    ) -> None:
        # If the catalogue cannot be read, the error as it was planned is the best there is.
        self._done(request, None, planned if isinstance(error, StorageError) else error)

    def _again(self, request: Request, error: BaseException | None) -> None:
        if error is None:
            # Planning may have changed the members in place, so they are read anew.
            self.begin(request, codec.decode(request.body))
        else:
            request.fail(error)

    def _written(
        self, request: Request, plan: Write, epoch: int, answer: bytes | None, error: BaseException | None
    ) -> None:
        if isinstance(error, Conflict) and plan.conflict is not None:
            request.fail(plan.conflict())
        elif isinstance(error, ApiError) and error.code == "ResourceNotFoundException":
            # The table is gone; but another of its name may have come since.
            self._confirm(request, error, epoch)
        elif error is not None:
            request.fail(error)
        elif plan.after is None:
            request.succeed(answer or b"")
        else:
            # It reads from the engine, so it waits: not on this thread.
            after = asyncio.get_running_loop().run_in_executor(None, _tried, plan.after)
            after.add_done_callback(lambda _: request.succeed(answer or b""))


def _checked(reader: Reader, *, step: Callable[[Reader], bytes], epoch: int) -> bytes:
    # The step first: an engine that finds out by trying what is read learns more from it.
    answer = step(reader)
    follower.check(reader, epoch)
    return answer


def _raise(reader: Reader, *, error: Exception, epoch: int) -> NoReturn:
    follower.check(reader, epoch)
    raise error


def _tried(after: Callable[[], object]) -> None:
    """The write is committed, so it is answered as such whatever happens here."""
    try:
        after()
    except Exception as error:  # noqa: BLE001 - the next request finds the catalogue changed
        log.warning("catalogue.behind", error=error)
