"""What is left of a decision once the action and the resource are known: conditions, and nothing else.

Most requests of a caller are for the same few actions on the same few tables. For those the statements that matter are
sorted out once. This way only ever allows; what it does not allow, `decide` looks at, and says why.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hashrange.auth.policy.decision import Rules
from hashrange.auth.policy.keys import ConditionKeys
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.statements import Statement


class Residual(NamedTuple):
    """The statements that still depend on the request."""

    denials: tuple[Statement, ...]
    grants: tuple[tuple[Statement, ...], ...]  # of each of these one must apply

    def allows(self, resource: str, keys: ConditionKeys) -> bool:
        """Whether a request is allowed."""
        for statement in self.denials:
            if statement.applies(resource, keys):
                return False
        for grants in self.grants:
            for statement in grants:
                if statement.applies(resource, keys):
                    break
            else:
                return False
        return True


# Nothing is left: the request is allowed, whatever its keys are.
EVERYTHING = Residual((), ())


def residual(action: str, resource: str, rules: Rules, *, is_root: bool) -> Residual | None:
    """What is left to be asked for an action on a resource of the caller's own account; None: leave it to `decide`."""
    if rules.resource is not None or rules.must_grant:
        return None
    limits = [] if rules.boundary is None else [[rules.boundary]]
    if rules.session is not None:
        limits.append(list(rules.session))
    denials, granting = list[Statement](), list[tuple[Statement, ...]]()
    for policies in (rules.identity, *limits):
        denying, allowing = _about(action, resource, policies)
        denials += denying
        # One that is always true makes the others superfluous.
        if not is_root and all(map(_depends, allowing)):
            granting.append(tuple(allowing))
    if not denials and not granting:
        return EVERYTHING
    return Residual(tuple(denials), tuple(granting)) if all(map(_depends, denials)) else None


def _about(action: str, resource: str, policies: Sequence[Policy]) -> tuple[list[Statement], list[Statement]]:
    denying, allowing = list[Statement](), list[Statement]()
    for policy in policies:
        denials, grants = policy.about(action, resource)
        denying += denials
        allowing += grants
    return denying, allowing


def _depends(statement: Statement) -> bool:
    """Whether it takes the request's keys to know if a statement applies."""
    return bool(statement.conditions) or (statement.resources is not None and statement.resources.varies)
