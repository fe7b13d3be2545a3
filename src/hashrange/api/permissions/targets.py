"""The resources that requests name, under the one spelling that policies know them by.

What a request says may be spelt in several ways that mean the same: a name, an ARN, an ARN of another partition. A
policy must not be evaded by choosing one of them.
"""

import msgspec

from hashrange.api.context import Context
from hashrange.api.permissions.needs import NO_KEYS, Need
from hashrange.api.table_names import place
from hashrange.auth import arns
from hashrange.auth.policy.keys import ConditionKeys
from hashrange.core.schema import TABLE_POLICY, Index, Table

_STREAM = "/stream/"


class Target(msgspec.Struct, frozen=True):
    """A table, which there may be or not, or one of its indexes."""

    account_id: str
    arn: str
    table: Table | None
    index_name: str | None = None

    def need(self, action: str, keys: ConditionKeys = NO_KEYS, *, crosses: bool = False) -> Need:
        """The permission for an action on it."""
        return Need(action, self.arn, keys, self.account_id, self.table, TABLE_POLICY, crosses)

    @property
    def index(self) -> Index | None:
        """The index, if there is one of the name."""
        if self.table is None or self.index_name is None:
            return None
        return self.table.index_by_name.get(self.index_name)


def table(context: Context, name_or_arn: str, index_name: str | None = None) -> Target:
    """What a request names by the name or the ARN of a table, and perhaps by an index of it."""
    account_id, name = place(context, name_or_arn)
    record = context.catalogue.find(account_id, context.region, name)
    # Most requests are about the caller's own tables, whose records have their ARN.
    if record is not None and index_name is None:
        return Target(account_id, record.arn, record)
    arn = f"arn:aws:dynamodb:{context.region}:{account_id}:table/{name}"
    if index_name is not None:
        arn += f"/index/{index_name}"
    return Target(account_id, arn, record, index_name)


def arn(
    context: Context, action: str, text: str, keys: ConditionKeys = NO_KEYS, *, crosses: bool = False
) -> Need:
    """The permission for an action on what an ARN of DynamoDB names: a table, a stream, a backup, an export."""
    parts = arns.parsed(text)
    if parts is None:
        # It names nothing, which the operation says in its own words; as a resource it fits the star only.
        return Need(action, text, keys)
    name, _, rest = parts.resource.removeprefix("table/").partition("/")
    label = rest.removeprefix("stream/") if _STREAM in parts.resource else TABLE_POLICY
    record = context.catalogue.find(parts.account_id, parts.region, name)
    return Need(action, spelt(text), keys, parts.account_id, record, label, crosses)


def spelt(text: str) -> str:
    """An ARN in the partition that all resources of this server are in."""
    parts = arns.parsed(text)
    return text if parts is None else "arn:" + ":".join(parts._replace(partition="aws"))
