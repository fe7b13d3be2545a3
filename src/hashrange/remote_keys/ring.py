"""The key ring: tables' keys as the key service has opened them, each for a limited time.

Reads and writes of items find keys here and never wait. A key is asked for again when half of its time is over; if that
fails it is good for the other half, whatever the reason is, and then it is gone until the service answers again.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from hashrange import logs
from hashrange.core.schema import KeyState
from hashrange.kms.table_key import SealedKey
from hashrange.remote_keys.client import KmsFailed
from hashrange.remote_keys.lane import Lane

log = logs.Log("remote_keys")
WAITING_MAX = 64  # requests for tables' keys that are queued; the others have their turn later
LIFE_SECONDS_MIN = 10.0  # with less, every request would wait for the key service
_PROBE_SECONDS = 1.0  # between two requests to a service that does not answer
_RETRY_SECONDS_MIN = 1.0
_RETRY_SECONDS_MAX = 15.0

Told = Callable[[], None]


class Opener(Protocol):
    """The key service."""

    def opened_key(self, key_arn: str, ciphertext: bytes, context: Mapping[str, str], /) -> bytes:
        """A key; raises `KmsFailed`."""


class _Entry:
    """One table's key."""

    __slots__ = (
        "failures",
        "in_flight",
        "key",
        "opened_at",
        "retry_at",
        "sealed",
        "state",
        "touched_at",
        "waiting",
    )

    def __init__(self, sealed: SealedKey) -> None:
        self.sealed = sealed
        self.key: bytes | None = None
        self.opened_at = 0.0
        self.touched_at = 0.0
        self.state: KeyState | None = None  # what the service last said against it
        self.failures = 0
        self.retry_at = 0.0
        self.in_flight = False
        self.waiting: list[Told] = []


class KeyRing:
    """Has the keys of the tables that are used, or watched, by this process."""

    def __init__(self, service: Opener, life_seconds: float, now: Callable[[], float]) -> None:
        self._service = service
        self._life_seconds = max(life_seconds, LIFE_SECONDS_MIN)
        self._now = now
        self._lane = Lane("table-keys", WAITING_MAX)
        self._entries: dict[SealedKey, _Entry] = {}
        self._lock = threading.Lock()
        self._probe_at: float | None = None  # the service does not answer; then it is asked again
        self._outage = logs.Outage(log, "kms")

    def find(self, sealed: SealedKey) -> bytes | KeyState | None:
        """The key, or why it cannot be used; None if nobody has asked the key service yet."""
        with self._lock:
            entry = self._touched(sealed)
            if entry.key is not None:
                return entry.key
            if entry.state is not None or self._probe_at is None:
                return entry.state
            return "unreachable"

    def holds(self, sealed: SealedKey) -> bool:
        """Whether the key is at hand."""
        entry = self._entries.get(sealed)
        return entry is not None and entry.key is not None

    def put(self, sealed: SealedKey, key: bytes) -> None:
        """Take a key that the service has just made."""
        with self._lock:
            entry = self._touched(sealed)
            entry.key, entry.opened_at, entry.state = key, self._now(), None

    def fetch(self, sealed: SealedKey, told: Told) -> None:
        """Have a key opened, if it is not there, and call back, on whatever thread, once that has been tried."""
        with self._lock:
            entry = self._touched(sealed)
            is_settled = entry.key is not None or entry.state is not None or self._probe_at is not None
            if not is_settled:
                entry.waiting.append(told)
                if not entry.in_flight:
                    self._open(entry)  # if the lane is full it has its turn later
        if is_settled:
            told()

    def prefetch(self, keys: Iterable[SealedKey], seconds: float) -> None:
        """Have keys opened, and wait for them no longer than this."""
        wanted = list(keys)
        for sealed in wanted:
            self.find(sealed)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and any(self.find(sealed) is None for sealed in wanted):
            self.tick()
            time.sleep(0.02)

    def tick(self) -> None:
        """Drop keys whose time is over, and ask for those that are due; to be called at short intervals."""
        now, moment = self._now(), time.monotonic()
        with self._lock:
            for sealed, entry in list(self._entries.items()):
                if not 0 <= now - entry.opened_at < self._life_seconds:
                    entry.key = None
                if not entry.in_flight and abs(now - entry.touched_at) > 2 * self._life_seconds:
                    del self._entries[sealed]
            for entry in self._due(now, moment):
                self._open(entry)

    def close(self) -> None:
        """Ask for nothing any more."""
        self._lane.close()

    def _touched(self, sealed: SealedKey) -> _Entry:
        entry = self._entries.get(sealed)
        if entry is None:
            entry = self._entries[sealed] = _Entry(sealed)
        entry.touched_at = self._now()
        return entry

    def _due(self, now: float, moment: float) -> list[_Entry]:
        """The entries to ask for now: as many as the lane takes, or one if the service does not answer."""
        room = self._lane.room
        if self._probe_at is not None:
            room = 1 if moment >= self._probe_at else 0
        due: list[_Entry] = []
        for entry in self._entries.values():
            if len(due) >= room:
                break
            is_fresh = entry.key is not None and 0 <= now - entry.opened_at < self._life_seconds / 2
            if not is_fresh and not entry.in_flight and moment >= entry.retry_at:
                due.append(entry)
        return due

    def _open(self, entry: _Entry) -> None:
        entry.in_flight = self._lane.submit(lambda: self._ask(entry))

    def _ask(self, entry: _Entry) -> None:
        """Ask for one key, on a thread of the lane."""
        sealed = entry.sealed
        answer: bytes | KmsFailed
        try:
            answer = self._service.opened_key(sealed.key_arn, sealed.ciphertext, sealed.context)
        except KmsFailed as failure:
            answer = failure
        except Exception as error:  # noqa: BLE001 - whatever it is, requests wait for this key
            answer = KmsFailed("unreachable", type(error).__name__)
        with self._lock:
            entry.in_flight = False
            if isinstance(answer, bytes):
                self._note_key(entry, answer)
            elif answer.state == "unreachable":
                self._note_silence(answer.reason)
            else:
                self._note_refusal(entry, answer)
            waiting = self._answered(entry)
        for told in waiting:
            told()

    def _note_key(self, entry: _Entry, key: bytes) -> None:
        entry.key, entry.opened_at = key, self._now()
        entry.state, entry.failures, entry.retry_at = None, 0, 0.0
        self._note_answer()

    def _note_refusal(self, entry: _Entry, failure: KmsFailed) -> None:
        if entry.state != failure.state:
            sealed = entry.sealed
            log.warning("kms.refused", key=sealed.key_arn, table=sealed.table_name, reason=failure.reason)
        entry.state = failure.state
        pause_seconds = min(_RETRY_SECONDS_MIN * 2 ** min(entry.failures, 10), _RETRY_SECONDS_MAX)
        entry.failures += 1
        entry.retry_at = time.monotonic() + pause_seconds
        self._note_answer()

    def _note_answer(self) -> None:
        self._probe_at = None
        if self._outage.lasts:
            self._outage.worked()

    def _note_silence(self, reason: str) -> None:
        """Nothing is known of the key, so the others need not be tried: one request at a time finds out."""
        self._probe_at = time.monotonic() + _PROBE_SECONDS
        self._outage.failed(reason)

    def _answered(self, entry: _Entry) -> list[Told]:
        """Who waits no longer: for this key, or for any if the service does not answer."""
        entries = [entry] if self._probe_at is None else self._entries.values()
        waiting = [told for one in entries for told in one.waiting]
        for one in entries:
            one.waiting = []
        return waiting
