"""The gate: admits the items that a request touches, or refuses them, and keeps account of what they cost.

It admits an item while there are tokens, and charges what the item cost once that is known, at once: what a batch has
taken for its first items counts against its later ones, and of many writes that share a commit none slips through. A
step may run twice, so its tab gives back what an earlier run took; so does a step that fails. All that is charged is
the `charges` of results and errors, of which ConsumedCapacity and the metrics are made as well.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Protocol, TypeVar

import msgspec

from hashrange.api.errors import ApiError
from hashrange.api.results import Charge, ItemWritten, KeyQueried, PageRead, PlainWritten, Result
from hashrange.api.throttling.index_queues import Admitting, IndexQueues
from hashrange.api.throttling.refusals import Refusal
from hashrange.capacity.admission import Allowance, Charged
from hashrange.capacity.limits import Limit
from hashrange.clock import Clock
from hashrange.core import capacity
from hashrange.core.schema import Index, Table
from hashrange.storage.engine import Reader, Transaction

CAPACITY_TAG = "hashrange:capacity"
ENFORCE = "enforce"

S = TypeVar("S")
T = TypeVar("T")
W = TypeVar("W", ItemWritten, PlainWritten, ItemWritten | PlainWritten)


class Model(Admitting, Protocol):
    """What the gate asks of the model besides."""

    def read_allowance(self, table: Table, index: Index | None, key: bytes) -> Allowance | None:
        """Units that were lent to reads of this key's partition and are not spent."""

    def write_allowance(self, table: Table, key: bytes) -> Allowance | None:
        """Units that were lent to writes of this key's partition and are not spent."""

    def lend(self, now: float, table: Table, index: Index | None, key: bytes, *, write: bool) -> None:
        """Lend a key that is admitted some units, to be spent without a question."""

    def settle(self, now: float) -> None:
        """Charge what was spent of all allowances."""

    def take_charges(self) -> list[Charged]:
        """What was charged here since the last call."""

    def absorb(self, now: float, table: Table, index: Index | None, charged: Charged) -> None:
        """Charge what another process has charged."""


class Faults(Protocol):
    """Throttles that are wanted for a test."""

    def limits(self, table: Table, *, write: bool) -> tuple[Limit, ...]:
        """What to refuse an item with that the model admits."""


AllowanceOfRead = Callable[[Table, Index | None, bytes], Allowance | None]


class Tabs(Protocol):
    """What guards the steps of requests."""

    guards_all: bool  # False: of tables without tags nobody need ask, and nobody in a hurry does

    @property
    def read_allowance(self) -> "AllowanceOfRead":
        """Finds units that a read may spend without any other question; None: it has to be guarded."""

    def guarded(
        self, table: Table, index: Index | None, key: bytes, step: Callable[[Reader], Result]
    ) -> Callable[[Reader], Result]:
        """The step of a plan that reads an item, or a page of one partition, once it is admitted."""

    def guarded_page(
        self, table: Table, index: Index | None, key: bytes, step: Callable[[Reader], Result]
    ) -> Callable[[Reader], Result]:
        """Likewise for a page that begins at this key and may be of several partitions."""

    def tab(self, *tables: Table) -> "Tab | None":
        """A tab for a request that touches these tables; None where none of them is guarded."""


