"""A slow and obvious evaluator, written from the rules of the policy language: what the compiled one must equal.

It works on documents as JSON has them, one rule at a time, and compiles nothing.
"""

import base64
import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

Document = Mapping[str, Any]
Keys = Mapping[str, str | tuple[str, ...]]  # names in lower case


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def wild(pattern: list[str], text: str) -> bool:
    """Match characters one by one; a star is the element MANY, a question mark ONE."""
    reachable = {0}
    for element in pattern:
        if element == MANY:
            reachable = set(range(min(reachable), len(text) + 1)) if reachable else set()
        else:
            reachable = {at + 1 for at in reachable if at < len(text) and element in {ONE, text[at]}}
    return len(text) in reachable


MANY, ONE = "many", "one"


def elements(text: str, keys: Keys, *, wildcards: bool, variables: bool) -> list[str] | None:
    """The characters of a pattern, with variables filled in; None if one has no value."""
    found: list[str] = []
    at = 0
    while at < len(text):
        closing = text.find("}", at)
        inside = text[at + 2 : closing].strip() if closing > 0 else ""
        if variables and text.startswith("${", at) and closing > 0 and "{" not in inside:
            if inside in {"*", "?", "$"}:
                found.append(inside)
            else:
                name, comma, default = inside.partition(",")
                default = default.strip()
                has_default = (
                    comma
                    and len(default) > 1
                    and default[0] == default[-1] == "'"
                    and "'" not in default[1:-1]
                )
                value = keys.get((name.strip() if has_default else inside).lower())
                if not isinstance(value, str):
                    if not has_default:
                        return None
                    value = default[1:-1]
                found += value
            at = closing + 1
            continue
        found.append({"*": MANY, "?": ONE}.get(text[at], text[at]) if wildcards else text[at])
        at += 1
    return found


def fits(text: str, pattern: str, keys: Keys, *, wildcards: bool, variables: bool) -> bool:
    known = elements(pattern, keys, wildcards=wildcards, variables=variables)
    return known is not None and wild(known, text)


def arn_fits(arn: str, pattern: str, keys: Keys, *, variables_in: Sequence[int]) -> bool:
    parts, patterns = arn.split(":", 5), pattern.split(":", 5)
    return len(parts) == len(patterns) == 6 and all(
        fits(part, each, keys, wildcards=True, variables=number in variables_in)
        for number, (part, each) in enumerate(zip(parts, patterns, strict=True))
    )


def number(text: str) -> Decimal | None:
    if len(text) > 64:
        return None
    try:
        value = Decimal(text)
    except ArithmeticError:
        return None
    return value if value.is_finite() else None


def moment(text: str) -> Decimal | None:
    if number(text) is not None:
        return number(text)
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return Decimal(str((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()))


def one_value(operator: str, actual: str, expected: str, keys: Keys, *, variables: bool) -> bool:
    """Whether one value of a request matches one value of a policy, by an operator that is not negated."""
    if operator == "StringEquals":
        return fits(actual, expected, keys, wildcards=False, variables=variables)
    if operator in {"StringEqualsIgnoreCase", "Bool"}:
        known = elements(expected, keys, wildcards=False, variables=variables)
        return known is not None and "".join(known).casefold() == actual.casefold()
    if operator == "StringLike":
        return fits(actual, expected, keys, wildcards=True, variables=variables)
    if operator in {"ArnEquals", "ArnLike"}:
        return arn_fits(actual, expected, keys, variables_in=range(6) if variables else ())
    if operator == "BinaryEquals":
        try:
            return base64.b64decode(actual, validate=True) == base64.b64decode(expected, validate=True)
        except ValueError:
            return False
    if operator == "IpAddress":
        try:
            return ipaddress.ip_address(actual) in ipaddress.ip_network(expected, strict=False)
        except ValueError:
            return False
    read = number if operator.startswith("Numeric") else moment
    left, right = read(actual), read(expected)
    if left is None or right is None:
        return False
    return {
        "Equals": left == right,
        "LessThan": left < right,
        "LessThanEquals": left <= right,
        "GreaterThan": left > right,
        "GreaterThanEquals": left >= right,
    }[re.sub("^(Numeric|Date)", "", operator)]


NEGATED = {
    "StringNotEquals": "StringEquals",
    "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase",
    "StringNotLike": "StringLike",
    "NumericNotEquals": "NumericEquals",
    "DateNotEquals": "DateEquals",
    "NotIpAddress": "IpAddress",
    "ArnNotEquals": "ArnEquals",
    "ArnNotLike": "ArnLike",
}


def condition_holds(operator: str, key: str, expected: list[str], keys: Keys, *, variables: bool) -> bool:
    value = keys.get(key.lower())
    if operator == "Null":
        return (value is None) in [text.lower() == "true" for text in expected]
    quantifier, _, operator = operator.rpartition(":")
    if_exists = operator.endswith("IfExists")
    operator = operator.removesuffix("IfExists")
    negated = operator in NEGATED
    positive = NEGATED.get(operator, operator)

    def admitted(actual: str) -> bool:
        matched = any(one_value(positive, actual, each, keys, variables=variables) for each in expected)
        return not matched if negated else matched

    if value is None:
        if if_exists:
            return True
        if quantifier:
            return quantifier == "ForAllValues"
        return negated
    if not quantifier:
        return isinstance(value, str) and admitted(value)
    values = [value] if isinstance(value, str) else list(value)
    if not any(values):
        values = []
    judged = [admitted(each) for each in values]
    return all(judged) if quantifier == "ForAllValues" else any(judged)


def values_of(sent: Any) -> list[str]:
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in as_list(sent)]


