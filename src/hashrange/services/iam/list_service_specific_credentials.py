"""ListServiceSpecificCredentials: none, for there are none; Terraform asks before it deletes a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import access_keys
from hashrange.services.iam.entities import shown
from hashrange.services.iam.structures import Marker, MaxItems, Name
from hashrange.storage.engine import Reader


class ListServiceSpecificCredentials(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None
    service_name: str | None = None
    all_users: bool | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListServiceSpecificCredentials)


class ListServiceSpecificCredentialsOutput(Response, kw_only=True):
    """The answer."""

    service_specific_credentials: list[str]
    is_truncated: bool


def list_service_specific_credentials(context: Context, request: ListServiceSpecificCredentials) -> Plan:
    """There are none."""

    def step(reader: Reader) -> ListServiceSpecificCredentialsOutput:
        access_keys.owner(reader, context, request.user_name)
        return ListServiceSpecificCredentialsOutput(service_specific_credentials=[], is_truncated=False)

    return shown(step)
