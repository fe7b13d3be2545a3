"""The decision: how the policies that apply to a request are put together.

An explicit denial anywhere decides. Otherwise, within one account, either the caller's policies or the resource's
must allow the request; across accounts both must. A boundary and a session policy limit what a caller's policies
allow, and what a resource policy allows to a role; not what it allows to a user or a session by name.
"""

import enum
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hashrange.auth.policy.grantees import Naming
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.statements import Asked, Statement


class PolicyType(enum.Enum):
    """The types of policy that a refusal may name, in the service's words."""

    IDENTITY = "identity-based policy"
    RESOURCE = "resource-based policy"
    BOUNDARY = "permissions boundary"
    SESSION = "session policy"
    TRUST = "role trust policy"


class Rules(NamedTuple):
    """The policies that apply to a request."""

    identity: Sequence[Policy] = ()
    boundary: Policy | None = None
    session: Sequence[Policy] | None = (
        None  # None: the session has no policy of its own, or there is no session
    )
    resource: Policy | None = None
    owner: str | None = None  # the account of the resource; None: the caller's
    must_grant: bool = False  # a trust or key policy: nobody's own policies count without a word of it


class Decision(NamedTuple):
    """Whether a request is allowed, and what decided it."""

    allowed: bool
    explicit: bool = False
    type: PolicyType | None = None  # of the policy that decided; of a missing one if the denial is implicit
    policy: Policy | None = None
    statement: Statement | None = None


_ROOT = Decision(allowed=True)


def decide(asked: Asked, rules: Rules) -> Decision:
    """Whether a request is allowed."""
    denied = _denied(asked, rules)
    if denied is not None:
        return denied
    if rules.owner is None or rules.owner == asked.caller.account_id:
        return _within_account(asked, rules)
    return _across_accounts(asked, rules)


def all_policies(rules: Rules) -> Iterator[tuple[PolicyType, Policy]]:
    """Every policy that applies, in the order in which denials are looked for."""
    for policy in rules.identity:
        yield PolicyType.IDENTITY, policy
    if rules.resource is not None:
        yield PolicyType.RESOURCE, rules.resource
    if rules.boundary is not None:
        yield PolicyType.BOUNDARY, rules.boundary
    for policy in rules.session or ():
        yield PolicyType.SESSION, policy


def _denied(asked: Asked, rules: Rules) -> Decision | None:
    """The first explicit denial."""
    denied = _first_denial(PolicyType.IDENTITY, rules.identity, asked)
    if denied is None and rules.resource is not None:
        denied = _first_denial(PolicyType.RESOURCE, (rules.resource,), asked)
    if denied is None and rules.boundary is not None:
        denied = _first_denial(PolicyType.BOUNDARY, (rules.boundary,), asked)
    if denied is None and rules.session:
        denied = _first_denial(PolicyType.SESSION, rules.session, asked)
    return denied


def _first_denial(kind: PolicyType, policies: Sequence[Policy], asked: Asked) -> Decision | None:
    for policy in policies:
        statement = policy.denial(asked)
        if statement is not None:
            return Decision(allowed=False, explicit=True, type=kind, policy=policy, statement=statement)
    return None


def _within_account(asked: Asked, rules: Rules) -> Decision:
    naming, statement = _resource_grant(asked, rules)
    if rules.must_grant and naming is Naming.NOT:
        return Decision(allowed=False, type=PolicyType.RESOURCE)
    if asked.caller.is_root:
        return _ROOT
    if naming >= Naming.LOOSELY and (naming is Naming.DIRECTLY or _unlimited(asked, rules) is None):
        return _granted(PolicyType.RESOURCE, rules.resource, statement)
    return _own(asked, rules)


def _across_accounts(asked: Asked, rules: Rules) -> Decision:
    own = _ROOT if asked.caller.is_root else _own(asked, rules)
    if not own.allowed:
        return own
    naming, statement = _resource_grant(asked, rules)
    if naming is Naming.NOT:
        return Decision(allowed=False, type=PolicyType.RESOURCE)
    return _granted(PolicyType.RESOURCE, rules.resource, statement)


def _resource_grant(asked: Asked, rules: Rules) -> tuple[Naming, Statement | None]:
    return (Naming.NOT, None) if rules.resource is None else rules.resource.grant(asked)


def _own(asked: Asked, rules: Rules) -> Decision:
    """What the caller's own policies say."""
    granted = _first_grant(PolicyType.IDENTITY, rules.identity, asked)
    return granted if not granted.allowed else _unlimited(asked, rules) or granted


def _unlimited(asked: Asked, rules: Rules) -> Decision | None:
    """The refusal by a boundary or session policy; None if neither stands in the way."""
    if rules.boundary is not None:
        bounded = _first_grant(PolicyType.BOUNDARY, [rules.boundary], asked)
        if not bounded.allowed:
            return bounded
    if rules.session is not None:
        limited = _first_grant(PolicyType.SESSION, rules.session, asked)
        if not limited.allowed:
            return limited
    return None


def _first_grant(kind: PolicyType, policies: Sequence[Policy], asked: Asked) -> Decision:
    for policy in policies:
        naming, statement = policy.grant(asked)
        if naming is not Naming.NOT:
            return _granted(kind, policy, statement)
    return Decision(allowed=False, type=kind)


def _granted(kind: PolicyType, policy: Policy | None, statement: Statement | None) -> Decision:
    return Decision(allowed=True, explicit=True, type=kind, policy=policy, statement=statement)
