"""ScheduleKeyDeletion: delete a key when a waiting period is over."""

from typing import Annotated

from msgspec import Meta

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.tables.description import timestamp
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import KeyId, state_of
from hashrange.storage.key_rows import KmsKey, key_arn
from hashrange.storage.setting_rows import Place

_DAY_SECONDS = 86_400
_DAYS_MIN, _DAYS_MAX, _DAYS_DEFAULT = 7, 30, 30


class ScheduleKeyDeletion(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    pending_window_in_days: Annotated[int, Meta(ge=1, le=365)] | None = None


SHAPE = Shape(ScheduleKeyDeletion)


class ScheduleKeyDeletionOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    key_id: str
    deletion_date: float
    key_state: str
    pending_window_in_days: int


def schedule_key_deletion(context: Context, request: ScheduleKeyDeletion) -> Plan:
    """The model lets more days through than the service does."""
    days = _DAYS_DEFAULT if request.pending_window_in_days is None else request.pending_window_in_days
    if not _DAYS_MIN <= days <= _DAYS_MAX:
        raise errors.validation(
            f"PendingWindowInDays must be between {_DAYS_MIN} and {_DAYS_MAX} (inclusive)"
        )
    now = context.clock.now()
    deletes_at = now + days * _DAY_SECONDS

    def answer(place: Place, key: KmsKey) -> ScheduleKeyDeletionOutput:
        return ScheduleKeyDeletionOutput(
            key_id=key_arn(place, key.id),
            deletion_date=timestamp(deletes_at),
            key_state=state_of(key),
            pending_window_in_days=days,
        )

    return change_key(
        context,
        request.key_id,
        "ScheduleKeyDeletion",
        lambda key: {"deletes_at": deletes_at, "unusable_since": key.unusable_since or now},
        answer=answer,
    )
