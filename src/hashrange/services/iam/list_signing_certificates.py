"""ListSigningCertificates: none, for there are no signing certificates; Terraform asks before it deletes a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import access_keys
from hashrange.services.iam.entities import shown
from hashrange.services.iam.structures import Marker, MaxItems, Name
from hashrange.storage.engine import Reader


class ListSigningCertificates(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListSigningCertificates)


class ListSigningCertificatesOutput(Response, kw_only=True):
    """The answer."""

    certificates: list[str]
    is_truncated: bool


def list_signing_certificates(context: Context, request: ListSigningCertificates) -> Plan:
    """There are none."""

    def step(reader: Reader) -> ListSigningCertificatesOutput:
        access_keys.owner(reader, context, request.user_name)
        return ListSigningCertificatesOutput(certificates=[], is_truncated=False)

    return shown(step)
