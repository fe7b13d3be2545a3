"""When access keys and roles were used last, noted in memory and written now and then.

A request notes it when its connection begins or its key is looked up, not each time: the service is no more exact.
"""

from threading import Lock

import msgspec

from hashrange.auth.principals import Principal, PrincipalKind
from hashrange.logs import Log
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.identity_rows import place_of
from hashrange.storage.setting_rows import Place, SettingRows

FLUSH_SECONDS = 60.0
_EXACT_SECONDS = 60.0  # uses that follow each other closer are one
_KNOWN_MAX = 8192

log = Log("storage.last_uses")


class LastUse(msgspec.Struct, frozen=True, kw_only=True):
    """One use."""

    at: float
    service: str
    region: str


LAST_USES = SettingRows("iam-last-use", LastUse)


def stored_use(reader: Reader, place: Place, used_id: str) -> LastUse | None:
    """The use that is kept of a key or role."""
    return LAST_USES.find(reader, place, used_id)


def forget(tx: Transaction, place: Place, used_id: str) -> None:
    """Delete what is kept of a key or role that is deleted."""
    LAST_USES.remove(tx, place, used_id)


class LastUses:
    """The uses that this process has seen; any thread may note one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[str, LastUse] = {}
        self._unwritten: dict[tuple[str, str], LastUse] = {}  # by account and id
        self._lock = Lock()

    def note(self, principal: Principal, service: str, region: str, now: float) -> None:
        """Note that somebody has used their key, and their role if it is a session of one."""
        ids = [principal.access_key_id] if principal.issued_at is None else []
        if principal.kind is PrincipalKind.ASSUMED_ROLE:
            ids.append(principal.principal_id.partition(":")[0])
        for used_id in ids:
            known = self._known.get(used_id)
            if known is not None and now - known.at < _EXACT_SECONDS:
                continue
            use = LastUse(at=float(int(now)), service=service, region=region)
            with self._lock:
                if len(self._known) >= _KNOWN_MAX:
                    self._known.clear()
                self._known[used_id] = self._unwritten[principal.account_id, used_id] = use

    def known(self, used_id: str) -> LastUse | None:
        """The last use that this process has seen."""
        return self._known.get(used_id)

    def flush(self) -> None:
        """Have what is not written yet written. Never waits; what cannot be written is noted with the next use."""
        uses = self._taken()
        if uses:
            self._engine.submit(lambda tx: _save(tx, uses), _written)

    def finish(self) -> None:
        """Write what is left. Waits for the engine."""
        uses = self._taken()
        if uses:
            self._engine.write(lambda tx: _save(tx, uses))

    def _taken(self) -> dict[tuple[str, str], LastUse]:
        with self._lock:
            uses, self._unwritten = self._unwritten, {}
        return uses


def _save(tx: Transaction, uses: dict[tuple[str, str], LastUse]) -> None:
    for (account_id, used_id), use in uses.items():
        stored = stored_use(tx, place_of(account_id), used_id)
        if stored is None or stored.at < use.at:
            LAST_USES.save(tx, place_of(account_id), used_id, use)


def _written(_result: None, error: BaseException | None) -> None:
    if error is not None:
        log.warning("last-uses.unwritten", error=error)
