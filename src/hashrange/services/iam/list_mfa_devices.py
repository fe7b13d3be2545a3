"""ListMFADevices: none, for there are no multi-factor devices; AWS CLI and Terraform ask before they delete a user."""

from msgspec import field

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import access_keys
from hashrange.services.iam.entities import shown
from hashrange.services.iam.structures import Marker, MaxItems, Name
from hashrange.storage.engine import Reader


class ListMFADevices(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListMFADevices)


class ListMFADevicesOutput(Response, kw_only=True):
    """The answer."""

    mfa_devices: list[str] = field(name="MFADevices")
    is_truncated: bool


def list_mfa_devices(context: Context, request: ListMFADevices) -> Plan:
    """There are none."""

    def step(reader: Reader) -> ListMFADevicesOutput:
        access_keys.owner(reader, context, request.user_name)
        return ListMFADevicesOutput(mfa_devices=[], is_truncated=False)

    return shown(step)