class Gate:
    """Where requests of all threads ask for capacity."""

    def __init__(self, model: Model, clock: Clock, mode: str) -> None:
        """The `mode` is for tables without the tag."""
        self._model = model
        self._now = clock.now
        self._mode = mode
        self.guards_all = mode == ENFORCE
        self.read_allowance = model.read_allowance
        self.write_allowance = model.write_allowance
        self.queues = IndexQueues(model)
        self._lock = Lock()

    def guarded(
        self, table: Table, index: Index | None, key: bytes, step: Callable[[Reader], Result]
    ) -> Callable[[Reader], Result]:
        """The step of a plan that reads an item, or a page of one partition; itself if the table is not guarded."""
        if table.tags.get(CAPACITY_TAG, self._mode) != ENFORCE:
            return step
        owner = None if index is None or index.local else index
        allowance = self.read_allowance(table, owner, key)
        return (
            partial(self._read, table, owner, key, step)
            if allowance is None
            else partial(self._spend, allowance, step)
        )

    def guarded_page(
        self, table: Table, index: Index | None, key: bytes, step: Callable[[Reader], Result]
    ) -> Callable[[Reader], Result]:
        """The step of a plan that reads a page of several partitions, which is never paid from what was lent."""
        if table.tags.get(CAPACITY_TAG, self._mode) != ENFORCE:
            return step
        owner = None if index is None or index.local else index
        return partial(self._read_page, table, owner, key, step)

    def _read(
        self,
        table: Table,
        index: Index | None,
        key: bytes,
        step: Callable[[Reader], Result],
        reader: Reader,
    ) -> Result:
        _demand(self.read_refusal(table, index, key))
        result = step(reader)
        self.charge(result.charges())
        with self._lock:
            self._model.lend(self._now(), table, index, key, write=False)
        return result

    def _read_page(
        self,
        table: Table,
        index: Index | None,
        key: bytes,
        step: Callable[[Reader], Result],
        reader: Reader,
    ) -> Result:
        _demand(self.read_refusal(table, index, key))
        result = step(reader)
        charges = tuple(result.charges())
        _demand(self.page_refusal(charges))
        self.charge(charges)
        return result

    def _spend(self, allowance: Allowance, step: Callable[[Reader], Result], reader: Reader) -> Result:
        """Read what was admitted beforehand."""
        result = step(reader)
        if type(result) is KeyQueried:
            allowance.left -= result.units
        elif type(result) is PageRead and len(result.partitions) == 1 and not result.page.fetched:
            (size,) = result.page.sizes.values()
            allowance.left -= capacity.read_units(size, consistent=result.consistent)
        else:
            self.charge(result.charges())
        return result

    def page_refusal(self, charges: Sequence[Charge]) -> Refusal | None:
        """Why a page cannot be had that was read from several partitions; one alone was asked before."""
        if len(charges) == 1:
            return None
        refusals = (self.read_refusal(charge.table, charge.index, charge.key) for charge in charges)
        return next(filter(None, refusals), None)

    def lend_write(self, table: Table, key: bytes) -> None:
        """Lend a partition some units after a write that it was asked for."""
        if self.enforces(table):
            with self._lock:
                self._model.lend(self._now(), table, None, key, write=True)

    def tab(self, *tables: Table) -> "Tab | None":
        """A tab for a request that touches these tables; None where none of them is guarded."""
        for table in tables:
            if table.tags.get(CAPACITY_TAG, self._mode) == ENFORCE:
                return Tab(self)
        return None

    def take_charges(self) -> list[Charged]:
        """What was charged since the last call, for other processes on the same data."""
        with self._lock:
            self._model.settle(self._now())
            return self._model.take_charges()

    def absorb(self, tables: Mapping[int, Table], charges: Iterable[Charged]) -> None:
        """Charge what another process has charged; what it knows and this one does not, is left out."""
        with self._lock:
            now = self._now()
            for charged in charges:
                table = tables.get(charged.table_number)
                if table is None:
                    continue
                index = next((index for index in table.global_indexes if index.slot == charged.slot), None)
                if index is not None or not charged.slot:
                    self._model.absorb(now, table, index, charged)

    def enforces(self, table: Table) -> bool:
        """Whether requests for this table may be refused."""
        return table.tags.get(CAPACITY_TAG, self._mode) == ENFORCE

    def read_refusal(self, table: Table, index: Index | None, key: bytes) -> Refusal | None:
        """Why this key of a table or index cannot be read now."""
        owner = None if index is None or index.local else index
        with self._lock:
            limits = self._model.refused(self._now(), table, owner, key, write=False)
        return Refusal(table, owner, key, write=False, limits=limits) if limits else None

    def write_refusal(self, table: Table, key: bytes) -> Refusal | None:
        """Why this item cannot be written now."""
        with self._lock:
            now = self._now()
            limits = self._model.refused(now, table, None, key, write=True)
            if limits:
                return Refusal(table, None, key, write=True, limits=limits)
            if not self.queues.by_index:
                return None
            for index in table.global_indexes:
                blocked = self.queues.blocked(now, table, index)
                if blocked is not None:
                    # The key is the index's own that is to blame, which the write itself need not have.
                    return Refusal(table, index, blocked.key, write=True, limits=blocked.limits)
        return None

    def charge(self, charges: Iterable[Charge], sign: int = 1) -> None:
        """Charge what items cost, or give it back."""
        with self._lock:
            now = self._now()
            for charge in charges:
                index = None if charge.index is None or charge.index.local else charge.index
                if index is not None and charge.write and sign > 0:
                    self.queues.add(now, charge.table, index, charge.key, charge.units)
                    continue
                self._model.charge(
                    now, charge.table, index, charge.key, sign * charge.units, write=charge.write
                )


