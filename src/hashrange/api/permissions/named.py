"""The attributes that a request names, anywhere: in keys, items, expressions and the parameters these replaced."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hashrange.api.items.parameters import read_projection, resolver
from hashrange.core.expressions import Binder, key_condition, legacy
from hashrange.core.expressions.key_clauses import KeyClause
from hashrange.core.limits import INDEX_KEY_ATTRIBUTES_MAX

# Parameters with the names of attributes as they are; those that are maps have them as keys.
_PLAIN = (
    *("key", "item", "attributes_to_get", "expected", "attribute_updates"),
    *("key_conditions", "query_filter", "scan_filter"),
)
_READERS: dict[str, Callable[[Binder, str], Iterable[str]]] = {
    "condition_expression": lambda binder, text: binder.condition("ConditionExpression", text).attributes,
    "filter_expression": lambda binder, text: binder.condition("FilterExpression", text).attributes,
    "key_condition_expression": lambda binder, text: (
        binder.condition("KeyConditionExpression", text).attributes
    ),
    "projection_expression": lambda binder, text: binder.projection(text).attributes,
    "update_expression": lambda binder, text: binder.update(text).attributes,
}


def by(request: Any) -> Iterator[str]:
    """The top-level names in a request, or in one member of a transaction."""
    for parameter in _PLAIN:
        yield from getattr(request, parameter, None) or ()
    binder: Binder | None = None
    for parameter, read in _READERS.items():
        text = getattr(request, parameter, None)
        if text is None:
            continue
        if not hasattr(request, "expression_attribute_values"):
            projection = read_projection(request)
            yield from () if projection is None else projection.attributes
            continue
        binder = binder or resolver(request)
        yield from read(binder, text)


def by_keys(keys: Iterable[Iterable[str]]) -> Iterator[str]:
    """The names in keys or items."""
    for key in keys:
        yield from key


def key_clauses(request: Any) -> list[KeyClause]:
    """The key conditions of a query."""
    text = request.key_condition_expression
    if text is not None:
        return key_condition(resolver(request).condition("KeyConditionExpression", text))
    comparisons = {name: value.canonical() for name, value in (request.key_conditions or {}).items()}
    return legacy.key_conditions(comparisons, attributes_max=2 * INDEX_KEY_ATTRIBUTES_MAX)
