"""What the transactional operations have in common: one action per item, and reasons for a cancellation."""

from collections.abc import Sequence
from typing import Required, TypedDict

import msgspec

from hashrange.api.errors import ApiError
from hashrange.api.throttling.refusals import Refusal
from hashrange.core.errors import Invalid
from hashrange.core.schema import Table
from hashrange.core.values import Item


class CancellationReason(TypedDict, total=False):
    """A reason as the error carries it."""

    Code: Required[str]
    Message: str
    Item: Item


class Reason(msgspec.Struct, frozen=True):
    """Why one action cancels the transaction."""

    code: str
    message: str
    item: Item | None = None
    refusal: Refusal | None = None  # for want of capacity

    def rendered(self) -> CancellationReason:
        """The reason as the error carries it."""
        shown: CancellationReason = {"Code": self.code, "Message": self.message}
        if self.item is not None:
            shown["Item"] = self.item
        return shown


def invalid(error: Invalid) -> Reason:
    """An action that breaks a rule which only the table or the stored item shows."""
    return Reason("ValidationError", error.message)


def condition_failed(item: Item | None) -> Reason:
    """An action whose condition did not hold."""
    return Reason("ConditionalCheckFailed", "The conditional request failed", item)


def throttled(refusal: Refusal) -> Reason:
    """An action that finds no capacity."""
    return Reason(refusal.element_code, refusal.message, refusal=refusal)


def duplicate() -> Reason:
    """An item that is to be inserted, but is there already."""
    return Reason("DuplicateItem", "Duplicate primary key exists in table")


def conflict(actions: int) -> ApiError:
    """The transaction kept colliding with others; on which of its items is not known, so on all of them."""
    return _cancelled([Reason("TransactionConflict", "Transaction is ongoing for the item")] * actions)


def conflict_on(at: int, actions: int) -> ApiError:
    """The transaction collided with another on one of its items."""
    reasons: list[Reason | None] = [None] * actions
    reasons[at] = Reason("TransactionConflict", "Transaction is ongoing for the item")
    return _cancelled(reasons)


def cancel_on(reasons: Sequence[Reason | None]) -> None:
    """Raise TransactionCanceledException if any action has a reason; the list is as long as the request's."""
    if any(reasons):
        raise _cancelled(reasons)


def _cancelled(reasons: Sequence[Reason | None]) -> ApiError:
    codes = ", ".join("None" if reason is None else reason.code for reason in reasons)
    rendered: list[CancellationReason] = [
        {"Code": "None"} if reason is None else reason.rendered() for reason in reasons
    ]
    error = ApiError(
        "TransactionCanceledException",
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        fields={"CancellationReasons": rendered},
    )
    error.refusals = [
        reason.refusal for reason in reasons if reason is not None and reason.refusal is not None
    ]
    return error


def first_only(outcomes: Sequence[object]) -> list[Reason | None]:
    """The reasons among the outcomes, of which the service reports only the first (its checks stop there)."""
    reasons: list[Reason | None] = [None] * len(outcomes)
    for at, outcome in enumerate(outcomes):
        if isinstance(outcome, Reason):
            reasons[at] = outcome
            break
    return reasons


def refuse_duplicates(places: Sequence[tuple[Table, bytes] | None]) -> None:
    """An item may take part in a transaction only once."""
    numbered = [(place[0].number, place[1]) for place in places if place is not None]
    if len(set(numbered)) < len(numbered):
        raise Invalid("Transaction request cannot include multiple operations on one item")
