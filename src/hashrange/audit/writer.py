"""The thread that writes the audit log, and the queue before it, at which nobody ever waits."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from hashrange import logs
from hashrange.audit import hash_chain
from hashrange.audit.events import notice
from hashrange.audit.files import Target

Event = dict[str, Any]

_WEIGHT_MAX = 64 * 1024 * 1024
_EVENT_WEIGHT = 1024
_PAUSE_SECONDS = 0.1
_RETRY_SECONDS = 1.0
_SYNC_SECONDS = 1.0
_BATCH = 1000
_STOP_SECONDS = 10.0

log = logs.Log("audit")


class Writer:
    """Takes events from any thread. What finds no room is counted, and the count is written when there is room."""

    def __init__(
        self, target: Target, *, now: Callable[[], float] = time.time, weight_max: int = _WEIGHT_MAX
    ) -> None:
        self._target = target
        self._now = now
        self.before_turn: Callable[[bool], None] = lambda _is_last: None  # may append what is due
        self._weight_max = weight_max
        self._queue: deque[tuple[Event, int]] = deque()
        self._lock = threading.Lock()
        self._weight = 0
        self._dropped = 0
        self.dropped = 0  # ever
        self._is_failing = False
        self._reopening = False
        self._synced_at = 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def append(self, event: Event, chars: int = 0) -> None:
        """Have an event written soon; `chars` is how much of the request it shows."""
        weight = _EVENT_WEIGHT + 4 * chars
        with self._lock:
            if self._weight + weight > self._weight_max:
                self._dropped += 1
                self.dropped += 1
                return
            self._weight += weight
            self._queue.append((event, weight))

    def reopen(self) -> None:
        """Begin another file, if somebody has moved this one away."""
        self._reopening = True

    def stop(self) -> None:
        """Write what there is, and end; a target that takes nothing is not waited for forever."""
        self._stopping.set()
        self._thread.join(_STOP_SECONDS)
        head = self._target.head
        left = len(self._queue) + self._dropped
        if left:
            log.error("audit.lost", events=left)
        log.info("audit.stopped", chain=head.chain, number=head.number, hash=head.hash)

    def _run(self) -> None:
        pause = _PAUSE_SECONDS
        while not self._stopping.wait(pause):
            pause = _PAUSE_SECONDS if self._turn() else _RETRY_SECONDS
        self._turn()
        self._target.close()

    def _turn(self) -> bool:
        """Write all that is in the queue; false if that did not work."""
        try:
            self.before_turn(self._stopping.is_set())
            if self._reopening:
                self._reopening = False
                self._target.reopen()
            self._notice_missing_file()
            while self._queue or self._dropped:
                self._write_some()
            if self._now() - self._synced_at >= _SYNC_SECONDS or self._stopping.is_set():
                self._synced_at = self._now()
                self._target.sync()
        except Exception as error:  # noqa: BLE001 - the thread must go on, whatever it is
            if not self._is_failing:
                self._is_failing = True
                log.error("audit.failed", reason=str(error) or type(error).__name__)
            return False
        if self._is_failing:
            self._is_failing = False
            log.info("audit.resumed", dropped=self.dropped)
        return True

    def _notice_missing_file(self) -> None:
        """See that the file is there; the chain that begins if it is not says so in its first line."""
        before = self._target.head
        problem = self._target.missing()
        if problem is not None:
            lost = {"chain": before.chain, "lines": before.number, "hash": before.hash}
            event = notice("AuditLogBegunAnew", self._now(), reason=problem, lost=lost)
            with self._lock:
                self._weight += _EVENT_WEIGHT
                self._queue.appendleft((event, _EVENT_WEIGHT))

    def _write_some(self) -> None:
        """Write the next events; they leave the queue, and the chain goes on, when they are written."""
        with self._lock:
            batch = [self._queue[place] for place in range(min(_BATCH, len(self._queue)))]
            dropped = self._dropped
        events = [event for event, _ in batch]
        if len(batch) < _BATCH and dropped:
            events.append(notice("AuditEventsDropped", self._now(), events=dropped))
        else:
            dropped = 0
        head, lines = self._target.head, []
        for event in events:
            line, head = hash_chain.sealed(event, head)
            lines.append(line)
        self._target.write(b"".join(lines))
        self._target.head = head
        with self._lock:
            self._dropped -= dropped
            for _ in batch:
                self._weight -= self._queue.popleft()[1]
        self._target.rotate_if_due(self._now())
