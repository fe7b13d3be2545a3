"""Comparisons: one value of a condition, compiled, tells whether a value of the request matches it.

A value that is not of the comparison's type matches nothing.
"""

from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from operator import eq, ge, gt, le, lt
from typing import Any, NamedTuple

from hashrange.auth.policy.keys import ConditionKeys
from hashrange.auth.policy.patterns import Pattern, compiled

Matches = Callable[[str, ConditionKeys], bool]
Compile = Callable[[str, bool], Matches]  # the value, and whether variables have a meaning in it

_NUMBER_CHARS_MAX = 64
_ADDRESS_CHARS_MAX = 64
_ARN_PARTS = 6


class Comparison(NamedTuple):
    """An operator without its set prefix and without IfExists."""

    compile: Compile
    negated: bool = False
    is_possible: Callable[[str], bool] = lambda _value: True  # whether a value could ever match


def _equal(value: str, variables: bool) -> Matches:
    return compiled(value, wildcards=False, variables=variables).matches


def _like(value: str, variables: bool) -> Matches:
    return compiled(value, wildcards=True, variables=variables).matches


def _equal_ignoring_case(value: str, variables: bool) -> Matches:
    pattern = compiled(value, wildcards=False, variables=variables)

    def matches(text: str, keys: ConditionKeys) -> bool:
        expected = pattern.resolved(keys)
        return expected is not None and expected.casefold() == text.casefold()

    return matches


def _bytes_equal(value: str, _variables: bool) -> Matches:
    expected = _decoded(value)
    return lambda text, _keys: expected is not None and _decoded(text) == expected


def _in_network(value: str, _variables: bool) -> Matches:
    network = _network(value)

    def matches(text: str, _keys: ConditionKeys) -> bool:
        address = _address(text) if len(text) <= _ADDRESS_CHARS_MAX else None
        return network is not None and address is not None and address in network

    return matches


def _arn_like(value: str, variables: bool) -> Matches:
    parts = value.split(":", _ARN_PARTS - 1)
    if len(parts) != _ARN_PARTS:
        return lambda _text, _keys: False
    patterns = [compiled(part, wildcards=True, variables=variables) for part in parts]
    return lambda text, keys: arn_fits(patterns, text, keys)


def arn_fits(patterns: list[Pattern], arn: str, keys: ConditionKeys) -> bool:
    """Whether the six parts of an ARN fit one by one, so that no wildcard reaches from one into the next."""
    parts = arn.split(":", _ARN_PARTS - 1)
    if len(parts) != _ARN_PARTS:
        return False
    # A loop: a generator costs more than what it would be asked for here.
    for pattern, part in zip(patterns, parts, strict=True):  # noqa: SIM110
        if not pattern.matches(part, keys):
            return False
    return True


def _ordered(read: Callable[[str], Any], compare: Callable[[Any, Any], bool]) -> Compile:
    def compile_value(value: str, _variables: bool) -> Matches:
        expected = read(value)

        def matches(text: str, _keys: ConditionKeys) -> bool:
            actual = read(text)
            return actual is not None and expected is not None and compare(actual, expected)

        return matches

    return compile_value


def _number(text: str) -> Decimal | None:
    if len(text) > _NUMBER_CHARS_MAX:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _moment(text: str) -> Decimal | None:
    """Seconds since 1970, from these or from ISO 8601."""
    number = _number(text)
    if number is not None:
        return number
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return Decimal(str((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()))


def _decoded(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return None


@lru_cache(maxsize=256)
def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address; a client's many requests come from the same one, and reading it takes longest."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def _is_read_by(read: Callable[[str], Any]) -> Callable[[str], bool]:
    return lambda value: read(value) is not None


def is_truth_value(text: str) -> bool:
    """Whether a value is one of Bool or Null, or a variable, which the request fills in."""
    return text.lower() in {"true", "false"} or "${" in text


_ORDER = {"LessThan": lt, "LessThanEquals": le, "GreaterThan": gt, "GreaterThanEquals": ge}

COMPARISONS: dict[str, Comparison] = {
    "StringEquals": Comparison(_equal),
    "StringNotEquals": Comparison(_equal, negated=True),
    "StringEqualsIgnoreCase": Comparison(_equal_ignoring_case),
    "StringNotEqualsIgnoreCase": Comparison(_equal_ignoring_case, negated=True),
    "StringLike": Comparison(_like),
    "StringNotLike": Comparison(_like, negated=True),
    "Bool": Comparison(_equal_ignoring_case, is_possible=is_truth_value),
    "BinaryEquals": Comparison(_bytes_equal, is_possible=_is_read_by(_decoded)),
    "IpAddress": Comparison(_in_network, is_possible=_is_read_by(_network)),
    "NotIpAddress": Comparison(_in_network, negated=True, is_possible=_is_read_by(_network)),
    "ArnEquals": Comparison(_arn_like),
    "ArnLike": Comparison(_arn_like),
    "ArnNotEquals": Comparison(_arn_like, negated=True),
    "ArnNotLike": Comparison(_arn_like, negated=True),
    **{
        family + name: Comparison(_ordered(read, compare), negated, _is_read_by(read))
        for family, read in (("Numeric", _number), ("Date", _moment))
        for name, compare, negated in (
            ("Equals", eq, False),
            ("NotEquals", eq, True),
            *((order, compare, False) for order, compare in _ORDER.items()),
        )
    },
}
