"""Finding the table a request names, by its name or by its ARN."""

import re

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.core.schema import Table
from hashrange.core.table_life import gone

_ARN = re.compile(r"arn:([^:]+):([^:]+):([^:]*):([^:]*):([^/]+)/([a-zA-Z0-9_.-]{3,255})")
_FORM = (
    "Valid ARN format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', "
    "where Resource name must have length less than or equal to 255, Resource name must have length greater "
    "than or equal to 3, Resource name must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
)


def table_name(context: Context, name_or_arn: str) -> str:
    """The bare name; an ARN must be a table's, of the caller's own region and account."""
    account_id, name = place(context, name_or_arn)
    if account_id != context.account_id:
        raise _out_of_reach()
    return name


def place(context: Context, name_or_arn: str) -> tuple[str, str]:
    """The account and the bare name; an ARN must be a table's, of the caller's own region."""
    if not name_or_arn.startswith("arn:"):
        return context.account_id, name_or_arn
    match = _ARN.fullmatch(name_or_arn)
    if match is None:
        raise errors.validation(
            f"1 validation error detected: Value '{name_or_arn}' at 'tableName' failed to satisfy "
            f"constraint: {_FORM}"
        )
    partition, _, region, account_id, kind, name = match.groups()
    for what, good in (
        ("AWS partition", partition.startswith("aws")),
        ("resource type", kind == "table"),
        ("AWS region", region == context.region),
    ):
        if not good:
            raise errors.validation(f"1 validation error detected: Invalid {what} in '{name_or_arn}'")
    return account_id, name


def reached(context: Context, name_or_arn: str) -> tuple[str, str]:
    """The account and the bare name, for operations that api/permissions may have allowed to other accounts."""
    if not name_or_arn.startswith("arn:"):
        return context.account_id, name_or_arn  # as nearly all requests have it
    account_id, name = place(context, name_or_arn)
    if account_id != context.account_id and account_id not in context.reaches:
        raise _out_of_reach()
    return account_id, name


def _out_of_reach() -> ApiError:
    return ApiError("AccessDeniedException", "Access is denied")


def existing_table(context: Context, name: str, account_id: str | None = None) -> Table | None:
    """The table of this name, whatever its status, unless its deletion is complete."""
    table = context.catalogue.find(account_id or context.account_id, context.region, name)
    return None if table is None or gone(table, context.clock.now()) else table


def data_table(context: Context, name_or_arn: str) -> Table:
    """The table that items are read from or written to; one that is not ready counts as missing."""
    account_id, name = reached(context, name_or_arn)
    table = ready_table(context, name, account_id)
    if table is None:
        raise errors.not_found()
    return table


def ready_table(context: Context, name: str, account_id: str | None = None) -> Table | None:
    """The table of this name, if its items can be read and written."""
    table = context.catalogue.find(account_id or context.account_id, context.region, name)
    if table is None or (
        table.status != "ACTIVE" and table.status_at(context.clock.now()) in ("CREATING", "DELETING")
    ):
        return None
    if table.inaccessible is not None:
        raise errors.inaccessible(table)
    return table


def control_table(context: Context, name_or_arn: str) -> Table:
    """The table that is described or changed, whatever its status; one that is being restored is only described."""
    table = described_table(context, name_or_arn)
    if table.restoring is not None:
        raise errors.table_not_found(table.name)
    return table


def described_table(context: Context, name_or_arn: str) -> Table:
    """The table that is described or deleted, whatever its status."""
    account_id, name = reached(context, name_or_arn)
    table = existing_table(context, name, account_id)
    if table is None:
        raise errors.table_not_found(name)
    return table


def backed_up_table(context: Context, name_or_arn: str) -> Table:
    """The table of a backup operation, which has an error of its own for one that is not there or not ready."""
    table = existing_table(context, table_name(context, name_or_arn))
    if table is None or table.status_at(context.clock.now()) == "CREATING":
        raise table_missing(name_or_arn)
    return table


def table_missing(name_or_arn: str) -> ApiError:
    """The backup operations' own error."""
    return ApiError("TableNotFoundException", f"Table not found: {name_or_arn}")
