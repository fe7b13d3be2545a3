"""The server's clock, which tests move ahead."""

from datetime import UTC, datetime

from hashrange.testing.control import Control
from hashrange.testing.spans import Span, seconds

_PATH = "/_hashrange/clock"
_IDLE = "/_hashrange/testing/idle"


class Clock:
    """The time of a whole server, all namespaces included. It never goes back."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def now(self) -> datetime:
        """The server's time."""
        return _moment(self._control.ask("GET", _PATH)["epoch_seconds"])

    def move(self, span: Span) -> datetime:
        """Move the time ahead, and wait until whatever is due by then is done: items expired, statuses reached."""
        return self._moved({"advance_seconds": seconds(span)})

    def set(self, moment: datetime | str | float) -> datetime:
        """Move the time ahead to a moment that is still to come, and wait likewise."""
        return self._moved({"set_epoch_seconds": _epoch_seconds(moment)})

    def _moved(self, move: dict[str, float]) -> datetime:
        shown = self._control.ask("POST", _PATH, move)
        self._control.ask("POST", _IDLE)
        return _moment(shown["epoch_seconds"])


def _moment(epoch_seconds: float) -> datetime:
    return datetime.fromtimestamp(epoch_seconds, UTC)


def _epoch_seconds(moment: datetime | str | float) -> float:
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    if not isinstance(moment, datetime):
        return float(moment)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
