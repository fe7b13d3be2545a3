"""Backups as the database knows them. Their items are in files of their own: see jobs/backup_files.py."""

import re
from typing import Literal

import msgspec

from hashrange.core.schema import Table
from hashrange.storage import catalogue, holds, layout
from hashrange.storage.engine import Transaction
from hashrange.storage.job_rows import JobPlace, JobRows, job_id

BackupStatus = Literal["CREATING", "AVAILABLE", "FAILED", "DELETED"]

SYSTEM_SUFFIX = "00000000"
SYSTEM_SECONDS = 35 * 86_400  # that the backup of a deleted table is kept
_ARN = re.compile(
    r"arn:aws[^:]*:dynamodb:([^:]+):([0-9]{12}):table/([a-zA-Z0-9_.-]{3,255})/backup/([0-9]{14}-[0-9a-f]{8})"
)


class BackupFile(msgspec.Struct, frozen=True):
    """A finished file of a backup."""

    name: str
    size: int
    sha256: str
    items: int


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """A table as it was at a moment."""

    name: str
    type: Literal["USER", "SYSTEM"] = "USER"
    status: BackupStatus = "CREATING"
    created_at: float
    expires_at: float | None = None
    source: Table
    moment_us: int
    items: int  # as the table's counters said at the moment, like all that the service tells
    size: int
    files: tuple[BackupFile, ...] = ()
    after: bytes = b""  # the last key in these files
    keys: dict[str, bytes] = {}  # while it is made: the wrapped key of its files, by the id of the root key
    damage: str | None = (
        None  # why it failed, or what was found wrong with its files when they were to be restored
    )


BACKUPS = JobRows("backup", Backup)


def arn(place: JobPlace, table_name: str) -> str:
    """The backup's Amazon resource name."""
    return f"arn:aws:dynamodb:{place.region}:{place.account_id}:table/{table_name}/backup/{place.id}"


def parse_arn(text: str) -> tuple[JobPlace, str] | None:
    """The place of a backup and the name of its table."""
    match = _ARN.fullmatch(text)
    return None if match is None else (JobPlace(match[2], match[1], match[4]), match[3])


def table_name(arn: str) -> str:
    """The name of the table that a backup is of."""
    parsed = parse_arn(arn)
    return "" if parsed is None else parsed[1]


def remove_table(tx: Transaction, table: Table, now: float) -> None:
    """Remove a deleted table; one with point-in-time recovery leaves a backup of its last state."""
    if table.pitr_since is not None:
        place = JobPlace(table.account_id, table.region, job_id(now, SYSTEM_SUFFIX))
        while BACKUPS.find(tx, place) is not None:  # two tables deleted in one millisecond
            place = place._replace(id=f"{int(place.id[:14]) + 1:014d}-{SYSTEM_SUFFIX}")
        moment_us = holds.hold(tx, table, place.id, now)
        table = catalogue.stored_table(tx, *catalogue.address(table)) or table
        backup = Backup(
            name=f"{table.name}$DeletedTableBackup",
            type="SYSTEM",
            created_at=now,
            expires_at=now + SYSTEM_SECONDS,
            source=table,
            moment_us=moment_us,
            items=tx.counter(layout.count_key(table.number, layout.BASE_SLOT)),
            size=tx.counter(layout.size_key(table.number, layout.BASE_SLOT)),
        )
        BACKUPS.save(tx, place, backup, active=True)
    catalogue.remove(tx, table, now)
