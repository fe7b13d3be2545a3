"""GetUserPolicy: show an inline policy of a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import USERS, shown, told
from hashrange.services.iam.structures import LongName, Name
from hashrange.storage.engine import Reader


class GetUserPolicy(Request, kw_only=True):
    """The request."""

    user_name: Name
    policy_name: LongName


SHAPE = Shape(GetUserPolicy)


class GetUserPolicyOutput(Response, kw_only=True):
    """The answer."""

    user_name: str
    policy_name: str
    policy_document: str


def get_user_policy(context: Context, request: GetUserPolicy) -> Plan:
    """Show an inline policy of a user."""

    def step(reader: Reader) -> GetUserPolicyOutput:
        user = USERS.get(reader, context, request.user_name)
        document = attachments.inline(USERS, user, request.policy_name)
        return GetUserPolicyOutput(
            user_name=user.name, policy_name=request.policy_name, policy_document=told(document)
        )

    return shown(step)
