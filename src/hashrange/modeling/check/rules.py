"""All rules, and the report of a model: findings in the order of the file, without those that are silenced."""

from __future__ import annotations

from dataclasses import dataclass

from hashrange.modeling.check import (
    access_rules,
    index_rules,
    item_rules,
    key_rules,
    operation_rules,
    write_rules,
)
from hashrange.modeling.check.facts import Facts
from hashrange.modeling.check.finding import Finding, Rule
from hashrange.modeling.model import Model, Place

RULES: tuple[Rule, ...] = (
    *access_rules.RULES,
    *key_rules.RULES,
    *index_rules.RULES,
    *item_rules.RULES,
    *write_rules.RULES,
    *operation_rules.RULES,
)
UNUSED_SILENCE = "HR199"
UNUSED_SILENCE_TITLE = "A silence that silences nothing"


@dataclass(frozen=True, slots=True)
class Report:
    """What the rules found, and how many findings are silenced."""

    path: str
    findings: tuple[Finding, ...]
    silenced: int = 0

    def count(self, severity: str) -> int:
        return sum(finding.severity == severity for finding in self.findings)


def check(model: Model) -> Report:
    """Apply every rule."""
    facts = Facts(model)
    findings = [finding for rule in RULES for finding in rule.findings(facts)]
    silences = {(silence.code, silence.line) for silence in model.silences}
    silenced = [finding for finding in findings if (finding.code, finding.place.line) in silences]
    used = {(finding.code, finding.place.line) for finding in silenced}
    left = [finding for finding in findings if (finding.code, finding.place.line) not in used]
    lines: dict[str, list[int]] = {}
    for finding in left:
        lines.setdefault(finding.code, []).append(finding.place.line)
    left += [_unused(code, line, lines.get(code, [])) for code, line in silences - used]
    left.sort(key=lambda finding: (finding.place.line, finding.code, finding.place.column, finding.subject))
    return Report(model.path, tuple(left), len(silenced))


def _unused(code: str, line: int, found: list[int]) -> Finding:
    """`found` are lines that the rule has something to say about: the last one before the comment may be meant."""
    known = any(rule.code == code for rule in RULES)
    message = f"{code} has nothing to say here" if known else f"there is no rule {code}"
    meant = max((other for other in found if other < line), default=None)
    remedy = "take the comment out"
    if meant is not None:
        remedy += (
            f", or put it on line {meant}, which {code} is about: a silence does not cover a whole block"
        )
    return Finding(UNUSED_SILENCE, "info", Place(line, 1), code, message, remedy)
