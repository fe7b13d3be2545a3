"""ListInstanceProfilesForRole: none, for there are no instance profiles; Terraform asks before it deletes a role."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import ROLES, shown
from hashrange.services.iam.structures import Marker, MaxItems, Name
from hashrange.storage.engine import Reader


class ListInstanceProfilesForRole(Request, kw_only=True):
    """The request."""

    role_name: Name
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListInstanceProfilesForRole)


class ListInstanceProfilesForRoleOutput(Response, kw_only=True):
    """The answer."""

    instance_profiles: list[str]
    is_truncated: bool


def list_instance_profiles_for_role(context: Context, request: ListInstanceProfilesForRole) -> Plan:
    """There are none."""

    def step(reader: Reader) -> ListInstanceProfilesForRoleOutput:
        ROLES.get(reader, context, request.role_name)
        return ListInstanceProfilesForRoleOutput(instance_profiles=[], is_truncated=False)

    return shown(step)
