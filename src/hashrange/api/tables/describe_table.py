"""DescribeTable: everything about one table."""

import re
from datetime import UTC, datetime
from typing import NoReturn

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.table_names import existing_table, reached
from hashrange.api.tables.description import TableDescription, describe
from hashrange.core.table_life import settled
from hashrange.storage.engine import Reader
from hashrange.storage.restore_rows import failed_restore

_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")


class DescribeTable(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn


SHAPE = Shape(DescribeTable)


class DescribeTableOutput(Response, kw_only=True):
    """The answer."""

    table: TableDescription


def describe_table(context: Context, request: DescribeTable) -> Plan:
    """Read the table's counters and render its record; of one whose restore has failed, say why it is not there."""
    now = context.clock.now()
    account_id, name = reached(context, request.table_name)
    found = existing_table(context, name, account_id)
    if found is None:
        if _NAME.fullmatch(name) is None:
            raise errors.table_not_found(name)  # it breaks constraints, which are reported first
        return Read(lambda reader: _missing(reader, account_id, context.region, name, now))
    table = settled(found, now)
    return Read(lambda reader: Described(DescribeTableOutput(table=describe(reader, table, now))))


def _missing(reader: Reader, account_id: str, region: str, name: str, now: float) -> NoReturn:
    error = errors.table_not_found(name)
    restore = failed_restore(reader, account_id, region, name, now)
    if restore is not None and restore.ended_at is not None:
        ended = datetime.fromtimestamp(restore.ended_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        error.message = f"{error.message}. Its restore has failed at {ended}: {restore.failure}"
    raise error
