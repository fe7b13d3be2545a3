"""What an import has to do and how far it is."""

from typing import Literal

import msgspec

from hashrange.core.schema import Table
from hashrange.formats.readers import InputOptions
from hashrange.storage.job_rows import JobRows
from hashrange.storage.report_rows import Report


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """Where in the list of objects a job is. It is part of every commit, so that counts are exact after a crash."""

    finished_key: str = ""  # the last object that was read to its end
    key: str = ""  # the object that is being read
    etag: str = ""
    index: int = 0  # of its next item
    size: int = 0  # of the finished objects
    read: int = 0  # of the object that is being read: bytes, as they are in the bucket

    @property
    def processed(self) -> int:
        """All bytes so far."""
        return self.size + self.read


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """A new table that is filled from the objects of a bucket."""

    table: Table  # as it is to be; its number is 0 until it is made
    status: Literal["IN_PROGRESS", "COMPLETED", "FAILED"] = "IN_PROGRESS"
    started_at: float
    ended_at: float | None = None
    client_token: str
    bucket: str
    bucket_owner: str | None = None
    prefix: str | None = None
    options: InputOptions
    format_options: bytes | None = None  # InputFormatOptions as they were sent
    parameters: bytes  # TableCreationParameters as they were sent
    position: Position = Position()
    imported: int = 0
    rejected: int = 0
    report: Report = Report()
    failure_code: str | None = None
    failure_message: str | None = None


IMPORTS = JobRows("import", Import)
ACTIVE_MAX = 50