def principal_naming(element: Any, caller: Mapping[str, str], *, negated: bool) -> str:
    """How an element names a caller: not, account, loosely or directly."""
    listed = ["*"] if element == "*" else as_list(element.get("AWS", []))
    account = caller["account"]
    in_account = account in listed or f"arn:aws:iam::{account}:root" in listed
    if negated:
        names = [caller["arn"], caller.get("role", caller["arn"])]
        excluded = "*" in listed or (
            in_account and (bool(caller.get("root")) or all(name in listed for name in names))
        )
        return "not" if excluded else "loosely"
    if caller["arn"] in listed and not caller.get("root"):
        return "directly"
    if "*" in listed or caller.get("role") in listed:
        return "loosely"
    return "account" if in_account else "not"


def applies(statement: Mapping[str, Any], version: str, asked: Mapping[str, Any]) -> str:
    """Whether a statement is about a request, and how closely it names the caller."""
    variables = version == "2012-10-17"
    keys = asked["keys"]
    actions = as_list(statement.get("Action", statement.get("NotAction")))
    matched = any(
        fits(asked["action"].lower(), action.lower(), keys, wildcards=True, variables=False)
        for action in actions
    )
    if matched == ("NotAction" in statement):
        return "not"
    if "Resource" in statement or "NotResource" in statement:
        patterns = as_list(statement.get("Resource", statement.get("NotResource")))
        matched = any(
            pattern == "*"
            or arn_fits(asked["resource"], pattern, keys, variables_in=[5] if variables else [])
            for pattern in patterns
        )
        if matched == ("NotResource" in statement):
            return "not"
    for operator, by_key in statement.get("Condition", {}).items():
        for key, sent in by_key.items():
            if not condition_holds(operator, key, values_of(sent), keys, variables=variables):
                return "not"
    if "Principal" not in statement and "NotPrincipal" not in statement:
        return "directly"
    element = statement.get("Principal", statement.get("NotPrincipal"))
    negated = "NotPrincipal" in statement
    naming = principal_naming(element, asked["caller"], negated=negated)
    everybody = element == "*" or "*" in as_list(element.get("AWS", []))
    by_condition = any(
        key.lower() == "aws:principalarn"
        for by_key in statement.get("Condition", {}).values()
        for key in by_key
    )
    return "directly" if naming == "loosely" and everybody and not negated and by_condition else naming


def effects(document: Document | None, asked: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if document is None:
        return
    for statement in as_list(document["Statement"]):
        naming = applies(statement, document.get("Version", "2008-10-17"), asked)
        if naming != "not":
            yield statement["Effect"], naming


def allowed(
    asked: Mapping[str, Any],
    *,
    identity: Sequence[Document],
    boundary: Document | None,
    session: Sequence[Document] | None,
    resource: Document | None,
    owner: str,
) -> bool:
    """The decision, rule by rule."""
    everything = [*identity, boundary, *(session or []), resource]
    if any(effect == "Deny" for document in everything for effect, _ in effects(document, asked)):
        return False
    root = bool(asked["caller"].get("root"))
    by_identity = root or any(
        effect == "Allow" for document in identity for effect, _ in effects(document, asked)
    )
    by_boundary = boundary is None or any(effect == "Allow" for effect, _ in effects(boundary, asked))
    by_session = session is None or any(
        effect == "Allow" for document in session for effect, _ in effects(document, asked)
    )
    within_limits = root or (by_boundary and by_session)
    namings = {naming for effect, naming in effects(resource, asked) if effect == "Allow"}
    if owner != asked["caller"]["account"]:
        return by_identity and within_limits and bool(namings)
    return (
        root
        or "directly" in namings
        or ("loosely" in namings and within_limits)
        or (by_identity and within_limits)
    )
