"""ListAccountAliases: the account's alias, if it has one."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.account_aliases import alias_of
from hashrange.services.iam.entities import shown
from hashrange.services.iam.structures import Marker, MaxItems
from hashrange.storage.engine import Reader


class ListAccountAliases(Request, kw_only=True):
    """The request."""

    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListAccountAliases)


class ListAccountAliasesOutput(Response, kw_only=True):
    """The answer."""

    account_aliases: list[str]
    is_truncated: bool


def list_account_aliases(context: Context, _request: ListAccountAliases) -> Plan:
    """One, or none."""

    def step(reader: Reader) -> ListAccountAliasesOutput:
        alias = alias_of(reader, context)
        return ListAccountAliasesOutput(account_aliases=[] if alias is None else [alias], is_truncated=False)

    return shown(step)
