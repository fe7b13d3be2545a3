"""What a test suite asks of a server that was started with --test-kit: namespaces, recorded requests, lag, idle jobs.

`hashrange.testing` is the client of this; docs/testing-your-app.md has the requests for suites in other languages.
"""

from collections.abc import Callable
from itertools import count
from typing import Annotated, Protocol
from urllib.parse import parse_qs

import msgspec
from msgspec import Meta

from hashrange.chain.eventual_lag import Lags, TooManyLags
from hashrange.chain.journal import Journal, RequestRecord
from hashrange.clock import Clock
from hashrange.core import accounts
from hashrange.wire import plain
from hashrange.wire.interfaces import Exchange

PATH = b"/_hashrange/testing"
_FIRST_ACCOUNT = 100_000_000_001
_PAGE_RECORDS = 1000
_LAG_MS_MAX = 60_000
_QUERY_FIELDS_MAX = 10
_FAILED = b"the storage does not answer\n"
_RULE = (
    b"POST namespaces, DELETE namespaces/ACCOUNT, GET requests?account_id=ACCOUNT&after=NUMBER, "
    b'POST lag {"account_id": "ACCOUNT", "lag_ms": 100}, POST idle\n'
)

Answer = Callable[[bytes, bytes], None]  # takes the status and the body
AccountId = Annotated[str, Meta(pattern="^[0-9]{12}$")]
Told = Callable[[BaseException | None], None]


class Namespaces(Protocol):
    """What the endpoint has done by the rest of the server, on the event loop."""

    def remove(self, account_id: str, told: Told) -> None:
        """Remove whatever an account has."""

    def when_idle(self, callback: Callable[[], None]) -> None:
        """Call back once the background work has nothing left to do."""


class NewNamespace(msgspec.Struct, frozen=True):
    """The answer to a request for a namespace: the access key to sign with, which is its account's number."""

    account_id: str


class Recorded(msgspec.Struct, frozen=True):
    """A page of recorded requests."""

    requests: list[RequestRecord]
    last_number: int  # what the next page is after
    more: bool
    lost: bool  # there were so many that some are gone


class LagWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The request for a lag."""

    account_id: AccountId
    lag_ms: Annotated[int, Meta(ge=0, le=_LAG_MS_MAX)]


_decode_lag = msgspec.json.Decoder(LagWanted).decode


class TestingEndpoint:
    """Answers all below `/_hashrange/testing`."""

    def __init__(self, namespaces: Namespaces, journal: Journal, lags: Lags, clock: Clock) -> None:
        self._namespaces = namespaces
        self._journal = journal
        self._lags = lags
        self._clock = clock
        self._numbers = count(_FIRST_ACCOUNT)

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request."""
        path, _, query = exchange.url.partition(b"?")
        if not path.startswith(PATH + b"/"):
            plain.not_found(exchange, request_id)
            return
        answer = plain.answering(exchange, request_id)
        place = path[len(PATH) + 1 :].decode("latin-1")
        match exchange.method, place.partition("/"):
            case b"POST", ("namespaces", "", ""):
                answer(b"200 OK", _json(NewNamespace(f"{next(self._numbers):012d}")))
            case b"DELETE", ("namespaces", "/", account_id) if accounts.is_number(account_id):
                self._remove(account_id, answer)
            case b"GET", ("requests", "", ""):
                self._show(query, answer)
            case b"POST", ("lag", "", ""):
                self._set_lag(bytes(exchange.body), answer)
            case b"POST", ("idle", "", ""):
                self._namespaces.when_idle(lambda: answer(b"200 OK", b"{}\n"))
            case _:
                answer(b"404 Not Found", _RULE)

    def _remove(self, account_id: str, answer: Answer) -> None:
        def told(error: BaseException | None) -> None:
            if error is None:
                answer(b"200 OK", b"{}\n")
            else:
                answer(b"503 Service Unavailable", _FAILED)

        self._lags.set(account_id, 0, self._clock.now())
        self._namespaces.remove(account_id, told)

    def _show(self, query: bytes, answer: Answer) -> None:
        try:
            fields = parse_qs(query.decode(), errors="strict", max_num_fields=_QUERY_FIELDS_MAX)
            after = int(fields.get("after", ["0"])[0][:18])
        except ValueError:
            answer(b"400 Bad Request", _RULE)
            return
        account_id = fields.get("account_id", [None])[0]
        records = self._journal.since(after, account_id)
        page = records[:_PAGE_RECORDS]
        more = len(records) > len(page)
        last = page[-1].number if more else self._journal.last_number
        answer(b"200 OK", _json(Recorded(page, last, more, self._journal.has_lost(after))))

    def _set_lag(self, body: bytes, answer: Answer) -> None:
        try:
            wanted = _decode_lag(body)
            self._lags.set(wanted.account_id, wanted.lag_ms / 1000, self._clock.now())
        except msgspec.MsgspecError as error:
            answer(b"400 Bad Request", f"{error}\n".encode())
        except TooManyLags:
            answer(b"400 Bad Request", b"too many namespaces lag: delete those that are done\n")
        else:
            answer(b"200 OK", b"{}\n")


def _json(structure: msgspec.Struct) -> bytes:
    return msgspec.json.encode(structure) + b"\n"
