"""Statements: compiled, and asked whether they apply to a request."""

from typing import NamedTuple

from hashrange.auth.policy.comparisons import arn_fits
from hashrange.auth.policy.conditions import Absence, Condition
from hashrange.auth.policy.grantees import Caller, Grantees, Naming
from hashrange.auth.policy.keys import ConditionKeys
from hashrange.auth.policy.patterns import Pattern, compiled

_NO_KEYS: ConditionKeys = {}
_ARN_PARTS = 6
_PRINCIPAL_ARN = "aws:principalarn"


class Asked(NamedTuple):
    """What a request needs to be allowed: one action on one resource."""

    action: str  # as the service spells it: dynamodb:GetItem
    resource: str  # an ARN, or * where an action has none
    caller: Caller
    keys: ConditionKeys


class Actions(NamedTuple):
    """A compiled Action or NotAction element."""

    patterns: tuple[Pattern, ...]
    negated: bool = False

    def include(self, action: str) -> bool:
        """Whether an action, in lower case, is meant."""
        return any(pattern.matches(action, _NO_KEYS) for pattern in self.patterns) is not self.negated


class Resource(NamedTuple):
    """One entry of a Resource or NotResource element."""

    parts: list[Pattern]  # empty: every resource

    def matches(self, arn: str, keys: ConditionKeys) -> bool:
        """Whether a resource is meant."""
        return not self.parts or arn_fits(self.parts, arn, keys)


class Resources(NamedTuple):
    """A compiled Resource or NotResource element."""

    entries: tuple[Resource, ...]
    negated: bool = False
    varies: bool = False  # whether it has variables: it then means other resources in every request

    def include(self, arn: str, keys: ConditionKeys) -> bool:
        """Whether a resource is meant."""
        return any(entry.matches(arn, keys) for entry in self.entries) is not self.negated


def resource(text: str, *, variables: bool) -> Resource | None:
    """The compiled entry; None if it is neither an ARN nor the star."""
    if text == "*":
        return Resource([])
    parts = text.split(":", _ARN_PARTS - 1)
    if len(parts) != _ARN_PARTS or parts[0] != "arn":
        return None
    # Variables have a meaning in the last part only.
    *fixed, relative = parts
    return Resource(
        [
            *(compiled(part, wildcards=True, variables=False) for part in fixed),
            compiled(relative, wildcards=True, variables=variables),
        ]
    )


class Statement(NamedTuple):
    """One statement of a policy."""

    name: str  # its Sid, or its number
    allows: bool
    actions: Actions
    resources: Resources | None  # None: a trust policy, which is about the role that it belongs to
    grantees: Grantees | None  # None: an identity policy, which is about whoever it is attached to
    conditions: tuple[Condition | Absence, ...] = ()

    def is_about(self, action: str, resource: str) -> bool:
        """Whether the statement may apply to an action, in lower case, on a resource."""
        resources = self.resources
        return self.actions.include(action) and (
            resources is None or resources.varies or resources.include(resource, _NO_KEYS)
        )

    def naming(self, asked: Asked) -> Naming:
        """How closely the statement, if it applies at all, names the caller.

        The action is known to be meant, and so is the resource, unless that takes a variable.
        """
        naming = Naming.DIRECTLY if self.grantees is None else self.grantees.naming(asked.caller)
        if naming is Naming.NOT:
            return naming
        if not self.applies(asked.resource, asked.keys):
            return Naming.NOT
        if naming is Naming.LOOSELY and self._names_by_condition():
            return Naming.DIRECTLY
        return naming

    def applies(self, resource: str, keys: ConditionKeys) -> bool:
        """Whether all that depends on the request's keys is as the statement wants it."""
        resources = self.resources
        if resources is not None and resources.varies and not resources.include(resource, keys):
            return False
        # A loop: a generator costs more than what it would be asked for here.
        for condition in self.conditions:  # noqa: SIM110
            if not condition.holds(keys):
                return False
        return True

    def _names_by_condition(self) -> bool:
        """Everybody, if a condition says who of them, is as good as naming them."""
        return (
            self.grantees is not None
            and self.grantees.everybody
            and not self.grantees.negated
            and any(condition.key == _PRINCIPAL_ARN for condition in self.conditions)
        )
