"""Storage that fails: a line for the first request of an operation that it refuses, and one when that is over.

A full disk refuses every write, thousands a second. A traceback for each would fill what is left of the disk.
"""

import time

from hashrange import logs
from hashrange.storage.errors import Corrupt, StorageError

DAMAGE_LINE_SECONDS = 60.0
PLACES_MAX = 1000  # damaged places that are told apart

log = logs.Log("wire")

# By operation: those of which the storage refused requests lately. Empty while all is well.
ongoing: dict[str, logs.Outage] = {}
_damage: dict[str, tuple[float, int]] = {}  # by place: when to log it again, and how often it was met since


def log_failure(operation: str, error: StorageError, table: str = "") -> None:
    """Log that the storage failed a request, unless the log says so already; `table` is what the request named."""
    if isinstance(error, Corrupt):
        _log_damage(operation, table, error)
        return
    if operation not in ongoing:
        ongoing[operation] = logs.Outage(log, "storage", operation=operation)
    ongoing[operation].failed(f"{type(error).__name__}: {error}")


def note_success(operation: str) -> None:
    """Note that a request of this operation was answered; to be called only if it is `ongoing`."""
    outage = ongoing[operation]
    outage.worked()
    if not outage.lasts:
        del ongoing[operation]


def _log_damage(operation: str, table: str, error: Corrupt) -> None:
    """Damage stays where it is, and other rows work: each place is named, but not more than once a minute."""
    place = error.page or str(error)
    now = time.monotonic()
    next_line, requests = _damage.pop(place, (0.0, 0))
    requests += 1
    if now >= next_line:
        log.error("storage.damaged", operation=operation, table=table, reason=str(error), requests=requests)
        next_line, requests = now + DAMAGE_LINE_SECONDS, 0
    _damage[place] = next_line, requests
    if len(_damage) > PLACES_MAX:
        del _damage[next(iter(_damage))]
