"""SEARCH: the metrics that fit a search expression, such as `{AWS/DynamoDB,TableName} MetricName="UserErrors"`."""

import re
from typing import NamedTuple

from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.metrics import MetricKey

_SCHEMA = re.compile(r"\s*(?:\{([^{}]*)\})?\s*(.*)", re.DOTALL)
_TERM = re.compile(
    r"""([A-Za-z0-9_./-]+)\s*(=)\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))|"([^"]*)"|'([^']*)'|([^\s"'=]+)"""
)
_TERMS_MAX = 100


class Search(NamedTuple):
    """What a metric must have."""

    namespace: str | None
    dimensions: frozenset[str] | None  # the names of all its dimensions
    terms: tuple[tuple[str, str], ...]  # a property (MetricName, Namespace or a dimension) and its value
    words: tuple[str, ...]  # that stand anywhere in its name or dimensions

    def fits(self, key: MetricKey) -> bool:
        """Whether a metric is meant."""
        if self.namespace is not None and key.namespace != self.namespace:
            return False
        values = dict(key.dimensions)
        if self.dimensions is not None and values.keys() != self.dimensions:
            return False
        properties = {**values, "MetricName": key.name, "Namespace": key.namespace}
        if any(properties.get(name) != value for name, value in self.terms):
            return False
        text = " ".join((key.name, *values, *values.values())).lower()
        return all(word.lower() in text for word in self.words)


def parse(text: str) -> Search:
    """Read a search expression: a schema in braces, terms, and AND, which goes without saying."""
    match = _SCHEMA.fullmatch(text)
    schema = (
        None
        if match is None or match[1] is None
        else [part.strip().strip("\"'") for part in match[1].split(",")]
    )
    terms: list[tuple[str, str]] = []
    words: list[str] = []
    for found in _TERM.finditer("" if match is None else match[2]):
        name, equals, *values = found.groups()
        value = next((group for group in values if group is not None), "")
        if equals:
            terms.append((name, value))
        elif value in {"OR", "NOT"} or "(" in value:
            raise MathError(f"SEARCH does not support {value}")
        elif value != "AND":
            words.append(value)
    if len(terms) + len(words) > _TERMS_MAX:
        raise MathError("SEARCH has too many terms")
    names = None if schema is None else frozenset(schema[1:])
    return Search(schema[0] if schema else None, names, tuple(terms), tuple(words))
