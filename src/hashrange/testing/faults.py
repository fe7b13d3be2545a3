"""Requests that fail on purpose: what `hashrange chaos` does, for one namespace or for a whole server."""

from collections.abc import Sequence
from typing import Self, TypedDict, Unpack
from urllib.parse import urlencode

from hashrange.testing.control import Control
from hashrange.testing.spans import Span, seconds

_PATH = "/_hashrange/chaos"
_DAY_SECONDS = 24 * 3600  # as long as a fault may last, by the server's clock


class Which(TypedDict, total=False):
    """Which requests fail. Without an operation: all that read or write items."""

    operation: str | Sequence[str]
    table: str | Sequence[str]
    times: int  # then no more
    rate: float  # of the requests, or of the items of a batch; 1.0 is all of them
    seed: int  # has the same requests fail in every run


class Fault:
    """A fault in force, until it is cleared; in a `with` block it is cleared at the end."""

    def __init__(self, control: Control, rule_id: str) -> None:
        self._control = control
        self._id = rule_id

    def clear(self) -> None:
        """Let nothing fail because of this any more."""
        self._control.ask("DELETE", f"{_PATH}?{urlencode({'id': self._id})}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()


class Faults:
    """Makes requests of one account fail; of all accounts where none is named."""

    def __init__(self, control: Control, account_id: str | None) -> None:
        self._control = control
        self._account_id = account_id

    def fail(self, *, after: bool = False, **which: Unpack[Which]) -> Fault:
        """Answer InternalServerError (500); with `after`, once the request was carried out all the same."""
        return self._add("error", which, after=after)

    def throttle(self, **which: Unpack[Which]) -> Fault:
        """Refuse items for want of capacity, as the service would: a batch comes back with some unprocessed."""
        return self._add("throttle", which)

    def conflict(self, **which: Unpack[Which]) -> Fault:
        """Have transactions collide: TransactionCanceledException, or TransactionConflictException of single writes."""
        return self._add("conflict", which)

    def delay(self, span: Span, **which: Unpack[Which]) -> Fault:
        """Answer that much later."""
        return self._add("latency", which, latency_ms=max(1, round(seconds(span) * 1000)))

    def clear(self) -> None:
        """Clear every fault of the account."""
        for rule in self._control.ask("GET", _PATH)["rules"]:
            if rule.get("account_id") == self._account_id:
                Fault(self._control, rule["id"]).clear()

    def _add(self, fault: str, which: Which, *, after: bool = False, latency_ms: int = 0) -> Fault:
        rule = {
            "fault": fault,
            "operations": _names(which.get("operation", ())),
            "tables": _names(which.get("table", ())),
            "times": which.get("times"),
            "rate": which.get("rate", 1.0),
            "seed": which.get("seed"),
            "after": after,
            "latency_ms": latency_ms,
            "account_id": self._account_id,
            "duration_seconds": _DAY_SECONDS,
        }
        rules = self._control.ask("POST", _PATH, rule)["rules"]
        return Fault(self._control, rules[-1]["id"])


def _names(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
