"""Running calls on an engine that is across a network and shared with other servers: nothing here ever waits.

Whatever is answered, be it an error, was true of the catalogue at a moment while the call was under way: see
storage/follower.py. What planning did not look up the catalogue for needs no check. While the catalogue cannot be
confirmed, nothing is answered from it: the call ends with the engine's error, which clients retry. Writes look at
their table's version inside their transaction, and need the check only when the table is gone.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn, cast

import msgspec

from hashrange import logs
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Answer, Read, Write
from hashrange.api.results import Result
from hashrange.chain.background import Background, limited
from hashrange.chain.executor import Call, Done, read_patiently
from hashrange.chain.long_writes import LongWrites
from hashrange.core.effort import Postponed
from hashrange.core.errors import forget_frames
from hashrange.core.schema import Table
from hashrange.storage import follower
from hashrange.storage.catalogue import TracedCatalogue
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.errors import Conflict, Replaced, Unavailable
from hashrange.storage.follower import Follower, StaleCatalogue

_PLANS_MAX = 10  # tables that change faster than a request can be planned are not worth more attempts

log = logs.Log("executor")


class _Attempt(msgspec.Struct):
    """A call that may have to be planned again."""

    call: Call
    done: Done
    context: Context  # the caller's own
    plans: int = 0
    is_fresh: bool = False  # the catalogue was read again since the call came

    def trace(self) -> list[Table | None]:
        """Give the list in which planning is going to note what it looks up."""
        looked_up: list[Table | None] = []
        traced = TracedCatalogue(self.context.catalogue, looked_up)
        self.call.context = msgspec.structs.replace(self.context, catalogue=traced)
        return looked_up

    def needs_no_check(self, looked_up: Sequence[Table | None]) -> bool:
        """Whether what was planned holds as it is: it is true of a moment since the call came, or of any."""
        return self.is_fresh or not looked_up


class SharedExecutor:
    """Plans calls and has the engine run them."""

    def __init__(self, engine: Engine, followed: Follower, background: Background | None = None) -> None:
        self._engine = engine
        self._follower = followed
        self._background = background or Background()
        self._long_writes = LongWrites(engine, self._background)

    def run(self, call: Call, done: Done, /) -> None:
        """Plan a call and hand it to the engine."""
        call.retain()
        attempt = _Attempt(call, self._background.on_loop(done), call.context)
        if call.patient:
            self._begin(attempt)
        else:
            limited(self._begin, attempt)

    def _begin(self, attempt: _Attempt) -> None:
        attempt.plans += 1
        epoch = attempt.context.catalogue.epoch
        looked_up = attempt.trace()
        try:
            plan = attempt.call.plan()
        except Postponed:
            self._submit(partial(self._again, attempt, None), attempt)
            return
        except Exception as error:  # noqa: BLE001 - the answer, unless it came from an outdated record
            forget_frames(error)
            if attempt.needs_no_check(looked_up):
                attempt.done(None, error)
            else:
                self._confirm(attempt, error, epoch)
            return
        match plan:
            case Write():
                written = self._background.on_loop(partial(self._written, attempt, plan, epoch))
                self._engine.submit(partial(limited, plan.step), written, reads=plan.reads())
            case Read():
                self._read(attempt, plan, epoch, looked_up)
            case Answer(result):
                if attempt.needs_no_check(looked_up):
                    attempt.done(result, None)
                    return
                checked = partial(_checked, step=lambda _: result, epoch=epoch)
                told = self._background.on_loop(partial(self._done, attempt))
                self._engine.submit_read(checked, told, reads=follower.reads(()))

    def _submit(self, work: Callable[[], None], attempt: _Attempt) -> None:
        if not self._background.submit(work):
            attempt.done(None, Unavailable("the server is stopping"))

    def _read_done(
        self,
        attempt: _Attempt,
        plan: Read,
        step: Callable[[Reader], Result],
        result: Result | None,
        error: BaseException | None,
    ) -> None:
        if type(error) is Postponed:
            self._submit(partial(self._read_patiently, attempt, plan, step), attempt)
        elif isinstance(error, Conflict) and plan.conflict is not None:
            attempt.done(None, plan.conflict())
        else:
            self._done(attempt, result, error)

    def _read_patiently(self, attempt: _Attempt, plan: Read, step: Callable[[Reader], Result]) -> None:
        """Run a long read in the background, with a snapshot and a connection of its own."""
        try:
            read = partial(read_patiently, attempt.call, step)
            outcome = partial(self._read_done, attempt, plan, step, self._engine.read(read), None)
        except Exception as error:  # noqa: BLE001 - the read's outcome
            forget_frames(error)
            outcome = partial(self._read_done, attempt, plan, step, None, error)
        self._background.call_on_loop(outcome)
        del outcome  # it may be an error, whose traceback has this frame

    def _read(self, attempt: _Attempt, plan: Read, epoch: bytes, looked_up: list[Table | None]) -> None:
        # Where a table was missing, only the epoch says whether it still is.
        tables = [] if None in looked_up else cast("list[Table]", looked_up)
        checked = partial(_checked, step=plan.step, epoch=epoch, tables=tables, eventual=plan.eventual)
        self._engine.submit_read(
            partial(limited, checked),
            self._background.on_loop(partial(self._read_done, attempt, plan, checked)),
            reads=(*follower.reads(tables), *plan.reads),
            more=not plan.reads,
            eventual=plan.eventual,
        )

    def _confirm(self, attempt: _Attempt, error: Exception, epoch: bytes) -> None:
        """Give an error if the catalogue is still the one it came from."""
        step = partial(_raise, error=error, epoch=epoch)
        told = self._background.on_loop(partial(self._done, attempt))
        self._engine.submit_read(step, told, reads=follower.reads(()))

    def _done(self, attempt: _Attempt, result: Result | None, error: BaseException | None) -> None:
        if isinstance(error, StaleCatalogue) and attempt.plans < _PLANS_MAX:
            self._follower.catch_up(partial(self._again, attempt))
            return
        if isinstance(error, Replaced):
            self._follower.refuse(error)
        attempt.done(result, error)

    def _again(self, attempt: _Attempt, error: BaseException | None) -> None:
        if error is None:
            attempt.is_fresh = True
            # Planning may have changed the request in place, so it is decoded anew.
            attempt.call.decode()
            self._begin(attempt)
        else:
            attempt.done(None, error)

    def _written(
        self,
        attempt: _Attempt,
        plan: Write,
        epoch: bytes,
        result: Result | None,
        error: BaseException | None,
    ) -> None:
        if type(error) is Postponed:
            self._long_writes.submit(attempt.call, plan, partial(self._written, attempt, plan, epoch))
        elif isinstance(error, Conflict) and plan.conflict is not None:
            attempt.done(None, plan.conflict())
        elif isinstance(error, ApiError) and error.code == "ResourceNotFoundException":
            # The table is gone; but another of its name may have come before the call did.
            if attempt.is_fresh:
                attempt.done(None, error)
            else:
                self._confirm(attempt, error, epoch)
        elif error is not None or plan.after is None:
            attempt.done(result, error)
        else:
            # It reads from the engine, so it waits: not on this thread.
            after = asyncio.get_running_loop().run_in_executor(None, _tried, plan.after)
            after.add_done_callback(lambda _: attempt.done(result, None))


def _checked(
    reader: Reader,
    *,
    step: Callable[[Reader], Result],
    epoch: bytes,
    tables: Sequence[Table] = (),
    eventual: bool = False,
) -> Result:
    # The step first: an engine that finds out by trying what is read learns more from it.
    result = step(reader)
    follower.check(reader, epoch, tables, eventual=eventual)
    return result


def _raise(reader: Reader, *, error: Exception, epoch: bytes) -> NoReturn:
    follower.check(reader, epoch)
    try:
        raise error
    finally:
        del error  # its traceback has this frame


def _tried(after: Callable[[], object]) -> None:
    """The write is committed, so it is answered as such whatever happens here."""
    try:
        after()
    except Exception as error:  # noqa: BLE001 - the next request finds the catalogue changed
        log.warning("catalogue.behind", error=error)
