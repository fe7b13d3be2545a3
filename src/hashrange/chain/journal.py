"""The link that records what was asked for, so that tests can look at it. Only servers with --test-kit have it."""

from collections import deque
from collections.abc import Iterator
from itertools import takewhile

import msgspec

from hashrange.api.errors import as_api_error
from hashrange.api.permissions import statements
from hashrange.api.results import Result
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Runner

RECORDS_MAX = 20_000
_NAMES_MAX = 100  # of tables in one record


class RequestRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request and what came of it."""

    number: int  # in the order of the answers
    epoch_seconds: float
    account_id: str
    region: str
    operation: str
    tables: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    read_units: float = 0.0
    write_units: float = 0.0
    items: int | None = None  # of a page
    scan: bool = False  # whether it has looked at all partitions: a Scan, or a SELECT without a partition key
    error: str | None = None


class Journal:
    """The latest requests. All of it happens on the event loop, but for looking at large requests."""

    def __init__(self, records_max: int = RECORDS_MAX) -> None:
        self._records: deque[RequestRecord] = deque(maxlen=records_max)
        self._last_number = 0

    @property
    def last_number(self) -> int:
        """The number of the latest request."""
        return self._last_number

    def link(self, call: Call, done: Done, following: Runner, /) -> None:
        """Record how a call ends, before its answer leaves: whoever has the answer finds the record."""
        scan = _is_scan(call)

        def ended(result: Result | None, error: BaseException | None) -> None:
            self._record(call, result, error, scan=scan)
            done(result, error)

        following(call, ended)

    def since(self, after: int, account_id: str | None) -> list[RequestRecord]:
        """The requests behind a number, of one account or of all."""
        newest_first = takewhile(lambda record: record.number > after, reversed(self._records))
        return [record for record in newest_first if account_id in {None, record.account_id}][::-1]

    def has_lost(self, after: int) -> bool:
        """Whether requests behind a number were too many to be kept."""
        return bool(self._records) and self._records[0].number > after + 1

    def _record(self, call: Call, result: Result | None, error: BaseException | None, *, scan: bool) -> None:
        charges = [] if result is None else list(result.charges())
        self._last_number += 1
        self._records.append(
            RequestRecord(
                self._last_number,
                call.context.clock.now(),
                call.context.account_id,
                call.context.region,
                call.operation.name,
                tuple(_tables(call)),
                tuple(sorted({charge.index.name for charge in charges if charge.index is not None})),
                sum(charge.units for charge in charges if not charge.write),
                sum(charge.units for charge in charges if charge.write),
                None if result is None else result.returned(),
                scan,
                None if error is None else as_api_error(error).code,
            )
        )


def _tables(call: Call) -> Iterator[str]:
    """The tables that a request names, each once; none if it is not even a request."""
    try:
        names = dict.fromkeys(name.rpartition("/")[2] for name in call.operation.resources(call.request))
    except Exception:  # noqa: BLE001 - planning has said what is wrong with it
        return
    yield from list(names)[:_NAMES_MAX]


def _is_scan(call: Call) -> bool:
    """Whether a request reads a table or an index from its beginning to its end."""
    if call.operation.name == "Scan":
        return True
    if call.operation.name != "ExecuteStatement" or call.request is None:
        return False
    try:
        needs = list(statements.execute_statement(call.context, call.request))
        return any(need.keys.get(statements.FULL_SCAN) == "true" for need in needs)
    except Exception:  # noqa: BLE001 - planning is going to say what is wrong with it
        return False
