"""Observing calls: what each of them cost and what came of it, noted when its answer has left."""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from time import monotonic
from typing import Any, Protocol, TypeVar

from hashrange.api.context import Context
from hashrange.api.errors import ApiError, as_api_error
from hashrange.api.partiql.execute_statement import StatementRead
from hashrange.api.protocol.operation import Operation, Service
from hashrange.api.results import Charge, ItemRead, ItemWritten, KeyQueried, PageRead, PlainWritten, Result
from hashrange.capacity.observation import Group, Observation, Observer, Outcome, StreamPage
from hashrange.chain.executor import Call
from hashrange.chain.touched import Touched
from hashrange.clock import Clock
from hashrange.core import capacity
from hashrange.core.schema import Index, Table
from hashrange.storage.errors import StorageError

_CONDITION_CODES = frozenset({"ConditionalCheckFailedException", "DuplicateItemException"})
_CONFLICT = "TransactionConflict"
_SERVER_ERROR = 500

_SERVICES = frozenset({"dynamodb", "dynamodbstreams"})
_GROUPED = frozenset(
    {
        *("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "ExecuteStatement"),
        *("BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems", "ExecuteTransaction"),
    }
)

# Nothing else of a request is kept until it is counted: what is kept is slow to get at by then, and to free.
_Note = tuple[Table, bytes, float, float]  # key, units and latency in seconds
_Page = tuple[Table, Index | None, bytes, float, float, int]  # likewise, and how many items it returned
_COLUMNS = tuple(map(itemgetter, range(6)))


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


class Lanes:
    """Makes the lanes of all operations."""

    def __init__(self, observer: Observer, clock: Clock) -> None:
        self._observer = observer
        self._clock = clock

    @staticmethod
    def observes(service: Service) -> bool:
        """Whether calls of this service are counted: only DynamoDB's are."""
        return service.name in _SERVICES

    def lane(self, service: Service, operation: Operation[Any]) -> "Lane | None":
        """A new lane, whose notes are counted with all others; None for services that are not observed."""
        if not self.observes(service):
            return None
        lane = Lane(operation, self._observer, self._clock)
        if operation.name in _GROUPED:
            self._observer.add_source(lane.groups)
        return lane

    def note_refused(self, operation: str, caller: Context, latency: float) -> None:
        """Note a request of a known caller that never became a call: there is no such operation, or no JSON."""
        ended = _Ended(operation, caller.account_id, caller.region, self._clock.now(), latency)
        self._observer.observe(ended.invalid())


class Lane:
    """What is noted of the calls of one operation until it is counted.

    Whoever sends an answer gives it to `note`. `append` is for the read of one item, and `append_page` for a page, if
    their units are known: most calls are such.
    """

    __slots__ = (
        "_clock",
        "_name",
        "_observer",
        "_pages",
        "_read",
        "_touched",
        "_written",
        "append",
        "append_page",
    )

    def __init__(self, operation: Operation[Any], observer: Observer, clock: Clock) -> None:
        self._name = operation.name
        self._observer = observer
        self._clock = clock
        self._read: list[_Note] = []
        self._written: list[_Note] = []
        self._pages: list[_Page] = []
        self._touched = Touched(self._name)
        self.append = self._read.append
        self.append_page = self._pages.append

    def note(self, call: Call, result: Result | None, error: BaseException | None, began: float) -> None:
        """Note a call of any kind that is over; it began at this time of the monotonic clock."""
        if type(result) is KeyQueried:
            units, latency = result.units, monotonic() - began
            self._pages.append((result.table, None, result.key, units, latency, result.returned() or 0))
            return
        if type(result) is PlainWritten:
            # PutItem's or DeleteItem's, so it is one; a batch has more around it.
            self._written.append((result.table, result.keys[0], result.units[0], monotonic() - began))
            return
        if type(result) is ItemWritten and not result.outcome.index_diffs:
            self._written.append((result.table, result.outcome.key, result.units, monotonic() - began))
            return
        if type(result) is ItemRead:
            self.append((result.table, result.key, result.units, monotonic() - began))
            return
        read = result
        if type(read) is StatementRead and len(read.pages) == 1:
            (read,) = read.pages
        if type(read) is PageRead:
            page = read.page
            if len(page.sizes) == 1 and not page.fetched:
                ((partition, size),) = page.sizes.items()
                key = read.start if len(read.partitions) == 1 else read.first_of(partition)
                units = capacity.read_units(size, consistent=read.consistent)
                self._pages.append((read.table, read.index, key, units, monotonic() - began, page.count))
                return
        if self._touched.takes(result):
            self._touched.add(result, monotonic() - began)
            return
        context = call.context
        ended = _Ended(self._name, context.account_id, context.region, self._clock.now(), monotonic() - began)
        observed = ended.failed(call, as_api_error(error)) if error else ended.succeeded(result, call)
        for observation in observed:
            self._observer.observe(observation)

    def groups(self) -> Iterator[Group]:
        """What was noted since the last time, by table and index."""
        if self._read:
            read, self._read = self._read, []
            self.append = self._read.append
            yield from self._items(read, write=False)
        if self._written:
            written, self._written = self._written, []
            yield from self._items(written, write=True)
        if self._pages:
            pages, self._pages = self._pages, []
            self.append_page = self._pages.append
            yield from self._read_pages(pages)
        yield from self._touched.take()

    def _items(self, notes: list[_Note], *, write: bool) -> Iterator[Group]:
        tables = _column(0, notes)
        # Most often all are of one table, and to see that takes a fraction of what their ids would.
        is_one = tables.count(tables[0]) == len(tables)
        for part in (notes,) if is_one else _by_owner(notes, list(map(id, tables))):
            keys, units, latencies = (_column(number, part) for number in (1, 2, 3))
            yield Group(self._name, part[0][0], None, write, keys, units, latencies)

    def _read_pages(self, pages: list[_Page]) -> Iterator[Group]:
        # Indexes of two tables may be equal, but are not the same.
        for part in _by_owner(pages, [id(note[1] or note[0]) for note in pages]):
            table, index, *_ = part[0]
            keys, units, latencies, counts = (_column(number, part) for number in (2, 3, 4, 5))
            owner = None if index is None or index.local else index
            yield Group(self._name, table, owner, False, keys, units, latencies, counts)


N = TypeVar("N", bound=tuple[Any, ...])


def _column(number: int, notes: Sequence[N]) -> list[Any]:
    return list(map(_COLUMNS[number], notes))


def _by_owner(notes: list[N], owners: Sequence[int]) -> Iterable[list[N]]:
    """The notes of each table or index, by the ids of these."""
    if owners.count(owners[0]) == len(owners):
        return (notes,)
    parts: dict[int, list[N]] = {}
    for owner, note in zip(owners, notes, strict=True):
        parts.setdefault(owner, []).append(note)
    return parts.values()


class _Ended:
    """A call whose outcome is known."""

    def __init__(self, operation: str, account_id: str, region: str, now: float, latency: float) -> None:
        self._operation = operation
        self._account_id = account_id
        self._region = region
        self._now = now
        self._latency = latency
        self._numbers: set[int] = set()  # of the tables that have the latency already

    def succeeded(self, result: Result | None, call: Call | None) -> Iterator[Observation]:
        """One record for everything that was touched."""
        if result is None:
            return
        items = result.returned()
        for charge in result.charges():
            observation = self._charged(charge, "ok")
            observation.items, items = items, None
            yield observation
        for refusal in _refusals(result):
            yield self._throttled(refusal)
        stream = result.stream_read()
        if stream is not None and call is not None:
            observation = self._plain("ok", _find(call, stream.table_name))
            observation.items = stream.records
            observation.stream = StreamPage(*stream[1:])
            yield observation
        if not self._numbers:
            yield self._plain("ok", None)

    def failed(self, call: Call, error: ApiError) -> Iterator[Observation]:
        """One record for every item that the request failed on, or one for all of it."""
        refusals = _refusals(error)
        if refusals:
            for refusal in refusals:
                yield self._timed(self._throttled(refusal))
        elif error.code in _CONDITION_CODES and error.charges:
            for charge in error.charges:
                yield self._charged(charge, "condition")
        elif error.status >= _SERVER_ERROR:
            for table in _tables(call):
                yield self._plain("system error", table)
        elif _is_conflict(error):
            for table in _tables(call):
                yield self._plain("conflict", table)
        else:
            yield self.invalid()

    def invalid(self) -> Observation:
        """The record of a request that was wrong."""
        return self._plain("user error", None)

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

    def _plain(
        self, outcome: Outcome, table: Table | None, key: bytes = b"", *, timed: bool = True
    ) -> Observation:
        observation = Observation(
            self._now, self._operation, self._account_id, self._region, table, None, key, 0.0, 0.0, outcome
        )
        return self._timed(observation) if timed else observation

    def _timed(self, observation: Observation) -> Observation:
        number = 0 if observation.table is None else observation.table.number
        if number not in self._numbers:
            observation.latency, observation.repeated = self._latency, bool(self._numbers)
            self._numbers.add(number)
        return observation


def _tables(call: Call) -> list[Table | None]:
    """The tables that a request names; for every item where it names the table of each. None: it names none."""
    try:
        names = list(call.operation.resources(call.request))
    except Exception:  # noqa: BLE001 - a request that does not decode names nothing
        names = []
    return [_find(call, name) for name in names] or [None]


def _find(call: Call, name: str) -> Table | None:
    context = call.context
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
