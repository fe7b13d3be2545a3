"""Writes that compute for long: rehearsed on a thread of their own, then written in a short transaction."""

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from hashrange.api.protocol.plan import Write
from hashrange.api.results import Result
from hashrange.chain.background import Background
from hashrange.chain.rehearsal import Outdated, Rehearsal, Unrehearsable
from hashrange.core import effort
from hashrange.core.effort import Exhausted
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.errors import Conflict, Unavailable

if TYPE_CHECKING:
    from hashrange.chain.executor import Call, Done

REHEARSALS_MAX = 3
# After that the step is run inside its transaction, and other writers wait for it no longer than this.
LOCKED_SECONDS = 0.1


class LongWrites:
    """Rehearses writes and has the engine write what came of them."""

    def __init__(self, engine: Engine, background: Background) -> None:
        self._engine = engine
        self._background = background

    def submit(self, call: "Call", plan: Write, done: "Done") -> None:
        """Rehearse a write in the background; `done` is called on the event loop."""
        if not self._background.submit(partial(self.run, call, plan, done)):
            done(None, Unavailable("the server is stopping"))

    def run(self, call: "Call", plan: Write, done: "Done", attempt: int = 1) -> None:
        """Rehearse a write on this thread, which is one of the background."""
        try:
            if attempt > REHEARSALS_MAX:
                raise Unrehearsable  # noqa: TRY301 - the same way out
            rehearsal = Rehearsal(self._engine, plan.step)
        except Unrehearsable:
            told = self._background.on_loop(partial(_locked_out, plan, done))
            self._engine.submit(partial(_locked, plan.step), told)
            return
        result = None if rehearsal.result is None else call.prepare(rehearsal.result)
        rehearsal.result = None

        def replayed(_: None, error: BaseException | None) -> None:
            rehearsal.forget()
            self._replayed(call, plan, done, attempt, result, error)

        self._engine.submit(rehearsal.replay, self._background.on_loop(replayed), reads=rehearsal.reads)

    def _replayed(
        self,
        call: "Call",
        plan: Write,
        done: "Done",
        attempt: int,
        result: Result | None,
        error: BaseException | None,
    ) -> None:
        if isinstance(error, Outdated):
            if not self._background.submit(partial(self.run, call, plan, done, attempt + 1)):
                done(None, Unavailable("the server is stopping"))
            return
        _written(plan, done, result, error)
        # The loop must not be the one that takes a large request apart.
        self._background.submit(partial(_drop, call, plan))


def _written(plan: Write, done: "Done", result: Result | None, error: BaseException | None) -> None:
    if isinstance(error, Conflict) and plan.conflict is not None:
        error = plan.conflict()
    done(result, error)


def _locked(step: Callable[[Transaction], Result], tx: Transaction) -> Result:
    with effort.patience(time.thread_time, LOCKED_SECONDS):
        return step(tx)


def _locked_out(plan: Write, done: "Done", result: Result | None, error: BaseException | None) -> None:
    if isinstance(error, Exhausted):
        error = Conflict("others keep writing the same items")
    _written(plan, done, result, error)


def _drop(*_: object) -> None:
    """Hold the last reference to something."""
