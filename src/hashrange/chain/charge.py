"""Observing calls: what each of them cost and what came of it, noted when its answer has left."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from hashrange.api.errors import ApiError, as_api_error
from hashrange.api.results import Charge, ItemRead, Result
from hashrange.capacity.observation import Observation, Observer, Outcome, StreamPage
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Link, Runner
from hashrange.clock import Clock
from hashrange.core.schema import Index, Table
from hashrange.storage.errors import StorageError

_CONDITION_CODES = frozenset({"ConditionalCheckFailedException", "DuplicateItemException"})
_CONFLICT = "TransactionConflict"
_SERVER_ERROR = 500


class Throttled(Protocol):
    """What an item that found no capacity leaves behind, in `refusals` of results and errors."""

    @property
    def table(self) -> Table: ...
    @property
    def index(self) -> Index | None: ...
    @property
    def key(self) -> bytes: ...
    @property
    def reasons(self) -> Sequence[dict[str, str]]: ...


def observing(observer: Observer, clock: Clock) -> Link:
    """The link that observes every call."""
    observe, monotonic = observer.observe, time.monotonic

    def link(call: Call, done: Done, following: Runner, /) -> None:
        began = monotonic()

        def ended(result: Result | None, error: BaseException | None) -> None:
            done(result, error)
            latency = monotonic() - began
            if type(result) is ItemRead:
                # Written out, because most requests are like this.
                table = result.table
                observe(
                    Observation(
                        clock.now(),
                        call.operation.name,
                        table.account_id,
                        table.region,
                        table,
                        None,
                        result.key,
                        result.units,
                        0.0,
                        "ok",
                        latency,
                    )
                )
                return
            for observation in _Ended(call, clock.now(), latency).observations(result, error):
                observe(observation)

        following(call, ended)

    return link


class _Ended:
    """A call whose outcome is known."""

    def __init__(self, call: Call, now: float, latency: float) -> None:
        self._call = call
        self._now = now
        self._latency = latency
        self._numbers: set[int] = set()  # of the tables that have the latency already

    def observations(self, result: Result | None, error: BaseException | None) -> Iterator[Observation]:
        """One record for everything that happened."""
        if result is not None:
            return self._succeeded(result)
        return self._failed(as_api_error(error or TypeError()))

    def _succeeded(self, result: Result) -> Iterator[Observation]:
        items = result.returned()
        for charge in result.charges():
            observation = self._charged(charge, "ok")
            observation.items, items = items, None
            yield observation
        for refusal in _refusals(result):
            yield self._throttled(refusal)
        if (stream := result.stream_read()) is not None:
            observation = self._plain("ok", self._find(stream.table_name))
            observation.items = stream.records
            observation.stream = StreamPage(*stream[1:])
            yield observation
        if not self._numbers:
            yield self._plain("ok", None)

    def _failed(self, error: ApiError) -> Iterator[Observation]:
        refusals = _refusals(error)
        charges = error.charges
        if refusals:
            for refusal in refusals:
                yield self._timed(self._throttled(refusal))
        elif error.code in _CONDITION_CODES and charges:
            for charge in charges:
                yield self._charged(charge, "condition")
        elif error.status >= _SERVER_ERROR:
            yield from self._of_tables("system error")
        elif _is_conflict(error):
            yield from self._of_tables("conflict")
        else:
            yield self._plain("user error", None)

    def _charged(self, charge: Charge, outcome: Outcome) -> Observation:
        index = charge.index
        observation = self._plain(outcome, charge.table, charge.key)
        # A local index lies in its table's partitions, and has no capacity of its own.
        observation.index = None if index is None or index.local else index
        if charge.write:
            observation.write_units = charge.units
        else:
            observation.read_units = charge.units
        return observation

    def _throttled(self, refusal: Throttled) -> Observation:
        observation = self._plain("throttle", refusal.table, refusal.key, timed=False)
        observation.index = refusal.index
        observation.reasons = tuple(reason["reason"] for reason in refusal.reasons)
        return observation

    def _of_tables(self, outcome: Outcome) -> Iterator[Observation]:
        """One record for every table that the request names, or every item where it names the table of each."""
        tables = [self._find(name) for name in self._names()]
        for table in tables or [None]:
            yield self._plain(outcome, table)

    def _plain(
        self, outcome: Outcome, table: Table | None, key: bytes = b"", *, timed: bool = True
    ) -> Observation:
        context, operation = self._call.context, self._call.operation.name
        observation = Observation(
            self._now, operation, context.account_id, context.region, table, None, key, 0.0, 0.0, outcome
        )
        return self._timed(observation) if timed else observation

    def _timed(self, observation: Observation) -> Observation:
        number = 0 if observation.table is None else observation.table.number
        if number not in self._numbers:
            observation.latency, observation.repeated = self._latency, bool(self._numbers)
            self._numbers.add(number)
        return observation

    def _names(self) -> Iterable[str]:
        try:
            return list(self._call.operation.resources(self._call.request))
        except Exception:  # noqa: BLE001 - a request that does not decode names nothing
            return ()

    def _find(self, name: str) -> Table | None:
        context = self._call.context
        try:
            return context.catalogue.find(context.account_id, context.region, name.rpartition("/")[2])
        except StorageError:
            return None  # nobody can say at present


def _refusals(outcome: Result | ApiError) -> Sequence[Throttled]:
    return getattr(outcome, "refusals", ())


def _is_conflict(error: ApiError) -> bool:
    if error.code == f"{_CONFLICT}Exception":
        return True
    reasons = error.fields.get("CancellationReasons", ())
    return isinstance(reasons, list) and any(reason["Code"] == _CONFLICT for reason in reasons)
