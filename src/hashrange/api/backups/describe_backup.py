"""DescribeBackup: a backup, and the table as it was."""

from hashrange.api.backups.descriptions import BackupDescription, described, find, place_of
from hashrange.api.backups.structures import BackupArn
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.storage.engine import Reader


class DescribeBackup(Request, kw_only=True):
    """The request."""

    backup_arn: BackupArn


SHAPE = Shape(DescribeBackup)


class DescribeBackupOutput(Response, kw_only=True):
    """The answer."""

    backup_description: BackupDescription


def describe_backup(context: Context, request: DescribeBackup) -> Plan:
    """Read the backup's row."""
    place = place_of(context, request.backup_arn)

    def step(reader: Reader) -> Described:
        backup = find(reader, request.backup_arn, place)
        return Described(DescribeBackupOutput(backup_description=described(place, backup)))

    return Read(step)
