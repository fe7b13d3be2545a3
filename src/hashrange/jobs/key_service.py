"""Keys of the key service that change by themselves: some are rotated, some are deleted after a waiting period."""

from collections.abc import Iterator
from functools import partial

from hashrange import logs
from hashrange.api.keys.new_keys import rotated
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.kms.lazy_vault import LazyVault
from hashrange.storage import key_rows, table_keys
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.key_rows import KEYS, KmsKey
from hashrange.storage.setting_rows import Place

log = logs.Log("jobs")
_CHUNK_KEYS = 20


class ChangeKeys:
    """Rotates keys that are due, and removes keys whose waiting period is over."""

    name = "change-keys"

    def __init__(self, engine: Engine, vault: LazyVault) -> None:
        self._engine = engine
        self._vault = vault

    def step(self, now: float) -> float:
        """Change some keys."""
        due = self._engine.read(partial(_due, now=now))
        for place, key in due:
            self._engine.write(partial(self._change, place=place, key_id=key.id, now=now))
        return 0.0 if due else IDLE_SECONDS

    def _change(self, tx: Transaction, *, place: Place, key_id: str, now: float) -> None:
        key = KEYS.find(tx, place, key_id)
        if key is None:
            return
        if key_rows.is_deleted(key, now):
            key_rows.remove_key(tx, place, key.id)
        elif _rotates(key, now):
            key_rows.save_key(tx, place, rotated(self._vault.opened(), place, key, now, "AUTOMATIC"))
            table_keys.wrap_again(tx, key_rows.key_arn(place, key.id))


def _due(reader: Reader, *, now: float) -> list[tuple[Place, KmsKey]]:
    keys: list[tuple[Place, KmsKey]] = []
    for place, key in _all_keys(reader):
        if key_rows.is_deleted(key, now) or _rotates(key, now):
            keys.append((place, key))
            if len(keys) == _CHUNK_KEYS:
                break
    return keys


def _all_keys(reader: Reader) -> Iterator[tuple[Place, KmsKey]]:
    return ((place, key) for place, _, key in KEYS.everywhere(reader))


def _rotates(key: KmsKey, now: float) -> bool:
    """Whether it is time for new material; a key that cannot be used waits until it can."""
    return key.rotates_at is not None and key.rotates_at <= now and key_rows.state_of(key) is None
