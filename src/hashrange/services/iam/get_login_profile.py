"""GetLoginProfile: nobody has a password, so there is none to describe; Terraform and the AWS CLI try."""

from typing import NoReturn

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import access_keys, errors
from hashrange.services.iam.structures import Name, Timestamp
from hashrange.storage.engine import Reader


class GetLoginProfile(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None


SHAPE = Shape(GetLoginProfile)


class LoginProfile(Response, kw_only=True):
    """A password for the console."""

    user_name: str
    create_date: Timestamp


class GetLoginProfileOutput(Response, kw_only=True):
    """The answer."""

    login_profile: LoginProfile


def get_login_profile(context: Context, request: GetLoginProfile) -> Plan:
    """There is none."""

    def step(reader: Reader) -> NoReturn:
        name = access_keys.owner(reader, context, request.user_name).name or ""
        raise errors.no_such_entity(f"Login Profile for User {name} cannot be found.")

    return Read(step)
