"""GetAccessKeyLastUsed: when an access key was used last, for what and where."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import errors
from hashrange.services.iam.entities import USERS, place, shown
from hashrange.services.iam.last_uses import last_use
from hashrange.services.iam.structures import AccessKeyId, Timestamp
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import ACCESS_KEYS

_NEVER = "N/A"  # the service's word for a key that was never used


class GetAccessKeyLastUsed(Request, kw_only=True):
    """The request."""

    access_key_id: AccessKeyId


SHAPE = Shape(GetAccessKeyLastUsed)


class AccessKeyLastUsed(Response, kw_only=True):
    """The last use."""

    last_used_date: Timestamp | None = None
    service_name: str
    region: str


class GetAccessKeyLastUsedOutput(Response, kw_only=True):
    """The answer."""

    user_name: str | None = None
    access_key_last_used: AccessKeyLastUsed


def get_access_key_last_used(context: Context, request: GetAccessKeyLastUsed) -> Plan:
    """A key of the account; of one that was never used neither service nor region is known."""

    def step(reader: Reader) -> GetAccessKeyLastUsedOutput:
        key = ACCESS_KEYS.find(reader, place(context), request.access_key_id)
        if key is None:
            raise errors.no_such_entity(f"The Access Key with id {request.access_key_id} cannot be found.")
        user = None if key.user is None else USERS.rows.find(reader, place(context), key.user)
        use = last_use(reader, context, key.id)
        shown_use = (
            AccessKeyLastUsed(service_name=_NEVER, region=_NEVER)
            if use is None
            else AccessKeyLastUsed(last_used_date=use.at, service_name=use.service, region=use.region)
        )
        return GetAccessKeyLastUsedOutput(
            user_name=None if user is None else user.name, access_key_last_used=shown_use
        )

    return shown(step)
