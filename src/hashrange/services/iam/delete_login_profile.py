"""DeleteLoginProfile: nobody has a password, so there is none to delete; Terraform and the AWS CLI try."""

from typing import NoReturn

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import access_keys, errors
from hashrange.services.iam.structures import Name
from hashrange.storage.engine import Reader


class DeleteLoginProfile(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None


SHAPE = Shape(DeleteLoginProfile)


def delete_login_profile(context: Context, request: DeleteLoginProfile) -> Plan:
    """There is none."""

    def step(reader: Reader) -> NoReturn:
        name = access_keys.owner(reader, context, request.user_name).name or ""
        raise errors.no_such_entity(f"Login Profile for User {name} cannot be found.")

    return Read(step)
