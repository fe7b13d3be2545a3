"""GetCallerIdentity: the account that a key belongs to. Terraform asks it first, and puts the account into its ids."""

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
    """Every key is the root user's, for there are no other identities yet."""
    account = context.account_id
    root = GetCallerIdentityOutput(user_id=account, account=account, arn=f"arn:aws:iam::{account}:root")
    return Answer(Described(root))
