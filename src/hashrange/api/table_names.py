"""Finding the table a request names, by its name or by its ARN."""

import re

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.core.schema import Table

_ARN = re.compile(r"arn:[a-z-]+:dynamodb:([^:]*):([^:]*):table/([a-zA-Z0-9_.-]+)")


def table_name(context: Context, name_or_arn: str) -> str:
    """The bare name; an ARN must be a table's, of the caller's own region and account."""
    if not name_or_arn.startswith("arn:"):
        return name_or_arn
    match = _ARN.fullmatch(name_or_arn)
    if match is None or match[1] != context.region:
        raise errors.validation(f"Invalid TableArn: Invalid ResourceArn provided as input {name_or_arn}")
    if match[2] != context.account_id:
        raise _foreign(name_or_arn)
    return match[3]


def _foreign(arn: str) -> ApiError:
    return ApiError(
        "AccessDeniedException", f"Cross-account access to {arn} is not granted by a resource policy"
    )


def data_table(context: Context, name_or_arn: str) -> Table:
    """The table that items are read from or written to; one that is not ready counts as missing."""
    name = table_name(context, name_or_arn)
    table = context.catalogue.find(context.account_id, context.region, name)
    if table is None or table.status_at(context.clock.now()) in ("CREATING", "DELETING"):
        raise errors.not_found()
    return table


def control_table(context: Context, name_or_arn: str) -> Table:
    """The table that is described or changed, whatever its status."""
    name = table_name(context, name_or_arn)
    table = context.catalogue.find(context.account_id, context.region, name)
    if table is None:
        raise errors.table_not_found(name)
    return table
