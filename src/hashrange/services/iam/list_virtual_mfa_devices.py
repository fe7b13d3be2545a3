"""ListVirtualMFADevices: none, for there are no multi-factor devices; Terraform asks before it deletes a user."""

from typing import Literal

from msgspec import field

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.iam.structures import Marker, MaxItems


class ListVirtualMFADevices(Request, kw_only=True):
    """The request."""

    assignment_status: Literal["Assigned", "Unassigned", "Any"] | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListVirtualMFADevices)


class ListVirtualMFADevicesOutput(Response, kw_only=True):
    """The answer."""

    virtual_mfa_devices: list[str] = field(name="VirtualMFADevices")
    is_truncated: bool


def list_virtual_mfa_devices(_context: Context, _request: ListVirtualMFADevices) -> Plan:
    """There are none."""
    return Answer(Described(ListVirtualMFADevicesOutput(virtual_mfa_devices=[], is_truncated=False)))
