"""What a restore has to do and how far it is."""

import msgspec

from hashrange.core.schema import Table
from hashrange.storage.engine import Reader
from hashrange.storage.job_rows import JobPlace, JobRows


class Restore(msgspec.Struct, frozen=True, kw_only=True):
    """A table that is being filled with the items of another one's past, or of a backup."""

    target: str  # name of the table
    target_number: int
    source: Table  # as it was when the restore was asked for
    moment_us: int  # items as they were then
    backup: JobPlace | None = None  # where the items come from, if not from the source's change log
    after: bytes = b""  # the key of the last item that is in the target
    items: int = 0
    ended_at: float | None = None  # only of one that has failed: a finished one leaves nothing
    failure: str | None = None


RESTORES = JobRows("restore", Restore)
ACTIVE_MAX = 50
_SHOWN_SECONDS = 7 * 86_400


def restored_from(reader: Reader, backup: JobPlace) -> bool:
    """Whether a table is being restored from a backup."""
    for place in RESTORES.active(reader):
        restore = RESTORES.find(reader, place)
        if restore is not None and restore.backup == backup:
            return True
    return False


def failed_restore(
    reader: Reader, account_id: str, region: str, table_name: str, now: float
) -> Restore | None:
    """The last restore of a table that is not there because it has failed, if that is not long ago."""
    for _, restore in RESTORES.of_region(reader, account_id, region, reverse=True):
        if restore.target == table_name and restore.ended_at is not None:
            return restore if restore.ended_at > now - _SHOWN_SECONDS else None
    return None
