"""Whether the caller may do what a request asks for: every need of it, or nothing is done."""

from collections.abc import Callable
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
from hashrange.auth.policy.residual import EVERYTHING, Residual, residual
from hashrange.auth.policy.statements import Asked
from hashrange.auth.principals import Principal, PrincipalKind

_REMEMBERED_MAX = 256  # clients choose the resources
_RESOURCE_CHARS_MAX = 1024
BATCH = "dynamodb:BatchExecuteStatement"  # parts of it may be denied, and it succeeds


def coming_from(context: Context, origin: Callable[[], Origin]) -> Context:
    """A context of one request: all requests of a caller share one, and come from different places."""
    here: Context = context.__copy__()  # type: ignore[attr-defined] # as `copy` would have it, with less ado
    here.origin = origin
    return here


def permitted(context: Context, action: str, request: Any) -> Context:
    """The context in which an operation may go on; AccessDeniedException if a need of it is not allowed."""
    principal, needs = context.principal, NEEDS.get(action)
    if principal is None or needs is None:
        raise ApiError("AccessDeniedException", "Access is denied")
    if action.startswith("iam:") and _is_bare_session(principal):
        raise ApiError("UnrecognizedClientException", "The security token included in the request is invalid")
    if action == BATCH:
        return _with_denied_statements(context, principal, request)
    others: set[str] = set()
    for need in needs(context, request):
        if not _is_known(context, principal, need):
            denied = refused(context, principal, need)
            if denied is not None:
                raise denied
        if need.account_id is not None and need.account_id != context.account_id:
            others.add(need.account_id)
    return msgspec.structs.replace(context, reaches=frozenset(others)) if others else context


def _is_bare_session(principal: Principal) -> bool:
    """Whether it is what GetSessionToken gives: without a second factor, which there is none of here, not for IAM."""
    return principal.issued_at is not None and principal.kind in {PrincipalKind.USER, PrincipalKind.ROOT}


def permitted_on_table(context: Context, action: str, request: Any) -> Context:
    """The same of an operation on one table or index, which needs nothing but its own action there."""
    principal, name = context.principal, request.table_name
    place = action, name, getattr(request, "index_name", None)
    table = None
    if not name.startswith("arn:"):
        table = context.catalogue.find(context.account_id, context.region, name)
    known = context.residuals.get(place)
    if known is None or known[0] is not principal or known[1] is not table:
        if principal is None or table is None:
            # Nobody is asking, or the name is that of no table.
            return permitted(context, action, request)
        _make_room(context.residuals)
        known = context.residuals[place] = principal, table, _left(context, principal, action, request)
    left = known[2]
    if left is not None and (left is EVERYTHING or _allows(left, context, known[0], action, request)):
        return context
    return permitted(context, action, request)


def _left(context: Context, principal: Principal, action: str, request: Any) -> Residual | None:
    """What is left to be asked about requests like this one."""
    need = next(iter(NEEDS[action](context, request)))
    rules = principal.rules(policies.of_need(need))
    return residual(action, need.resource, rules, is_root=principal.is_root)


def _allows(left: Residual, context: Context, principal: Principal, action: str, request: Any) -> bool:
    try:
        for need in NEEDS[action](context, request):
            if not left.allows(need.resource, AllKeys(context, principal, need)):
                return False
    except Undetermined:
        return False
    return True


def _is_known(context: Context, principal: Principal, need: Need) -> bool:
    """Whether a need is allowed whatever its keys are."""
    known = context.allowed.get((need.action, need.resource))
    return known is not None and known[0] is principal and known[1] is policies.of_need(need)


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
    if len(need.resource) <= _RESOURCE_CHARS_MAX:
        _make_room(context.allowed)
        context.allowed[need.action, need.resource] = principal, policy


def _make_room(remembered: dict[Any, Any]) -> None:
    if len(remembered) >= _REMEMBERED_MAX:
        remembered.clear()
