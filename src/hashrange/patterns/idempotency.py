"""Idempotency keys: a piece of work that is asked for twice is done once, and answers twice."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from hashrange.patterns.errors import (
    ConditionFailed,
    InProgress,
    PayloadDiffers,
    Refused,
    ResultLost,
    TransactionCanceled,
)
from hashrange.patterns.steps import Steps, fresh, invoke, monotonic, pause, procedure, wall_clock
from hashrange.patterns.tables import TRANSACT_WRITES_MAX, Table, Write
from hashrange.patterns.values import Item, digest

_POLL_SECONDS_MIN, _POLL_SECONDS_MAX = 0.01, 1.0


class Idempotency(msgspec.Struct, frozen=True):
    """Records `IDEMPOTENCY#key` of what was done and what it gave, deleted by TTL (attribute `expires_at`).

    `once` is for work that consists of writes to tables: record and writes are one transaction, so exactly once.
    `run` is for any other work. Whoever dies in the middle of it leaves a record that says so; the next caller waits
    for the lease and does it again. Nobody can do better without the cooperation of what the work calls.
    """

    table: Table
    lease_seconds: float = 30.0
    kept_seconds: int = 86_400

    @procedure
    def once(self, key: str, writes: Sequence[Write]) -> Steps[bool]:
        """Make these writes together with the record; False if that was done before."""
        if len(writes) >= TRANSACT_WRITES_MAX:
            raise ValueError(f"at most {TRANSACT_WRITES_MAX - 1} writes fit a transaction with their record")
        record = {**self._key(key), "status": "DONE", "expires_at": (yield from self._expiry())}
        try:
            yield from self.table.transact([self.table.putting(record, "attribute_not_exists(#pk)"), *writes])
        except TransactionCanceled as canceled:
            if canceled.failed[:1] == [0]:
                return False
            raise
        return True

    @procedure
    def run(
        self, key: str, work: Callable[[], Any], *, payload: str = "", wait_seconds: float = 0.0
    ) -> Steps[Any]:
        """Do the work and keep what it gives, or give what was kept.

        Raises InProgress if somebody else is at it for longer than the caller waits, and PayloadDiffers if the key was
        used with another payload. Work that raises is forgotten: the next caller tries it again. What the work gives
        has to fit an item; if it does not, ResultLost tells this caller and all later ones that the work is done.
        """
        owner = yield from fresh()
        record = yield from self._claim(key, owner, digest(payload), wait_seconds)
        if record is not None:
            return _kept(record, key)
        try:
            result = yield from invoke(work)
        except Exception:
            mine = self.table.deleting(self._key(key), "#owner = :owner", owner=owner)
            yield from self.table.tried(mine)
            raise
        return (yield from self._finish(key, owner, result))

    def _claim(self, key: str, owner: str, payload: str, wait_seconds: float) -> Steps[Item | None]:
        """None when the work is ours; else the record of it as somebody else has finished it."""
        record: Item = {
            **self._key(key),
            "status": "RUNNING",
            "owner": owner,
            "payload": payload,
            "expires_at": (yield from self._expiry()),
        }
        started = watched_since = yield from monotonic()
        watched = ""
        while True:
            # A claim whose holder was watched for a whole lease, by our own clock, and has not ended is taken over.
            is_dead = bool(watched) and (yield from monotonic()) - watched_since >= self.lease_seconds
            failed = yield from self._claimed(record, watched if is_dead else "")
            stored = failed.stored if failed else None
            if failed is None or (stored or {}).get("owner") == owner:
                return None
            if stored is not None and stored.get("payload", payload) != payload:
                raise PayloadDiffers(key)
            if stored is not None and stored["status"] == "DONE":
                return stored
            now = yield from monotonic()
            if now - started >= wait_seconds:
                raise InProgress(key)
            holder = stored["owner"] if stored else ""  # it may have given up between two looks
            if holder != watched:
                watched, watched_since = holder, now
            yield from pause(max(_POLL_SECONDS_MIN, min(_POLL_SECONDS_MAX, self.lease_seconds / 4)))

    def _claimed(self, record: Item, dead: str) -> Steps[ConditionFailed | None]:
        if not dead:
            return (yield from self.table.tried(self.table.putting(record, "attribute_not_exists(#pk)")))
        condition = "#owner = :dead AND #status = :running"
        return (
            yield from self.table.tried(self.table.putting(record, condition, dead=dead, running="RUNNING"))
        )

    def _finish(self, key: str, owner: str, result: Any) -> Steps[Any]:
        """Keep the result. If the lease has passed to somebody who finished first, theirs is the one that counts."""
        try:
            failed = yield from self._noted(
                key, owner, "SET #status = :done, #result = :result", result=result
            )
        except (TypeError, ValueError, ArithmeticError, Refused) as error:
            if isinstance(error, Refused) and error.code != "ValidationException":
                raise
            # The work is done, and must not be done again because of what it gave.
            failed = yield from self._noted(key, owner, "SET #status = :done, #lost = :lost", lost=True)
            if failed is None:
                raise ResultLost(f"{key}: what the work gave does not fit an item: {error}") from error
        if failed is not None and (failed.stored or {}).get("status") == "DONE":
            return _kept(failed.stored or {}, key)
        return result

    def _noted(self, key: str, owner: str, update: str, **values: Any) -> Steps[ConditionFailed | None]:
        write = self.table.updating(
            self._key(key), update, "#owner = :owner", owner=owner, done="DONE", **values
        )
        return (yield from self.table.tried(write))

    def _expiry(self) -> Steps[int]:
        return int((yield from wall_clock())) + self.kept_seconds

    def _key(self, key: str) -> Item:
        return self.table.key(f"IDEMPOTENCY#{digest(key)}", "RECORD")


def _kept(record: Item, key: str) -> Any:
    """The result of a record; one of `once` has none."""
    if record.get("lost"):
        raise ResultLost(f"{key}: the work is done, but what it gave was not kept")
    return record.get("result")
