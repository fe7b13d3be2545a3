"""Parameters that several item operations share: expressions with their placeholders, and how the legacy ones mix."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hashrange.api.protocol.structures import AttributeMap, Structure, aws_name
from hashrange.core import values
from hashrange.core.errors import Invalid, RequestInvalid, Wording
from hashrange.core.expressions import Binder, Projection, legacy
from hashrange.core.limits import PLACEHOLDER_BYTES_MAX
from hashrange.core.values import Value

_NAME = re.compile(r"#[0-9a-zA-Z_]+")
_VALUE = re.compile(r":[0-9a-zA-Z_]+")


class Named(Protocol):
    """A structure with names for its expressions."""

    expression_attribute_names: dict[str, str] | None


class Valued(Named, Protocol):
    """A structure with names and values for its expressions."""

    expression_attribute_values: AttributeMap | None


class Projected(Named, Protocol):
    """A structure that may ask for parts of items."""

    projection_expression: str | None


def members_present(request: Structure, fields: Sequence[str]) -> list[str]:
    """The service's names of those members that were sent."""
    return [aws_name(field) for field in fields if getattr(request, field) is not None]


def refuse_mixing(request: Structure, legacy_fields: Sequence[str], expressions: Sequence[str]) -> None:
    """Legacy parameters and expressions exclude each other."""
    old = members_present(request, legacy_fields)
    new = members_present(request, expressions) if old else []
    if new:
        raise mixing(old, new)


def mixing(old: list[str], new: list[str]) -> RequestInvalid:
    """The refusal of legacy parameters beside expressions."""
    return RequestInvalid(
        "Can not use both expression and non-expression parameters in the same request: "
        f"Non-expression parameters: {{{', '.join(old)}}} Expression parameters: {{{', '.join(new)}}}"
    )


def refuse_idle_names(request: Named, *expressions: str | None) -> None:
    """Names without an expression that could use them are an error."""
    if request.expression_attribute_names is not None and not any(text is not None for text in expressions):
        raise RequestInvalid("ExpressionAttributeNames can only be specified when using expressions")


def refuse_idle_values(request: Valued, fields: Sequence[str], *, named: bool = True) -> None:
    """Values without an expression that could use them are an error; writes of one item do not name the expressions."""
    if request.expression_attribute_values is not None and all(
        getattr(request, field) is None for field in fields
    ):
        verb = "is" if len(fields) == 1 else "are"
        missing = f": {' and '.join(map(aws_name, fields))} {verb} null" if named else ""
        raise RequestInvalid(
            f"ExpressionAttributeValues can only be specified when using expressions{missing}"
        )


def resolver(request: Valued, *, wording: Wording = "newer") -> Binder:
    """Check the placeholders themselves, names before values, and bind them."""
    names = _names(request)
    raw = request.expression_attribute_values
    if raw is None:
        return Binder(names, None)
    _check_placeholders("ExpressionAttributeValues", raw, _VALUE)
    return Binder(names, {name: _bound(name, value, wording=wording) for name, value in raw.items()})


def read_projection(request: Projected, attributes_to_get: list[str] | None = None) -> Projection | None:
    """The projection, from an expression or from the legacy parameter; its operation takes no values."""
    text = request.projection_expression
    if text is not None:
        binding = Binder(_names(request), None)
        projection = binding.projection(text)
        binding.finish()
        return projection
    return None if attributes_to_get is None else legacy.attributes_to_get(attributes_to_get)


def _names(request: Named) -> dict[str, str] | None:
    names = request.expression_attribute_names
    if names is not None:
        _check_placeholders("ExpressionAttributeNames", names, _NAME)
        for key, name in names.items():
            _check_name(key, name)
    return names


def _bound(name: str, value: Value, *, wording: Wording) -> Value:
    if wording == "newer":
        return values.canonical(value)
    try:
        # Coral does not count the level that the attribute itself will be when the value is stored (measured).
        return values.canonical(value, wording=wording, depth=0)
    except Invalid as invalid:
        # Coral says where the value stands.
        raise RequestInvalid(
            f"ExpressionAttributeValues contains invalid value: {invalid.message} for key {name}"
        ) from None


def _check_placeholders(parameter: str, placeholders: Mapping[str, Any], pattern: re.Pattern[str]) -> None:
    if not placeholders:
        raise RequestInvalid(f"{parameter} must not be empty")
    for key in placeholders:
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
