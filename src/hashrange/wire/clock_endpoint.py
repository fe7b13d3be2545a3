"""The clock of a server that was started with --test-clock: `hashrange clock` shows and moves it here."""

import asyncio
from collections.abc import Callable

import msgspec

from hashrange.chain.clock_control import ClockControl
from hashrange.storage.clock_record import MoveRefused
from hashrange.wire import plain
from hashrange.wire.interfaces import Exchange

PATH = b"/_hashrange/clock"
# Other servers on the same database look at it that often; whoever has moved the clock may go to any of them next.
FOLLOW_SECONDS = 0.2
_FIXED = b"this server's clock cannot be moved: start it with --test-clock\n"
_RULE = b'send {"advance_seconds": 3600} or {"set_epoch_seconds": 1800000000}\n'


class ClockShown(msgspec.Struct, frozen=True):
    """The answer."""

    epoch_seconds: float
    ahead_seconds: float  # of the time without all moves


class ClockMove(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The request: one of these."""

    advance_seconds: float | None = None
    set_epoch_seconds: float | None = None


_decode = msgspec.json.Decoder(ClockMove).decode

Answer = Callable[[bytes, bytes], None]  # takes the status and the body


class ClockEndpoint:
    """Answers `/_hashrange/clock`: GET shows the clock, POST moves it."""

    def __init__(self, control: ClockControl | None) -> None:
        """Without a `control` the clock is not for moving."""
        self._control = control

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request."""
        if exchange.url.partition(b"?")[0] != PATH or exchange.method not in {b"GET", b"HEAD", b"POST"}:
            plain.not_found(exchange, request_id)
            return
        answer = plain.answering(exchange, request_id)
        if self._control is None:
            answer(b"403 Forbidden", _FIXED)
        elif exchange.method == b"POST":
            self._move(self._control, bytes(exchange.body), answer)
        else:
            answer(b"200 OK", _shown(self._control))

    def _move(self, control: ClockControl, body: bytes, answer: Answer) -> None:
        try:
            move = _decode(body)
        except msgspec.MsgspecError:
            answer(b"400 Bad Request", _RULE)
            return
        moved = _answer_when_moved(control, answer)
        if move.advance_seconds is not None and move.set_epoch_seconds is None:
            if move.advance_seconds < 0:
                answer(b"400 Bad Request", b"the clock never goes back\n")
            else:
                control.advance(move.advance_seconds, moved)
        elif move.set_epoch_seconds is not None and move.advance_seconds is None:
            control.set_to(move.set_epoch_seconds, moved)
        else:
            answer(b"400 Bad Request", _RULE)


def _answer_when_moved(control: ClockControl, answer: Answer) -> Callable[[BaseException | None], None]:
    def moved(error: BaseException | None) -> None:
        if isinstance(error, MoveRefused):
            answer(b"400 Bad Request", f"{error}\n".encode())
        elif error is not None:
            answer(b"503 Service Unavailable", b"the storage does not answer\n")
        elif control.is_shared:
            asyncio.get_running_loop().call_later(2 * FOLLOW_SECONDS, succeed)
        else:
            succeed()

    def succeed() -> None:
        answer(b"200 OK", _shown(control))

    return moved


def _shown(control: ClockControl) -> bytes:
    shown = ClockShown(control.clock.now(), control.clock.ahead_seconds)
    return msgspec.json.encode(shown) + b"\n"
