"""GetRolePolicy: show an inline policy of a role."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import ROLES, shown, told
from hashrange.services.iam.structures import LongName, Name
from hashrange.storage.engine import Reader


class GetRolePolicy(Request, kw_only=True):
    """The request."""

    role_name: Name
    policy_name: LongName


SHAPE = Shape(GetRolePolicy)


class GetRolePolicyOutput(Response, kw_only=True):
    """The answer."""

    role_name: str
    policy_name: str
    policy_document: str


def get_role_policy(context: Context, request: GetRolePolicy) -> Plan:
    """Show an inline policy of a role."""

    def step(reader: Reader) -> GetRolePolicyOutput:
        role = ROLES.get(reader, context, request.role_name)
        document = attachments.inline(ROLES, role, request.policy_name)
        return GetRolePolicyOutput(
            role_name=role.name, policy_name=request.policy_name, policy_document=told(document)
        )

    return shown(step)
