"""Block Public Access: no policy may let everybody in.

The service reasons about policies; this looks at them: everybody must be bounded by a condition on who they are, with
values that are fixed.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from hashrange.api.errors import ApiError, validation

_UNBOUNDED = (
    "Resource-based policy grants unbounded access in one or more elements. Please revise the policy to ensure "
    "least-privilege form of access"
)
_TRUSTED = frozenset(
    {
        *("aws:principalaccount", "aws:principalarn", "aws:principalorgid", "aws:principalorgpaths"),
        *("aws:sourceaccount", "aws:sourcearn", "aws:sourcevpc", "aws:sourcevpce", "aws:userid"),
        *("aws:principalservicename", "aws:principalservicenameslist", "aws:principalisawsservice"),
        *("aws:ec2instancesourcevpc", "aws:sourceorgid", "aws:sourceorgpaths"),
    }
)
# Operators that are false of a request without the key, and true of the values given only.
_BOUNDING = frozenset(
    {
        *("stringequals", "stringequalsignorecase", "stringlike", "arnequals", "arnlike", "bool"),
        *("foranyvalue:stringequals", "foranyvalue:stringlike"),
    }
)


def refuse(statements: Iterable[Mapping[str, Any]]) -> None:
    """Refuse a policy that lets everybody in."""
    if any(_is_public(statement) for statement in statements):
        raise unbounded()


def unbounded() -> ApiError:
    """The refusal."""
    return validation(_UNBOUNDED)


def _is_public(statement: Mapping[str, Any]) -> bool:
    return (
        statement["Effect"].lower() == "allow"
        and _names_everybody(statement)
        and not _is_bounded(statement.get("Condition", {}))
    )


def _names_everybody(statement: Mapping[str, Any]) -> bool:
    if "NotPrincipal" in statement:
        return True  # all but a few
    principal = statement["Principal"]
    named = principal.values() if isinstance(principal, dict) else [principal]
    return any("*" in (names if isinstance(names, list) else [names]) for names in named)


def _is_bounded(conditions: Mapping[str, Mapping[str, Any]]) -> bool:
    return any(
        operator.lower() in _BOUNDING and key.lower() in _TRUSTED and _are_fixed(values)
        for operator, keys in conditions.items()
        for key, values in keys.items()
    )


def _are_fixed(values: Any) -> bool:
    listed = values if isinstance(values, list) else [values]
    return bool(listed) and not any(mark in str(value) for value in listed for mark in ("*", "?", "${"))
