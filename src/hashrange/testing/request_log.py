"""What was asked of the server, with what it cost: for tests that want few reads, no scans, or a retry."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import msgspec

from hashrange.testing.control import Control, TestingFailed

_PATH = "/_hashrange/testing/requests"
_SHOWN_MAX = 20  # requests in a message


class Request(msgspec.Struct, frozen=True):
    """A request that was answered."""

    number: int
    epoch_seconds: float
    account_id: str
    region: str
    operation: str
    tables: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    read_units: float = 0.0
    write_units: float = 0.0
    items: int | None = None
    scan: bool = False  # a Scan, or a SELECT that has to look at every item
    error: str | None = None

    def __str__(self) -> str:
        """One line for a message: `Query of orders (by-status): 3 items, 1.5 RCU`."""
        names = ", ".join(self.tables) + (f" ({', '.join(self.indexes)})" if self.indexes else "")
        outcome = [] if self.items is None else [f"{self.items} item{'' if self.items == 1 else 's'}"]
        outcome += [f"{self.read_units:g} RCU"] if self.read_units else []
        outcome += [f"{self.write_units:g} WCU"] if self.write_units else []
        outcome += [] if self.error is None else [self.error]
        head = f"{self.operation} of {names}" if names else self.operation
        return f"{head}: {', '.join(outcome)}" if outcome else head


class RequestLog:
    """The requests of an account, or of all, since a moment. The server keeps the latest 20,000."""

    def __init__(self, control: Control, account_id: str | None, after: int = 0) -> None:
        self._control = control
        self._account_id = account_id
        self._after = after

    def __iter__(self) -> Iterator[Request]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())

    def all(self, operation: str | None = None) -> list[Request]:
        """The requests so far, or those of one operation, in the order of their answers."""
        requests: list[Request] = []
        after = self._after
        while True:
            page = self._page(after)
            if page["lost"]:
                raise TestingFailed("there were more requests than the server keeps; watch less of the test")
            requests += msgspec.convert(page["requests"], list[Request])
            if not page["more"]:
                break
            after = page["last_number"]
        return [request for request in requests if operation in {None, request.operation}]

    def since_now(self) -> "RequestLog":
        """A log of what is asked from now on."""
        return RequestLog(self._control, self._account_id, self._page(self._after)["last_number"])

    def assert_no_scans(self, *, allow: Sequence[str] = ()) -> None:
        """Fail if a table was scanned, but for those that may be."""
        scans = [
            request
            for request in self.all()
            if request.scan and not (request.tables and set(request.tables) <= set(allow))
        ]
        if scans:
            raise AssertionError(_told("no scans were expected", scans))

    def assert_capacity(self, *, max_rcu: float | None = None, max_wcu: float | None = None) -> None:
        """Fail if more read or write capacity units were consumed."""
        requests = self.all()
        for unit, most, cost in (
            ("RCU", max_rcu, lambda request: request.read_units),
            ("WCU", max_wcu, lambda request: request.write_units),
        ):
            consumed = sum(map(cost, requests))
            if most is not None and consumed > most:
                dearest = sorted(filter(cost, requests), key=cost, reverse=True)
                raise AssertionError(
                    _told(f"{consumed:g} {unit} were consumed, at most {most:g} expected", dearest)
                )

    @contextmanager
    def watch(self) -> Iterator["RequestLog"]:
        """The requests of a block."""
        yield self.since_now()

    def _page(self, after: int) -> Any:
        fields = {"after": str(after)}
        if self._account_id is not None:
            fields["account_id"] = self._account_id
        return self._control.ask("GET", f"{_PATH}?{urlencode(fields)}")


def _told(what: str, requests: Sequence[Request]) -> str:
    lines = [f"  {request}" for request in requests[:_SHOWN_MAX]]
    more = len(requests) - len(lines)
    return "\n".join([f"{what}:", *lines, *([f"  and {more} more"] if more else [])])
