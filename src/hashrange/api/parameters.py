"""Parameters that several item operations share: expressions, their placeholders, and the legacy forms."""

import re
from collections.abc import Sequence
from typing import Any

from hashrange.core import values
from hashrange.core.errors import Invalid, RequestInvalid, Wording
from hashrange.core.expressions import Binder
from hashrange.core.limits import PLACEHOLDER_BYTES_MAX
from hashrange.core.values import Item, Value

_NAME = re.compile(r"#[0-9a-zA-Z_]+")
_VALUE = re.compile(r":[0-9a-zA-Z_]+")

Request = dict[str, Any]


def refuse_mixing(request: Request, legacy: Sequence[str], expressions: Sequence[str]) -> None:
    """Legacy parameters and expressions exclude each other."""
    old = [name for name in legacy if name in request]
    if not old:
        return
    new = [name for name in expressions if name in request]
    if new:
        raise RequestInvalid(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(old)}}} Expression parameters: {{{', '.join(new)}}}"
        )


def refuse_idle_placeholders(request: Request, expressions: Sequence[str], valued: Sequence[str]) -> None:
    """Placeholders without an expression that could use them are an error."""
    if "ExpressionAttributeNames" in request and not any(name in request for name in expressions):
        raise RequestInvalid("ExpressionAttributeNames can only be specified when using expressions")
    if valued and "ExpressionAttributeValues" in request and not any(name in request for name in valued):
        verb = "is" if len(valued) == 1 else "are"
        raise RequestInvalid(
            "ExpressionAttributeValues can only be specified when using expressions: "
            f"{' and '.join(valued)} {verb} null"
        )


def resolver(request: Request, *, wording: Wording = "newer") -> Binder:
    """Check the placeholders themselves, names before values, and bind them."""
    names = _names(request)
    raw = request.get("ExpressionAttributeValues")
    if raw is None:
        return Binder(names, None)
    _check_placeholders("ExpressionAttributeValues", raw, _VALUE)
    return Binder(names, {name: _bound(name, value, wording=wording) for name, value in raw.items()})


def name_resolver(request: Request) -> Binder:
    """Bind names for an operation that takes no values: one that is sent nevertheless is an unknown member."""
    return Binder(_names(request), None)


def _names(request: Request) -> dict[str, str] | None:
    names: dict[str, str] | None = request.get("ExpressionAttributeNames")
    if names is not None:
        _check_placeholders("ExpressionAttributeNames", names, _NAME)
        for key, name in names.items():
            _check_name(key, name)
    return names


def _bound(name: str, value: Any, *, wording: Wording) -> Value:
    try:
        return values.canonical(value, wording=wording)
    except Invalid as invalid:
        if wording == "newer":
            raise
        # Coral says where the value stands.
        raise RequestInvalid(
            f"ExpressionAttributeValues contains invalid value: {invalid.message} for key {name}"
        ) from None


def _check_placeholders(parameter: str, given: dict[str, Any], pattern: re.Pattern[str]) -> None:
    if not given:
        raise RequestInvalid(f"{parameter} must not be empty")
    for key in given:
        if len(key) > PLACEHOLDER_BYTES_MAX:
            raise RequestInvalid(
                f"{parameter} contains invalid key: The expression attribute map contains a key that is too long;"
            )
        if pattern.fullmatch(key) is None:
            raise RequestInvalid(f'{parameter} contains invalid key: Syntax error; key: "{key}"')


def _check_name(key: str, name: str) -> None:
    try:
        values.check_name(name)
    except Invalid as invalid:
        raise RequestInvalid(
            f"ExpressionAttributeNames contains invalid value: {invalid.message} for key {key}"
        ) from None


def legacy_map(raw: Any, *, wording: Wording = "newer") -> dict[str, Any] | None:
    """Expected, AttributeUpdates or a map of conditions, with every value in it in canonical form."""
    if raw is None:
        return None
    return {name: _legacy_values(asked, wording=wording) for name, asked in raw.items()}


def _legacy_values(asked: dict[str, Any], *, wording: Wording) -> dict[str, Any]:
    clean = dict(asked)
    if "Value" in asked:
        clean["Value"] = values.canonical(asked["Value"], wording=wording)
    if "AttributeValueList" in asked:
        clean["AttributeValueList"] = [
            values.canonical(each, wording=wording) for each in asked["AttributeValueList"]
        ]
    return clean


def attribute_map(raw: Any, *, wording: Wording = "newer") -> Item:
    """A Key or Item member in canonical form."""
    return values.canonical_item(raw, wording=wording)
