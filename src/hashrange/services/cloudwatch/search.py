"""SEARCH: the metrics that fit a search expression, such as `{AWS/DynamoDB,TableName} MetricName="UserErrors"`."""

import re
from functools import cached_property
from typing import NamedTuple

from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.metrics import MetricKey

_SCHEMA = re.compile(r"\s*(?:\{([^{}]*)\})?\s*(.*)", re.DOTALL)
_TERM = re.compile(
    r"""([A-Za-z0-9_./-]+)\s*(=)\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))|"([^"]*)"|'([^']*)'|([^\s"'=]+)"""
)
_TERMS_MAX = 100


class Candidate:
    """A metric that searches are compared with; what several of them look at is made once."""

    def __init__(self, key: MetricKey) -> None:
        self.key = key

    @cached_property
    def values(self) -> dict[str, str]:
        """Its dimensions."""
        return dict(self.key.dimensions)

    @cached_property
    def properties(self) -> dict[str, str]:
        """All that a term may name."""
        return {**self.values, "MetricName": self.key.name, "Namespace": self.key.namespace}

    @cached_property
    def text(self) -> str:
        """What words are looked for in."""
        return " ".join((self.key.name, *self.values, *self.values.values())).lower()


class Search(NamedTuple):
    """What a metric must have."""

    namespace: str | None
    dimensions: frozenset[str] | None  # the names of all its dimensions
    terms: tuple[tuple[str, str], ...]  # a property (MetricName, Namespace or a dimension) and its value
    words: tuple[str, ...]  # in lower case, that stand anywhere in its name or dimensions

    def fits(self, candidate: Candidate) -> bool:
        """Whether a metric is meant."""
        if self.namespace is not None and candidate.key.namespace != self.namespace:
            return False
        if self.dimensions is not None and candidate.values.keys() != self.dimensions:
            return False
        if any(candidate.properties.get(name) != value for name, value in self.terms):
            return False
        return all(word in candidate.text for word in self.words)


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
            words.append(value.lower())
    if len(terms) + len(words) > _TERMS_MAX:
        raise MathError("SEARCH has too many terms")
    names = None if schema is None else frozenset(schema[1:])
    return Search(schema[0] if schema else None, names, tuple(terms), tuple(words))
