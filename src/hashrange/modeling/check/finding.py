"""Findings and rules: a rule looks at a model and gives findings; each has its place, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from hashrange.modeling.check.facts import Facts
from hashrange.modeling.model import NOWHERE, Place

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a rule is broken, by what, and what would help."""

    place: Place
    subject: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A hit with its rule, as it is reported."""

    code: str
    severity: Severity
    place: Place
    subject: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Rule:
    """An error fails on DynamoDB or loses data, a warning costs or throttles, an info is worth knowing."""

    code: str
    severity: Severity
    title: str
    hits: Callable[[Facts], Iterator[Hit]]

    def findings(self, facts: Facts) -> Iterator[Finding]:
        """What the rule has against a model."""
        for hit in self.hits(facts):
            yield Finding(self.code, self.severity, hit.place, hit.subject, hit.message, hit.remedy)


def rule(code: str, severity: Severity, title: str) -> Callable[[Callable[[Facts], Iterator[Hit]]], Rule]:
    """Make a rule of the function that finds its hits."""
    return lambda hits: Rule(code, severity, title, hits)


def first_place(*places: Place) -> Place:
    """The first that is known: what the model infers stands nowhere in the file."""
    return next((place for place in places if place != NOWHERE), NOWHERE)
