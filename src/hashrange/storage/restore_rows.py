"""What a restore has to do and how far it is."""

import msgspec

from hashrange.core.schema import Table
from hashrange.storage.job_rows import JobRows


class Restore(msgspec.Struct, frozen=True, kw_only=True):
    """A table that is being filled with the items of another one's past, or of a backup."""

    target: str  # name of the table
    target_number: int
    source: Table  # as it was when the restore was asked for
    moment_us: int  # items as they were then
    backup_id: str | None = None  # where the items come from, if not from the source's change log
    after: bytes = b""  # the key of the last item that is in the target
    items: int = 0


RESTORES = JobRows("restore", Restore)
ACTIVE_MAX = 50
