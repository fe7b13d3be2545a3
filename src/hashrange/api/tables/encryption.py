"""Changing the key a table is encrypted with."""

from collections.abc import Callable
from datetime import UTC, datetime

from hashrange.api.errors import refuse_inaccessible
from hashrange.api.keys.table_encryption import ChosenKey
from hashrange.api.tables import settings
from hashrange.api.tables.index_updates import Moment
from hashrange.api.tables.structures import SSESpecification
from hashrange.api.tables.wording import busy, invalid, over_limit
from hashrange.core.limits import ENCRYPTION_CHANGE_INTERVAL_SECONDS, ENCRYPTION_CHANGES_FREE
from hashrange.core.schema import Table, changed

_DAY_SECONDS = 86_400


def encrypted(
    table: Table, spec: SSESpecification, moment: Moment, resolve: Callable[[str], ChosenKey]
) -> Table:
    """The table with another key; the old one is shown until the change is done."""
    refuse_inaccessible(table)
    name = settings.encryption_key(spec)
    key, ciphertext = ChosenKey(None) if name is None else resolve(name)
    if key is None and table.sse_key is None:
        raise invalid("Table is already encrypted by default")
    if key == table.sse_key and spec.kms_master_key_id == key:
        raise invalid(
            "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to "
            "change Master Key"
        )
    if moment.now < table.sse_settles_at:
        raise busy("Server-Side Encryption is still being updated")
    return changed(
        table,
        sse_key=key,
        sse_table_key=ciphertext,
        sse_key_before=table.sse_key,
        sse_settles_at=moment.settles_at,
        sse_changes=(*_allowed(table, moment.now), moment.now),
    )


def _allowed(table: Table, now: float) -> tuple[float, ...]:
    """The changes of the last day; after the first few of them the next one has to wait."""
    recent = tuple(time for time in table.sse_changes if time > now - _DAY_SECONDS)
    if len(recent) < ENCRYPTION_CHANGES_FREE:
        return recent
    following = recent[-1] + ENCRYPTION_CHANGE_INTERVAL_SECONDS
    if now < following:
        raise over_limit(
            f"Encryption mode changes are limited in the 24h window ending at {_iso(recent[0] + _DAY_SECONDS)}. "
            f"After the first {ENCRYPTION_CHANGES_FREE} change, each subsequent change in the same window can be "
            f"performed at most once every {ENCRYPTION_CHANGE_INTERVAL_SECONDS} seconds. Number of updates today: "
            f"{len(recent)}. Last change at {_iso(recent[-1])}. Next changes can be made at {_iso(following)}."
        )
    return recent


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
