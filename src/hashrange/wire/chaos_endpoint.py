"""The endpoint of `hashrange chaos`: shows, adds and removes the faults of a server that was started with --chaos."""

import asyncio
from collections.abc import Callable
from typing import Annotated
from urllib.parse import parse_qs

import msgspec
from msgspec import Meta

from hashrange import ids
from hashrange.api.protocol.operation import Service
from hashrange.chain.chaos import CONFLICTING, Chaos
from hashrange.clock import Clock
from hashrange.core.limits import NAME_CHARS_MAX
from hashrange.storage.fault_rules import RULES_MAX, Fault, FaultRule, TooManyRules
from hashrange.wire import plain
from hashrange.wire.interfaces import Exchange

PATH = b"/_hashrange/chaos"
# How often all workers and servers look for rules; whoever has made one may go to any of them next.
FOLLOW_SECONDS = 0.2
_OFF = b"this server injects no faults: start it with --chaos\n"
_FULL = b"there are %d rules already: clear some\n" % RULES_MAX
_METHODS = frozenset({b"GET", b"HEAD", b"POST", b"DELETE"})
_DAY_SECONDS = 24 * 3600
_ID_CHARS = 8

Answer = Callable[[bytes, bytes], None]  # takes the status and the body
Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARS_MAX)]


class NewRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The request for a rule."""

    fault: Fault
    rate: Annotated[float, Meta(gt=0, le=1)] = 1.0
    operations: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()
    tables: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()
    duration_seconds: Annotated[float, Meta(gt=0, le=_DAY_SECONDS)] = 600.0
    latency_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    after: bool = False
    seed: int | None = None
    times: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    account_id: Annotated[str, Meta(pattern="^[0-9]{12}$")] | None = None


class RulesShown(msgspec.Struct, frozen=True):
    """The answer to all requests: the rules in force."""

    rules: list[FaultRule]


_decode = msgspec.json.Decoder(NewRule).decode


class ChaosEndpoint:
    """Answers `/_hashrange/chaos`: GET shows the rules, POST adds one, DELETE removes all or the one of `?id=`."""

    def __init__(
        self, chaos: Chaos | None, clock: Clock, services: tuple[Service, ...], *, alone: bool
    ) -> None:
        """Without `chaos` there are no faults. A server that is `alone` has no others to wait for."""
        self._chaos = chaos
        self._clock = clock
        self._operations = frozenset(name for service in services for name in service.operations)
        self._alone = alone

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request."""
        path, _, query = exchange.url.partition(b"?")
        if path != PATH or exchange.method not in _METHODS:
            plain.not_found(exchange, request_id)
            return
        answer = plain.answering(exchange, request_id)
        if self._chaos is None:
            answer(b"403 Forbidden", _OFF)
        elif exchange.method == b"POST":
            self._add(self._chaos, bytes(exchange.body), answer)
        elif exchange.method == b"DELETE":
            # An empty id is no rule's, and not a wish to clear all of them.
            rule_id = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("id", [None])[0]
            self._chaos.clear(rule_id, self._when_stored(self._chaos, answer))
        else:
            answer(b"200 OK", _shown(self._chaos))

    def _add(self, chaos: Chaos, body: bytes, answer: Answer) -> None:
        try:
            new = _decode(body)
        except msgspec.MsgspecError as error:
            answer(b"400 Bad Request", f"{error}\n".encode())
            return
        wrong = self._mistake(new)
        if wrong is not None:
            answer(b"400 Bad Request", f"{wrong}\n".encode())
            return
        rule = FaultRule(
            ids.unique_id()[:_ID_CHARS],
            new.fault,
            new.rate,
            self._clock.now() + new.duration_seconds,
            new.operations,
            new.tables,
            new.latency_ms,
            new.after,
            new.seed,
            new.times,
            new.account_id,
        )
        chaos.add(rule, self._when_stored(chaos, answer))

    def _mistake(self, new: NewRule) -> str | None:
        unknown = sorted(set(new.operations) - self._operations)
        if unknown:
            return f"there is no operation {', '.join(unknown)}"
        if new.fault == "latency" and not new.latency_ms:
            return "latency needs latency_ms (--ms), how long requests are to wait"
        if new.fault != "latency" and new.latency_ms:
            return "latency_ms (--ms) goes with the fault latency, and with no other"
        if new.fault == "conflict" and new.operations and CONFLICTING.isdisjoint(new.operations):
            return f"conflicts are of {', '.join(sorted(CONFLICTING))} alone"
        if new.after and new.fault != "error":
            return "only an error can come after the request was carried out"
        return None

    def _when_stored(self, chaos: Chaos, answer: Answer) -> Callable[[BaseException | None], None]:
        def stored(error: BaseException | None) -> None:
            if isinstance(error, TooManyRules):
                answer(b"400 Bad Request", _FULL)
            elif error is not None:
                answer(b"503 Service Unavailable", b"the storage does not answer\n")
            elif self._alone:
                succeed()
            else:
                asyncio.get_running_loop().call_later(2 * FOLLOW_SECONDS, succeed)

        def succeed() -> None:
            answer(b"200 OK", _shown(chaos))

        return stored


def _shown(chaos: Chaos) -> bytes:
    return msgspec.json.encode(RulesShown(chaos.rules())) + b"\n"
