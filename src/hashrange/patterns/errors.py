"""What can go wrong: what the service refuses, and what that means for a pattern."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hashrange.patterns.values import Item, plain_item

# The service did not perform these; the same request may be sent again.
THROTTLES = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "SlowDown",
        "ThrottlingException",
    }
)
CONFLICTS = frozenset(
    {"ReplicatedWriteConflictException", "TransactionConflictException", "TransactionInProgressException"}
)
_PASSING_REASONS = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})


class PatternError(Exception):
    """Whatever a pattern raises by itself."""


class Refused(PatternError):
    """The service's own error, of either SDK."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message

    @property
    def is_passing(self) -> bool:
        """Whether nothing was done and the same request may well succeed a moment later."""
        return self.code in THROTTLES or self.code in CONFLICTS


class ConditionFailed(Refused):
    """A write's condition was not met; `stored` is the item as it is, where there is one."""

    def __init__(self, message: str, stored: Item | None) -> None:
        super().__init__("ConditionalCheckFailedException", message)
        self.stored = stored


class Reason(msgspec.Struct, frozen=True):
    """Why one action of a transaction was refused; the code is "None" for those that were not."""

    code: str
    stored: Item | None = None

    @property
    def is_condition(self) -> bool:
        return self.code == "ConditionalCheckFailed"


class TransactionCanceled(Refused):
    """A transaction of which nothing was done, with a reason for each of its actions."""

    def __init__(self, message: str, reasons: tuple[Reason, ...]) -> None:
        super().__init__("TransactionCanceledException", message)
        self.reasons = reasons

    @property
    def is_passing(self) -> bool:
        """Conflicts and throttles pass; one failed condition among them does not."""
        codes = {reason.code for reason in self.reasons} - {"None"}
        return bool(codes) and codes <= _PASSING_REASONS

    @property
    def failed(self) -> list[int]:
        """The positions of the actions whose conditions were not met."""
        return [number for number, reason in enumerate(self.reasons) if reason.is_condition]


class Stale(PatternError):
    """Somebody else has changed the item since it was read."""


class AlreadyExists(PatternError):
    """There is an item with this key already."""


class NotFound(PatternError):
    """There is no such item."""


class Taken(PatternError):
    """Another item has this value of a unique attribute."""

    def __init__(self, field: str, value: str) -> None:
        super().__init__(f"{field} is taken: {value}")
        self.field, self.value = field, value


class InProgress(PatternError):
    """Somebody else is at the same piece of work."""


class PayloadDiffers(PatternError):
    """An idempotency key was used before, for something else."""


class ResultLost(PatternError):
    """The work is done, but what it gave could not be kept; it is not done again."""


class LockHeld(PatternError):
    """Somebody else has the lock, and kept it for as long as the caller would wait."""


class LockLost(PatternError):
    """The lock has passed to somebody else."""


class FencedOut(PatternError):
    """A later holder of the lock has written already."""


class BadCursor(PatternError):
    """A cursor that is damaged, or that belongs to another query."""


class Incomplete(PatternError):
    """Pieces of a large value are missing or damaged."""


class TooLarge(PatternError):
    """More than the caller said there may be."""


class SagaFailed(PatternError):
    """A step was refused; all that was done before has been compensated."""


class SagaStuck(PatternError):
    """A compensation does not succeed; somebody has to look."""


class WrongPhase(PatternError):
    """The migration is not where this can be done."""


def refusal(error: BaseException) -> Refused | None:
    """The service's error in an exception of botocore, which this package does not import; else None."""
    response = getattr(error, "response", None)
    if not isinstance(response, Mapping) or not isinstance(response.get("Error"), Mapping):
        return None
    code, message = str(response["Error"].get("Code", "")), str(response["Error"].get("Message", ""))
    if code == "ConditionalCheckFailedException":
        return ConditionFailed(message, _stored(response))
    if code == "TransactionCanceledException":
        reasons = [
            Reason(reason.get("Code") or "None", _stored(reason))
            for reason in response.get("CancellationReasons", ())
        ]
        return TransactionCanceled(message, tuple(reasons))
    return Refused(code, message)


def _stored(response: Mapping[str, Any]) -> Item | None:
    item = response.get("Item")
    return plain_item(item) if item else None
