"""Reasons in plain words: what decided, what was missing, and what to change."""

import json
from collections.abc import Iterator

from hashrange.auth.policy.decision import PolicyType
from hashrange.auth.policy.reasons import Considered, Reasons, Unmet

_OWN = PolicyType.IDENTITY.value
_LIMITS = {PolicyType.BOUNDARY.value, PolicyType.SESSION.value}


def lines(reasons: Reasons) -> Iterator[str]:
    """The reasons, one sentence a line."""
    yield _verdict(reasons)
    if reasons.decision == "allowed":
        return
    for key in reasons.undetermined:
        yield f"The request does not tell the value of {key}, which a policy asks for; such a request is denied."
    if reasons.decision == "explicitDeny":
        yield "No statement that allows goes before one that denies: change or remove that statement."
        return
    yield from _near_misses(reasons)
    yield from _advice(reasons)


def _verdict(reasons: Reasons) -> str:
    what = f"{reasons.action} on {reasons.resource}"
    which = f"statement {reasons.statement} of the {reasons.policy_type} {reasons.policy}"
    match reasons.decision:
        case "allowed":
            by = which if reasons.statement else "the account's root may do everything that no policy denies"
            return f"Allowed: {what}, by {by}."
        case "explicitDeny":
            return f"Denied: {what}, by {which}."
        case _:
            return f"Denied: {what}: no {reasons.policy_type or _OWN} allows it."


def _near_misses(reasons: Reasons) -> Iterator[str]:
    for statement in reasons.considered:
        if statement.allows and not statement.applies:
            where = f"Statement {statement.statement} of the {statement.policy_type} {statement.policy}"
            yield f"{where} allows the action, but {'; and '.join(_obstacles(statement, reasons))}."


def _obstacles(statement: Considered, reasons: Reasons) -> Iterator[str]:
    if statement.other_resource:
        yield "not on this resource"
    if statement.other_principal:
        yield "not to this principal"
    for unmet in statement.unmet:
        yield _unmet(unmet, reasons)


def _unmet(unmet: Unmet, reasons: Reasons) -> str:
    wanted = f"{unmet.operator} {unmet.key}: {', '.join(unmet.values) or 'nothing'}"
    value = reasons.condition_keys.get(unmet.key)
    if unmet.key in reasons.undetermined:
        has = "the request does not tell that value"
    elif value is None:
        has = "the request has no such key"
    else:
        has = f"the request has {value if isinstance(value, str) else ', '.join(value) or 'no value'}"
    return f"its condition {wanted} does not hold: {has}"


def _advice(reasons: Reasons) -> Iterator[str]:
    statement = json.dumps({"Effect": "Allow", "Action": reasons.action, "Resource": reasons.resource})
    missing = reasons.policy_type or _OWN
    if missing in _LIMITS:
        yield f"The caller's own policies are not enough: the {missing} must allow it as well. Add to it: {statement}"
    elif missing == PolicyType.RESOURCE.value:
        yield (
            "The resource's own policy must allow it as well, as the resource is another account's, or a key: a "
            f"statement with the caller as its Principal, and {statement}"
        )
    elif missing == PolicyType.TRUST.value:
        yield (
            "The role's trust policy must allow it: a statement with the caller, or the identity provider who vouches "
            f"for them, as its Principal, and the action {reasons.action}"
        )
    else:
        yield f"To allow it, add to a policy of the caller: {statement}"
