"""The rules: findings with the lines they are about, what would help, and what was silenced with which reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hashrange.modeling.check.finding import Finding
from hashrange.modeling.check.rules import RULES, UNUSED_SILENCE, UNUSED_SILENCE_TITLE, Report
from hashrange.modeling.model import Silence
from hashrange.modeling.report.figures import counted
from hashrange.modeling.report.markup import Markup, element
from hashrange.modeling.report.parts import chip, cut_note, folded, row, section, table

FINDINGS_MAX = 150
_NAMES = {"error": ("bad", "error"), "warning": ("warn", "warning"), "info": ("note", "note")}
_TITLES = {rule.code: rule.title for rule in RULES} | {UNUSED_SILENCE: UNUSED_SILENCE_TITLE}


def rule_section(report: Report, silences: Sequence[Silence], excerpts: Mapping[int, str]) -> Markup:
    """Errors first, then warnings, then notes."""
    order = list(_NAMES)
    findings = sorted(report.findings, key=lambda finding: order.index(finding.severity))
    lead = (
        f"{len(RULES)} rules from tables that later got slow, dear or wrong. An error fails on DynamoDB or loses data; "
        "a warning costs, throttles or surprises; a note is worth knowing."
    )
    return section(
        "rules",
        "Design rules",
        element("p", chip("no objection", "good"), "No rule has anything against this design.")
        if not findings
        else None,
        [_finding(finding, report.path, excerpts) for finding in findings[:FINDINGS_MAX]],
        cut_note(len(findings) - FINDINGS_MAX, "findings"),
        _silenced(silences, excerpts),
        lead=lead,
    )


def _finding(finding: Finding, path: str, excerpts: Mapping[int, str]) -> Markup:
    kind, name = _NAMES[finding.severity]
    place = f"line {finding.place.line}" if finding.place.line else path
    excerpt = excerpts.get(finding.place.line)
    return element(
        "div",
        element(
            "p",
            chip(f"{finding.code} {name}", kind),
            element("strong", _TITLES.get(finding.code, finding.code)),
            element("span", f": {finding.subject}, {place}", class_="small"),
        ),
        element("p", finding.message),
        element("code", excerpt, class_="excerpt") if excerpt else None,
        element("p", element("strong", "What helps: "), finding.remedy),
        class_=f"finding {finding.severity}",
    )


def _silenced(silences: Sequence[Silence], excerpts: Mapping[int, str]) -> Markup | None:
    if not silences:
        return None
    rows = [
        row(
            element("td", chip(silence.code, "plain")),
            _TITLES.get(silence.code, ""),
            silence.reason,
            element("td", f"line {silence.line}", title=excerpts.get(silence.line)),
        )
        for silence in silences[:FINDINGS_MAX]
    ]
    shown = table("Silenced rules", ("rule", "title", "reason", "where"), rows)
    return folded(f"Silenced on purpose: {counted(len(silences), 'line')}", shown, is_open=True)
