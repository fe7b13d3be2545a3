"""CancelKeyDeletion: take back that a key is going to be deleted; it is disabled then."""

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import KeyId
from hashrange.storage.key_rows import KmsKey, key_arn
from hashrange.storage.setting_rows import Place


class CancelKeyDeletion(Request, kw_only=True):
    """The request."""

    key_id: KeyId


SHAPE = Shape(CancelKeyDeletion)


class CancelKeyDeletionOutput(Response, kw_only=True):
    """The answer."""

    key_id: str


def cancel_key_deletion(context: Context, request: CancelKeyDeletion) -> Plan:
    """A key that nobody is going to delete cannot be saved."""

    def check(place: Place, key: KmsKey) -> None:
        if key.deletes_at is None:
            raise ApiError("KMSInvalidStateException", f"{key_arn(place, key.id)} is not pending deletion.")

    return change_key(
        context,
        request.key_id,
        "CancelKeyDeletion",
        lambda _: {"deletes_at": None, "enabled": False},
        check=check,
        answer=lambda place, key: CancelKeyDeletionOutput(key_id=key_arn(place, key.id)),
    )
