"""Revisions of a policy: which one a request expects, how soon the next may come."""

import time

from hashrange.api.errors import ApiError
from hashrange.api.resource_policies.resources import PolicyPlace
from hashrange.api.tables.wording import busy
from hashrange.core.schema import ResourcePolicy, Table, changed

_NO_POLICY = "NO_POLICY"
_MILLISECONDS = 1000
_PENDING_MILLISECONDS = 2000  # measured: one to two seconds


def not_found(detail: str) -> ApiError:
    """PolicyNotFoundException."""
    return ApiError(
        "PolicyNotFoundException", f"Resource-based policy not found for the provided ResourceArn: {detail}"
    )


def current(table: Table, place: PolicyPlace) -> ResourcePolicy | None:
    """The policy that there is."""
    stored = table.policies.get(place.label)
    return None if stored is None or stored.document is None else stored


def check_expected(table: Table, place: PolicyPlace, expected: str | None) -> None:
    """Refuse a change of a policy that is not the one the client knows."""
    if expected is None:
        return
    policy = current(table, place)
    name = table.name
    if expected == _NO_POLICY:
        if policy is not None:
            raise not_found(
                f"Requested policy update expecting none to be present for table {name}, but a policy exists "
                f"with revision id {policy.revision}."
            )
        return
    if policy is None:
        raise not_found(
            f"Requested update for policy with revision id {expected}, but table {name} has no associated policy."
        )
    if policy.revision != expected:
        raise not_found(
            f"Requested update for policy with revision id {expected}, but the policy associated to target "
            f"table {name} has revision id {policy.revision}."
        )


def check_cooldown(table: Table, place: PolicyPlace, now: float, seconds: int) -> None:
    """Refuse a change that follows another too soon."""
    last = table.policies.get(place.label)
    if last is None or not seconds:
        return
    end = int(last.revision) + seconds * _MILLISECONDS
    if now * _MILLISECONDS < end:
        raise ApiError(
            "ThrottlingException",
            f"Resource-based policy for table {table.name} modified within the previous "
            f"{seconds * _MILLISECONDS} milliseconds. Please try again after {_moment(end)}.",
        )


def check_settled(table: Table, now: float, cooldown_seconds: int) -> None:
    """Refuse to delete a table whose policy has just changed, where the service's pace is kept."""
    latest = max((int(policy.revision) for policy in table.policies.values()), default=0)
    if cooldown_seconds and now * _MILLISECONDS < latest + _PENDING_MILLISECONDS:
        raise busy(f"Table: {table.name} has a pending resource-based policy update.")


def _moment(milliseconds: int) -> str:
    seconds, fraction = divmod(milliseconds, _MILLISECONDS)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{fraction:03}Z"


def next_revision(table: Table, place: PolicyPlace, now: float) -> str:
    """The moment, in milliseconds; no two changes have the same."""
    last = table.policies.get(place.label)
    return str(max(int(now * _MILLISECONDS), 0 if last is None else int(last.revision) + 1))


def with_policy(table: Table, place: PolicyPlace, policy: ResourcePolicy) -> Table:
    """The table's record with a policy; those of streams that are no longer its own are dropped."""
    labels = {place.label, "", table.stream_label}
    kept = {label: known for label, known in table.policies.items() if label in labels}
    return changed(table, policies=kept | {place.label: policy})
