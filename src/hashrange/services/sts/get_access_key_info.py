"""GetAccessKeyInfo: the account that an access key belongs to."""

from hashrange.api.context import Context
from hashrange.api.errors import validation
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.iam.structures import AccessKeyId
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import ACCESS_KEYS


class GetAccessKeyInfo(Request, kw_only=True):
    """The request."""

    access_key_id: AccessKeyId


SHAPE = Shape(GetAccessKeyInfo)


class GetAccessKeyInfoOutput(Response, kw_only=True):
    """The answer."""

    account: str


def get_access_key_info(_context: Context, request: GetAccessKeyInfo) -> Plan:
    """Accounts are no secret; the keys of sessions are not kept, and so not known."""

    def step(reader: Reader) -> Described:
        for place in ACCESS_KEYS.places(reader):
            if ACCESS_KEYS.find(reader, place, request.access_key_id) is not None:
                return Described(GetAccessKeyInfoOutput(account=place.account_id))
        raise validation(f"The access key {request.access_key_id} does not exist")

    return Read(step)
