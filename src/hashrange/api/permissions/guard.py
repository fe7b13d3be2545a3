"""Whether the caller may do what a request asks for: every need of it, or nothing is done."""

from copy import copy
from typing import Any

import msgspec

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.permissions import policies, statements
from hashrange.api.permissions.declared import NEEDS
from hashrange.api.permissions.denials import AccessDenied
from hashrange.api.permissions.keys import AllKeys
from hashrange.api.permissions.needs import Need, Undetermined
from hashrange.audit.events import Origin
from hashrange.auth.policy.decision import Decision, PolicyType, Rules, decide
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.statements import Asked
from hashrange.auth.principals import Principal

_REMEMBERED_MAX = 256  # clients choose the resources
_BATCH = "dynamodb:BatchExecuteStatement"


def coming_from(context: Context, origin: Origin) -> Context:
    """A context of one request: all requests of a caller share one, and come from different places."""
    here = copy(context)
    here.peer = origin
    return here


def permitted(context: Context, action: str, request: Any) -> Context:
    """The context in which an operation may go on; AccessDeniedException if a need of it is not allowed."""
    principal, needs = context.principal, NEEDS.get(action)
    if principal is None or needs is None:
        raise ApiError("AccessDeniedException", "Access is denied")
    if action == _BATCH:
        return _with_denied_statements(context, principal, request)
    others: set[str] = set()
    for need in needs(context, request):
        policy = policies.of_need(need)
        known = context.allowed.get((need.action, need.resource))
        if known is None or known[0] is not principal or known[1] is not policy:
            denied = judged(context, principal, need, policy)
            if denied is not None:
                raise denied
        if need.account_id is not None and need.account_id != context.account_id:
            others.add(need.account_id)
    return msgspec.structs.replace(context, reaches=frozenset(others)) if others else context


def _with_denied_statements(context: Context, principal: Principal, request: Any) -> Context:
    """A statement that is not allowed fails by itself; the others go on."""
    denied: dict[int, AccessDenied] = {}
    for number, statement in enumerate(request.statements):
        for need in statements.statement_needs(context, statement):
            error = refused(context, principal, need)
            if error is not None:
                denied[number] = error
                break
    # The audit log looks for them where the call has its context, which is of this request alone.
    context.denied_statements = denied
    return msgspec.structs.replace(context, denied_statements=denied) if denied else context


def refused(context: Context, principal: Principal, need: Need) -> AccessDenied | None:
    """The refusal of one need; None if it is allowed."""
    return judged(context, principal, need, policies.of_need(need))


def judged(context: Context, principal: Principal, need: Need, policy: Policy | None) -> AccessDenied | None:
    """The refusal of one need, if the resource has this policy."""
    keys = AllKeys(context, principal, need)
    asked = Asked(need.action, need.resource, principal.caller(), keys)
    if need.account_id is not None and need.account_id != principal.account_id and not need.crosses:
        return AccessDenied(asked, Decision(allowed=False, type=PolicyType.RESOURCE), Rules())
    rules = principal.rules(policy, need.account_id)
    try:
        decision = decide(asked, rules)
    except Undetermined:
        decision = Decision(allowed=False, type=PolicyType.IDENTITY)
    if not decision.allowed:
        return AccessDenied(asked, decision, rules)
    if not keys.were_asked:
        _remember(context, principal, need, policy)
    return None


def _remember(context: Context, principal: Principal, need: Need, policy: Policy | None) -> None:
    """No condition was looked at, so it is allowed as long as the caller and the resource have the same policies."""
    if len(context.allowed) >= _REMEMBERED_MAX:
        context.allowed.clear()
    context.allowed[need.action, need.resource] = principal, policy
