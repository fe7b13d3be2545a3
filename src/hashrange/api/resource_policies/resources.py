"""The table or stream that a request about a resource policy names."""

from typing import NamedTuple

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.table_names import existing_table
from hashrange.api.tables.wording import invalid
from hashrange.auth import arns
from hashrange.core.schema import TABLE_POLICY, Table

_ONLY_OWNERS = "This action is only supported by accounts that match the resource owner\u2019s account."


class PolicyPlace(NamedTuple):
    """Where a policy is."""

    arn: str
    table_name: str
    label: str  # of a stream, or TABLE_POLICY

    def check(self, table: Table) -> None:
        """A stream has a policy only while it is its table's."""
        if self.label not in {TABLE_POLICY, table.stream_label}:
            raise errors.not_found(
                f"Requested resource not found: Stream: {self.label} not found for Table: {self.table_name}"
            )


def place_of(context: Context, arn: str) -> PolicyPlace:
    """What an ARN names, which must be the caller's own; the service looks at its parts in this order."""
    if not arn.startswith("arn:"):
        raise invalid(f"ARNs must start with 'arn:': {arn}")
    parts = arns.parsed(arn)
    if parts is None or parts.service != "dynamodb":
        raise invalid(f"Invalid resource Arn: {arn}")
    kind, _, path = parts.resource.partition("/")
    name, _, rest = path.partition("/")
    if kind != "table" or not name or rest.startswith("backup/"):
        raise invalid(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    if parts.account_id != context.account_id:
        raise errors.validation(_ONLY_OWNERS)
    if (parts.partition, parts.region) != ("aws", context.region):
        raise invalid(f"Invalid resource Arn: {arn}")
    label = rest.removeprefix("stream/")
    if rest and (label == rest or not label):
        raise invalid(
            f"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        )
    return PolicyPlace(arn, name, label or TABLE_POLICY)


def table_of(context: Context, place: PolicyPlace) -> Table:
    """The table that has the policy."""
    table = existing_table(context, place.table_name)
    if table is None:
        raise errors.table_not_found(place.table_name)
    place.check(table)
    return table
