"""Requests that are put off because their address has failed to sign too often: counted, and not noted one by one.

Such a flood costs its sender nothing, and would push everything else out of the audit log.
"""

from threading import Lock
from typing import NamedTuple

from hashrange.addresses import network
from hashrange.audit.events import Action, Origin

_WINDOW_SECONDS = 60.0
_NETWORKS_MAX = 1024  # that are told apart; what comes from more of them is counted together
_MANY = "many"


class Flood(NamedTuple):
    """What one address has sent within a minute."""

    action: Action  # of the first request, as is the origin
    origin: Origin
    began_at: float
    requests: int


class Floods:
    """The floods of the last minute, by address. Any thread may use it."""

    def __init__(self) -> None:
        self._floods: dict[str, Flood] = {}
        self._lock = Lock()

    def note(self, action: Action, origin: Origin, now: float) -> None:
        """Count a request."""
        key = network(origin.address)
        with self._lock:
            if key not in self._floods and len(self._floods) >= _NETWORKS_MAX:
                key, origin = _MANY, Origin(address=_MANY)
            flood = self._floods.get(key) or Flood(action, origin, now, 0)
            self._floods[key] = flood._replace(requests=flood.requests + 1)

    def ended(self, now: float, *, all_of_them: bool = False) -> list[Flood]:
        """The floods whose minute is over, or all; they are forgotten."""
        with self._lock:
            over = [
                key
                for key, flood in self._floods.items()
                # The clock may be set back.
                if all_of_them or not 0 <= now - flood.began_at < _WINDOW_SECONDS
            ]
            return [self._floods.pop(key) for key in over]
