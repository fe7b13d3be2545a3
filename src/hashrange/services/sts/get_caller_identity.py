"""GetCallerIdentity: who asks. Terraform asks it first, and puts the account into its ids."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described


class GetCallerIdentity(Request, kw_only=True):
    """The request."""


SHAPE = Shape(GetCallerIdentity)


class GetCallerIdentityOutput(Response, kw_only=True):
    """The answer."""

    user_id: str
    account: str
    arn: str


def get_caller_identity(context: Context, _request: GetCallerIdentity) -> Plan:
    """Where signatures are not verified, everybody is the root of the account."""
    caller = context.caller()
    return Answer(
        Described(
            GetCallerIdentityOutput(user_id=caller.principal_id, account=caller.account_id, arn=caller.arn)
        )
    )
