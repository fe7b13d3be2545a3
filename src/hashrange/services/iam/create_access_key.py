"""CreateAccessKey: make an access key; its secret is shown this once."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.core import limits
from hashrange.services.iam import access_keys, errors
from hashrange.services.iam.entities import changed, now, place
from hashrange.services.iam.structures import AccessKeyView, Name
from hashrange.storage import root_key_record
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import ACCESS_KEYS, AccessKey, keys_of_user


class CreateAccessKey(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None


SHAPE = Shape(CreateAccessKey)


class CreateAccessKeyOutput(Response, kw_only=True):
    """The answer."""

    access_key: AccessKeyView


def create_access_key(context: Context, request: CreateAccessKey) -> Plan:
    """Make an access key; its secret is shown this once."""
    seals = access_keys.seals(context)
    key_id, secret = access_keys.new_pair()
    sealed = seals.access_keys.seal(secret.encode(), key_id.encode())
    created_at = now(context)

    def step(tx: Transaction) -> CreateAccessKeyOutput:
        owner = access_keys.owner(tx, context, request.user_name)
        most = limits.IAM_ACCESS_KEYS_PER_USER_MAX
        if sum(1 for _ in keys_of_user(tx, place(context), owner.row_id)) >= most:
            raise errors.quota("AccessKeysPerUser", most)
        root_key_record.claim(tx, seals.check_value)
        key = AccessKey(id=key_id, user=owner.row_id, created_at=created_at, sealed=sealed)
        ACCESS_KEYS.save(tx, place(context), key_id, key)
        view = AccessKeyView(
            user_name=owner.name,
            access_key_id=key_id,
            status=key.status,
            secret_access_key=secret,
            create_date=created_at,
        )
        return CreateAccessKeyOutput(access_key=view)

    return changed(context, step)
