"""Chaos: throttles, delays, conflicts and internal errors on purpose, so that users can test their retries.

A link of the chain that is there only with --chaos. Its errors are the service's own. A throttle goes through the gate
that all items pass, so that a batch loses some of its items and a transaction is cancelled, as they would be for want
of capacity.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import msgspec

from hashrange.api.errors import ApiError
from hashrange.api.registry import DYNAMODB
from hashrange.api.results import Result
from hashrange.api.throttling.gate import Gate, Tab
from hashrange.api.transactions import cancellation
from hashrange.capacity.limits import Limit
from hashrange.chain.background import Background
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Runner
from hashrange.clock import Clock
from hashrange.core.schema import Index, Table
from hashrange.storage import fault_rules
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.fault_rules import FaultRule

DATA_OPERATIONS = frozenset(
    name for name, operation in DYNAMODB.operations.items() if operation.kind != "control"
)
_TRANSACTIONS = {
    "ExecuteTransaction": "transact_statements",
    "TransactGetItems": "transact_items",
    "TransactWriteItems": "transact_items",
}
CONFLICTING = frozenset({"DeleteItem", "ExecuteStatement", "PutItem", "UpdateItem", *_TRANSACTIONS})

CallLater = Callable[[float, Callable[[], None]], object]
Told = Callable[[BaseException | None], None]


class ActiveRule:
    """A rule and its dice."""

    __slots__ = ("_operations", "_random", "_times_left", "rule")

    def __init__(self, rule: FaultRule) -> None:
        self.rule = rule
        self._operations = frozenset(rule.operations) or DATA_OPERATIONS
        self._random = Random(rule.seed)  # noqa: S311 - dice, and the same ones for the same seed
        self._times_left = rule.times

    def in_force(self, now: float) -> bool:
        """Whether it may still strike."""
        return now < self.rule.expires_epoch_seconds and self._times_left != 0

    def concerns(self, call: Call, tables: frozenset[str], now: float) -> bool:
        """Whether requests of this kind may fail now."""
        rule = self.rule
        return (
            call.operation.name in self._operations
            and self.in_force(now)
            and rule.account_id in {None, call.context.account_id}
            and (not rule.tables or not tables.isdisjoint(rule.tables))
        )

    def strikes(self) -> bool:
        """Throw the dice, as long as the rule has not struck often enough."""
        if self._times_left == 0 or self._random.random() >= self.rule.rate:
            return False
        if self._times_left is not None:
            self._times_left -= 1
        return True

    def choice(self, count: int) -> int:
        """One of so many."""
        return self._random.randrange(count)


class ThrottledGate:
    """A gate for one call, some of whose items are to be refused."""

    guards_all = True

    def __init__(self, gate: Gate, rules: list[ActiveRule]) -> None:
        self._gate = gate
        self._rules = rules

    def guarded(
        self, table: Table, index: Index | None, key: bytes, step: Callable[[Reader], Result]
    ) -> Callable[[Reader], Result]:
        """The step of a plan that reads one item or page, which may be refused."""
        return partial(Tab(self._gate, self).read, table, index, key, step)

    guarded_page = guarded

    @staticmethod
    def read_allowance(_table: Table, _index: Index | None, _key: bytes) -> None:
        """Nothing is lent: whatever is read is guarded."""

    def tab(self, *_: Table) -> Tab:
        """A tab for the call, whatever tables it touches."""
        return Tab(self._gate, self)

    def limits(self, table: Table, *, write: bool) -> tuple[Limit, ...]:
        """What to refuse an item with: a limit that its table can have."""
        del write
        for active in self._rules:
            tables = active.rule.tables
            if (not tables or table.name in tables) and active.strikes():
                return ("KeyRangeThroughputExceeded" if table.on_demand else "ProvisionedThroughputExceeded",)
        return ()


class Chaos:
    """The link, and the rules that it goes by. All of it happens on the event loop, but for calls of large bodies."""

    def __init__(
        self, engine: Engine, clock: Clock, gate: Gate, background: Background, call_later: CallLater
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._gate = gate
        self._background = background
        self._call_later = call_later
        self._active: tuple[ActiveRule, ...] = ()
        # Those of polls are drawn when they begin, and those of changes when they are done.
        self._tickets = itertools.count(1)
        self._taken = 0  # the ticket of the rules in force

    def rules(self) -> list[FaultRule]:
        """The rules in force."""
        now = self._clock.now()
        return [active.rule for active in self._active if active.in_force(now)]

    def add(self, rule: FaultRule, told: Told) -> None:
        """Store a rule; `told` is called when that is on disk."""
        self._change(lambda tx: fault_rules.add(tx, rule, self._clock.now()), told)

    def clear(self, rule_id: str | None, told: Told) -> None:
        """Remove one rule, or all."""
        self._change(lambda tx: fault_rules.clear(tx, rule_id), told)

    def clear_account(self, account_id: str, told: Told) -> None:
        """Remove the rules of one account."""
        self._change(lambda tx: fault_rules.clear_account(tx, account_id), told)

    def _change(self, step: Callable[[Transaction], tuple[FaultRule, ...]], told: Told) -> None:
        def done(rules: tuple[FaultRule, ...] | None, error: BaseException | None) -> None:
            if rules is not None:
                self._take(next(self._tickets), rules)
            told(error)

        self._engine.submit(step, done, reads=fault_rules.READS)

    def poll(self) -> None:
        """Follow what another worker or server has stored."""
        ticket = next(self._tickets)

        def polled(rules: tuple[FaultRule, ...] | None, _error: BaseException | None) -> None:
            # It may have read, on another thread, what was there before a change that was told of in the meantime.
            if rules is not None and ticket > self._taken:
                self._take(ticket, rules)

        self._engine.submit_read(fault_rules.stored_rules, polled, reads=fault_rules.READS)

    def _take(self, ticket: int, rules: tuple[FaultRule, ...]) -> None:
        self._taken = ticket
        known = {active.rule: active for active in self._active}
        self._active = tuple(known.get(rule) or ActiveRule(rule) for rule in rules)

    def __call__(self, call: Call, done: Done, following: Runner, /) -> None:
        """Let a call fail or wait if a rule wants it, else hand it on."""
        rules = list(self._concerning(call)) if self._active else []
        if not rules:
            following(call, done)
            return
        fault = next(filter(None, (_fault(active, call) for active in rules)), None)
        if fault is not None:
            self._refuse(call, done, fault)
            return
        if any(active.rule.after and active.strikes() for active in rules):
            done = partial(_lose_answer, done)
        throttles = [active for active in rules if active.rule.fault == "throttle"]
        if throttles:
            call.context = msgspec.structs.replace(call.context, gate=ThrottledGate(self._gate, throttles))
        delays = [active.rule.latency_ms for active in rules if active.rule.latency_ms and active.strikes()]
        if delays:
            self._delay(call, done, following, sum(delays) / 1000)
        else:
            following(call, done)

    def _concerning(self, call: Call) -> Iterator[ActiveRule]:
        tables, now = _tables(call), self._clock.now()
        for active in self._active:
            if active.concerns(call, tables, now):
                yield active

    def _refuse(self, call: Call, done: Done, error: ApiError) -> None:
        if call.patient:
            self._background.call_on_loop(partial(done, None, error))
        else:
            done(None, error)

    def _delay(self, call: Call, done: Done, following: Runner, seconds: float) -> None:
        call.retain()
        run = partial(following, call, done)
        if call.patient:
            # It goes on where it came from: what it computes is too much for the loop.
            again = partial(self._background.submit, run)
            self._background.call_on_loop(
                lambda: _ignored(self._call_later(seconds, lambda: _ignored(again())))
            )
        else:
            self._call_later(seconds, run)


def _ignored(_: object) -> None:
    """Give nothing."""


def _tables(call: Call) -> frozenset[str]:
    """The tables that a request names; none if it is not even a request."""
    try:
        return frozenset(name.rpartition("/")[2] for name in call.operation.resources(call.request))
    except Exception:  # noqa: BLE001 - planning is going to say what is wrong with it
        return frozenset()


def _fault(active: ActiveRule, call: Call) -> ApiError | None:
    """What a call is answered with instead of being carried out; None: nothing."""
    rule, name = active.rule, call.operation.name
    if rule.after or not _answers_itself(rule, name) or not active.strikes():
        return None
    if rule.fault == "error":
        return _internal_error()
    if rule.fault == "conflict":
        return _conflict(active, call)
    return ApiError("ThrottlingException", "Rate exceeded")


def _answers_itself(rule: FaultRule, operation: str) -> bool:
    """Whether a rule answers this operation by itself: items are throttled by the gate."""
    match rule.fault:
        case "error":
            return True
        case "conflict":
            return operation in CONFLICTING
        case "throttle":
            return operation not in DATA_OPERATIONS
        case "latency":
            return False


def _internal_error() -> ApiError:
    return ApiError("InternalServerError", "Internal server error", status=500)


def _conflict(active: ActiveRule, call: Call) -> ApiError | None:
    request, name = call.request, call.operation.name
    if name in _TRANSACTIONS:
        count = len(getattr(request, _TRANSACTIONS[name], None) or ())
        return cancellation.conflict_on(active.choice(count), count) if count else None
    if str(getattr(request, "statement", "")).lstrip()[:6].upper() == "SELECT":
        return None
    return ApiError("TransactionConflictException", "Transaction is ongoing for the item")


def _lose_answer(done: Done, result: Result | None, error: BaseException | None) -> None:
    """Tell the client of an error after what it asked for was done."""
    done(None, error if result is None else _internal_error())
