"""Reasons: why a request was decided as it was, told by every statement about its action.

A decision stops at the first statement that settles it. Reasons look at all of them, and are for people: the audit log
keeps them of every denial, and the simulator of every simulation.
"""

from collections.abc import Iterator

import msgspec

from hashrange.auth.policy.conditions import Absence, Condition
from hashrange.auth.policy.decision import Decision, PolicyType, Rules, all_policies
from hashrange.auth.policy.grantees import Naming
from hashrange.auth.policy.keys import ConditionKeys, KeyValue
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.statements import Asked, Statement

_STATEMENTS_MAX = 20  # that did not apply; those that did are few
_VALUES_MAX = 20
_CHARS_MAX = 256


class Unmet(msgspec.Struct, frozen=True, rename="camel"):
    """A condition that did not hold."""

    operator: str
    key: str  # in lower case
    values: list[str]  # those of the policy


class Considered(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A statement about the action, and what kept it from applying; nothing if it applied."""

    policy_type: str
    policy: str
    statement: str  # its Sid, or its number
    allows: bool
    other_resource: bool = False
    other_principal: bool = False
    unmet: list[Unmet] = []

    @property
    def applies(self) -> bool:
        """Whether it had a say."""
        return not (self.other_resource or self.other_principal or self.unmet)


class Reasons(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """Why a request was decided as it was."""

    action: str
    resource: str
    decision: str  # allowed, explicitDeny or implicitDeny, as IAM spells them
    policy_type: str | None = None  # of the policy that decided, or of the missing one
    policy: str | None = None
    statement: str | None = None
    condition_keys: dict[str, str | list[str] | None] = {}  # that were looked at; None: the request has none
    undetermined: list[str] = []  # keys whose values could not be told, which denies the request
    considered: list[Considered] = []


class Recorded:
    """Condition keys that remember which of them were asked for."""

    def __init__(self, keys: ConditionKeys) -> None:
        self._keys = keys
        self.seen: dict[str, KeyValue | None] = {}
        self.undetermined: list[str] = []

    def get(self, key: str, /) -> KeyValue | None:
        """The value of a key."""
        if key not in self.seen:
            self.seen[key] = self.looked_up(key)
        return self.seen[key]

    def looked_up(self, key: str) -> KeyValue | None:
        """The value, asked for the first time."""
        return self._keys.get(key)


class Match(msgspec.Struct, frozen=True):
    """A statement about the action of a request, with the policy that it is from."""

    type: PolicyType
    policy: Policy
    statement: Statement
    other_resource: bool
    other_principal: bool
    unmet: tuple[Condition | Absence, ...]

    @property
    def applies(self) -> bool:
        """Whether it has a say."""
        return not (self.other_resource or self.other_principal or self.unmet)


def matches(asked: Asked, rules: Rules) -> Iterator[Match]:
    """The statements about the action of a request."""
    action = asked.action.lower()
    for kind, policy in all_policies(rules):
        for statement in policy.statements:
            if statement.actions.include(action):
                yield _match(asked, kind, policy, statement)


def _match(asked: Asked, kind: PolicyType, policy: Policy, statement: Statement) -> Match:
    resources, grantees = statement.resources, statement.grantees
    return Match(
        PolicyType.TRUST if resources is None else kind,  # only a trust policy has no resources
        policy,
        statement,
        resources is not None and not resources.include(asked.resource, asked.keys),
        grantees is not None and grantees.naming(asked.caller) is Naming.NOT,
        # All of them, so that whoever mends one is not told of the next one afterwards.
        tuple(condition for condition in statement.conditions if not condition.holds(asked.keys)),
    )


def decision_name(decision: Decision) -> str:
    """The decision as IAM spells it."""
    if decision.allowed:
        return "allowed"
    return "explicitDeny" if decision.explicit else "implicitDeny"


def reasons(asked: Asked, rules: Rules, decision: Decision, recorded: Recorded) -> Reasons:
    """Why a request was decided so."""
    considered = list(matches(asked._replace(keys=recorded), rules))
    applying = [match for match in considered if match.applies]
    # What came closest first: a statement about the resource that one condition was missing for.
    missed = sorted(
        (match for match in considered if not match.applies),
        key=lambda match: (match.other_resource, match.other_principal, len(match.unmet)),
    )
    return Reasons(
        action=asked.action,
        resource=asked.resource,
        decision=decision_name(decision),
        policy_type=None if decision.type is None else decision.type.value,
        policy=None if decision.policy is None else decision.policy.name,
        statement=None if decision.statement is None else decision.statement.name,
        condition_keys={key: _bounded(value) for key, value in recorded.seen.items()},
        undetermined=recorded.undetermined,
        considered=[_considered(match) for match in (applying + missed)[:_STATEMENTS_MAX]],
    )


def _considered(match: Match) -> Considered:
    return Considered(
        match.type.value,
        match.policy.name,
        match.statement.name,
        match.statement.allows,
        match.other_resource,
        match.other_principal,
        [
            Unmet(
                condition.operator, condition.key, [_cut(value) for value in condition.values[:_VALUES_MAX]]
            )
            for condition in match.unmet
        ],
    )


def _bounded(value: KeyValue | None) -> str | list[str] | None:
    if value is None or isinstance(value, str):
        return None if value is None else _cut(value)
    return [_cut(part) for part in value[:_VALUES_MAX]]


def _cut(text: str) -> str:
    return text if len(text) <= _CHARS_MAX else text[:_CHARS_MAX] + "..."
