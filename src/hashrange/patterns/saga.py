"""Sagas: steps in several places that are all done, or undone in reverse, whatever dies in between."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from hashrange.patterns.errors import PatternError, PayloadDiffers, SagaFailed, SagaStuck, Stale
from hashrange.patterns.retries import Retry
from hashrange.patterns.steps import Steps, fresh, invoke, procedure
from hashrange.patterns.tables import Table
from hashrange.patterns.values import Item, plain_value, wire_value


class Abort(PatternError):
    """Raised by an action: it has done nothing and will not; undo the steps before it."""


class Turn(msgspec.Struct, frozen=True):
    """What actions and compensations are called with.

    The key is the same whenever the same step is tried again: give it to whatever takes an idempotency key.
    """

    key: str
    input: Any
    results: dict[str, Any]


class SagaStep(msgspec.Struct, frozen=True):
    """An action and how to undo it. Both may run more than once, and the compensation without its action."""

    name: str
    action: Callable[[Turn], Any]
    compensation: Callable[[Turn], Any]


class Saga(msgspec.Struct, frozen=True):
    """A record (`SAGA#name#id`, `SAGA`) says how far it has come; every step is recorded after it was done.

    Whoever finds a saga that nobody runs any more runs it again, with the same id, and it goes on. An action that
    raises Abort ends it; one that raises anything else may have been done or not: it is tried again, then compensated.
    """

    table: Table
    name: str
    steps: Sequence[SagaStep]
    attempts: Retry = Retry(attempts_max=3)

    @procedure
    def run(self, saga_id: str, argument: Any = None) -> Steps[dict[str, Any]]:
        """Begin it or go on; gives the results of all steps by name. Raises SagaFailed once all is compensated.

        Who goes on need not know the argument. The results of all steps have to fit one item.
        """
        record = yield from self._begun(saga_id, argument)
        while record["status"] == "RUNNING":
            record = yield from self._forward(record)
        while record["status"] == "COMPENSATING":
            record = yield from self._back(record)
        if record["status"] == "COMPENSATED":
            raise SagaFailed(record["reason"])
        results: dict[str, Any] = record["results"]
        return results

    def _begun(self, saga_id: str, argument: Any) -> Steps[Item]:
        argument = plain_value(wire_value(argument))  # as it will be read again
        record: Item = {
            **self.table.key(f"SAGA#{self.name}#{saga_id}", "SAGA"),
            "saga_id": saga_id,
            "status": "RUNNING",
            "position": 0,
            "results": {},
            "input": argument,
            "steps": [step.name for step in self.steps],
            "turn": (yield from fresh()),
        }
        failed = yield from self.table.tried(self.table.putting(record, "attribute_not_exists(#pk)"))
        stored = record if failed is None or failed.stored is None else failed.stored
        if stored["steps"] != record["steps"] or argument not in (None, stored["input"]):
            raise PayloadDiffers(f"{saga_id} was begun with other steps or another input")
        return stored

    def _forward(self, record: Item) -> Steps[Item]:
        """Do the next step, and record it."""
        if record["position"] == len(self.steps):
            return (yield from self._recorded(record, {"status": "DONE"}))
        step = self.steps[record["position"]]
        try:
            result = yield from self._tried(step.action, self._turn(record, step))
            wire_value(result)  # one that cannot be recorded is a step that failed
        except Abort as abort:
            return (yield from self._recorded(record, _turning_back(abort, record["position"])))
        except Exception as error:  # noqa: BLE001 - whatever an application's action raises
            # It may have been done: its own compensation is the first to run.
            return (yield from self._recorded(record, _turning_back(error, record["position"] + 1)))
        results = {**record["results"], step.name: result}
        return (yield from self._recorded(record, {"position": record["position"] + 1, "results": results}))

    def _back(self, record: Item) -> Steps[Item]:
        """Undo the last step that is not undone, and record it."""
        if record["position"] == 0:
            return (yield from self._recorded(record, {"status": "COMPENSATED"}))
        step = self.steps[record["position"] - 1]
        try:
            yield from self._tried(step.compensation, self._turn(record, step))
        except Exception as error:
            raise SagaStuck(f"{record['saga_id']}: {step.name} is not compensated: {error}") from error
        return (yield from self._recorded(record, {"position": record["position"] - 1}))

    def _tried(self, function: Callable[[Turn], Any], turn: Turn) -> Steps[Any]:
        attempt = 1
        while True:
            try:
                return (yield from invoke(function, turn))
            except Abort:
                raise
            except Exception:
                if attempt >= self.attempts.attempts_max:
                    raise
            yield self.attempts.pause(attempt)
            attempt += 1

    def _recorded(self, record: Item, changes: Item) -> Steps[Item]:
        """Store the record if nobody else has moved it on since: then it is theirs, and Stale."""
        changed = {**record, **changes, "turn": (yield from fresh())}
        write = self.table.putting(changed, "#turn = :turn", turn=record["turn"])
        failed = yield from self.table.tried(write)
        if failed is not None and (failed.stored or {}).get("turn") != changed["turn"]:
            raise Stale(f"{record['saga_id']} is run by somebody else")
        return changed

    def _turn(self, record: Item, step: SagaStep) -> Turn:
        return Turn(f"{self.name}/{record['saga_id']}/{step.name}", record["input"], record["results"])


def _turning_back(error: Exception, position: int) -> Item:
    reason = f"{type(error).__name__}: {error}"[:500]
    return {"status": "COMPENSATING", "position": position, "reason": reason}
