"""CreateGroup: make a group."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import GROUPS, changed, new_id, now
from hashrange.services.iam.structures import GroupView, LongName, Path
from hashrange.services.iam.views import group_view
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import Group


class CreateGroup(Request, kw_only=True):
    """The request."""

    path: Path | None = None
    group_name: LongName


SHAPE = Shape(CreateGroup)


class CreateGroupOutput(Response, kw_only=True):
    """The answer."""

    group: GroupView


def create_group(context: Context, request: CreateGroup) -> Plan:
    """Make a group."""
    group = Group(
        name=request.group_name,
        path=request.path or "/",
        id=new_id(GROUPS.id_prefix),
        created_at=now(context),
    )

    def step(tx: Transaction) -> CreateGroupOutput:
        GROUPS.add(tx, context, group)
        return CreateGroupOutput(group=group_view(context.account_id, group))

    return changed(context, step)
