"""Conditions of a statement: operators over condition keys, all of which must hold."""

from collections.abc import Sequence
from typing import NamedTuple

from hashrange.auth.policy.comparisons import COMPARISONS, Matches, is_truth_value
from hashrange.auth.policy.keys import ConditionKeys, KeyValue

_IF_EXISTS = "IfExists"
_ALL_VALUES = "ForAllValues"
_ANY_VALUE = "ForAnyValue"
_BY_LOWER_NAME = {name.lower(): name for name in COMPARISONS}


class Condition(NamedTuple):
    """One operator over one key."""

    key: str  # in lower case
    matches: tuple[Matches, ...]  # one for each value of the policy
    negated: bool = False
    quantifier: str = ""
    if_exists: bool = False
    operator: str = ""  # this and the values as the policy has them, for explanations
    values: tuple[str, ...] = ()

    @property
    def impossible_values(self) -> list[str]:
        """The values that nothing could ever match: an address that is none, a number that is none."""
        name = _comparison_name(self.operator)
        return [] if name is None else [one for one in self.values if not COMPARISONS[name].is_possible(one)]

    def holds(self, keys: ConditionKeys) -> bool:
        """Whether the request satisfies it."""
        value = keys.get(self.key)
        if value is None:
            return self._holds_without_key()
        if not self.quantifier:
            # A multivalued key needs a set operator: without one nothing about it is ever true.
            return isinstance(value, str) and self._admits(value, keys)
        # Loops: a generator costs more than what it would be asked for here.
        wanted = self.quantifier == _ANY_VALUE
        for each in _values(value):
            if self._admits(each, keys) is wanted:
                return wanted
        return not wanted

    def _holds_without_key(self) -> bool:
        if self.if_exists or self.quantifier == _ALL_VALUES:
            return True
        return self.negated and not self.quantifier

    def _admits(self, value: str, keys: ConditionKeys) -> bool:
        for matches in self.matches:
            if matches(value, keys):
                return not self.negated
        return self.negated


class Absence(NamedTuple):
    """The operator Null: whether the request has the key at all."""

    key: str
    expected: tuple[bool, ...]  # whether the key is to be absent
    operator: str = "Null"
    values: tuple[str, ...] = ()

    @property
    def impossible_values(self) -> list[str]:
        """The values that are neither true nor false."""
        return [value for value in self.values if not is_truth_value(value)]

    def holds(self, keys: ConditionKeys) -> bool:
        """Whether the request satisfies it."""
        return (keys.get(self.key) is None) in self.expected


class UnknownOperator(Exception):
    """There is no operator of this name."""


def compiled(operator: str, key: str, values: Sequence[str], *, variables: bool) -> Condition | Absence:
    """The condition that a policy states by operator, key and values."""
    quantifier, colon, bare = operator.rpartition(":")
    if bare.lower() == "null" and not colon:
        return Absence(key.lower(), tuple(value.lower() == "true" for value in values), values=tuple(values))
    if colon:
        quantifier = {"forallvalues": _ALL_VALUES, "foranyvalue": _ANY_VALUE}.get(quantifier.lower(), "")
        if not quantifier:
            raise UnknownOperator(operator)
    if_exists = bare.lower().endswith(_IF_EXISTS.lower())
    name = _comparison_name(bare)
    if name is None:
        raise UnknownOperator(operator)
    comparison = COMPARISONS[name]
    matches = tuple(comparison.compile(value, variables) for value in values)
    return Condition(key.lower(), matches, comparison.negated, quantifier, if_exists, operator, tuple(values))


def _comparison_name(operator: str) -> str | None:
    """The comparison of an operator, whatever stands around it."""
    bare = operator.rpartition(":")[2].lower()
    return _BY_LOWER_NAME.get(bare.removesuffix(_IF_EXISTS.lower()))


def _values(value: KeyValue) -> tuple[str, ...]:
    """The values of a set operator; where all are empty there are none."""
    values = (value,) if isinstance(value, str) else value
    return values if any(values) else ()