class Tab(msgspec.Struct):
    """What one request has been charged so far."""

    _gate: Gate
    _faults: Faults | None = None
    _taken: list[Charge] = msgspec.field(default_factory=list)
    # Of the write of one item: what was lent to its partition, and how much of that it took.
    _allowance: Allowance | None = None
    _spent: float = 0.0

    def run(self, step: Callable[[S], T], subject: S) -> T:
        """Run the step of a plan. It may be run again, and then starts from nothing."""
        self._give_back()
        try:
            return step(subject)
        except Exception as error:
            self._give_back()
            if isinstance(error, ApiError):
                self.take(error.charges)
            raise

    def read(
        self,
        table: Table,
        index: Index | None,
        key: bytes,
        step: Callable[[Reader], Result],
        reader: Reader,
    ) -> Result:
        """Run the step of a plan that reads one item or page."""
        self._give_back()
        self.demand_read(table, index, key)
        result = step(reader)
        _demand(self.take_page(result))
        return result

    def write(self, step: Callable[[Transaction], W], tx: Transaction) -> W:
        """Run the step of a plan that writes one item; the step asks for it by itself."""
        if self._allowance is not None:
            self._pay_back(self._allowance)
        result = self.run(step, tx)
        allowance, write = self._allowance, result.only_write
        if allowance is not None and write is not None:
            key, self._spent = write
            allowance.left -= self._spent
            if allowance.left <= 0:
                # A large item may cost several times what was lent: charged later, it would find a full bucket.
                self._gate.lend_write(result.table, key)
            return result
        charges = tuple(result.charges())
        self.take(charges)
        if self._faults is None:
            self._gate.lend_write(result.table, charges[0].key)
        return result

    def read_refusal(self, table: Table, index: Index | None, key: bytes) -> Refusal | None:
        """Why this key of a table or index cannot be read now."""
        if self._faults is not None:
            limits = self._faults.limits(table, write=False)
            if limits:
                owner = None if index is None or index.local else index
                return Refusal(table, owner, key, write=False, limits=limits)
        return self._gate.read_refusal(table, index, key) if self._gate.enforces(table) else None

    def write_refusal(self, table: Table, key: bytes) -> Refusal | None:
        """Why this item cannot be written now."""
        if self._faults is not None:
            limits = self._faults.limits(table, write=True)
            if limits:
                return Refusal(table, None, key, write=True, limits=limits)
        return self._gate.write_refusal(table, key) if self._gate.enforces(table) else None

    def demand_read(self, table: Table, index: Index | None, key: bytes) -> None:
        """Raise the service's exception if this key cannot be read now."""
        _demand(self.read_refusal(table, index, key))

    def demand_write(self, table: Table, key: bytes) -> None:
        """Raise the service's exception if this one item, which `write` charges, cannot be written now."""
        gate = self._gate
        if self._faults is None and not gate.queues.by_index:
            self._allowance = gate.write_allowance(table, key)
            if self._allowance is not None:
                return
        _demand(self.write_refusal(table, key))

    def take_page(self, result: Result) -> Refusal | None:
        """Charge what was read from one partition, which was admitted, or from several if all of them have capacity."""
        taken = [charge for charge in result.charges() if self._gate.enforces(charge.table)]
        refusal = self._gate.page_refusal(taken)
        if refusal is None:
            self.take(taken)
        return refusal

    def take(self, charges: Iterable[Charge]) -> None:
        """Charge what was admitted."""
        taken = [charge for charge in charges if self._gate.enforces(charge.table)]
        self._gate.charge(taken)
        self._taken += taken

    def _pay_back(self, allowance: Allowance) -> None:
        allowance.left += self._spent
        self._allowance, self._spent = None, 0.0

    def _give_back(self) -> None:
        if self._taken:
            self._gate.charge(self._taken, sign=-1)
            self._taken.clear()


def _demand(refusal: Refusal | None) -> None:
    """Raise the service's exception for a refusal."""
    if refusal is not None:
        raise refusal.error()
