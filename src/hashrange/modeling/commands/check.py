"""`hashrange model check`: what experience says against a design."""

import argparse
from dataclasses import dataclass

from hashrange.modeling.check.finding import Finding
from hashrange.modeling.check.rules import Report, check
from hashrange.modeling.columns import printable
from hashrange.modeling.model import Model, Silence
from hashrange.modeling.report.excerpts import excerpts
from hashrange.modeling.report.page import page
from hashrange.modeling.report.rule_section import rule_section

DESCRIPTION = (
    "Check a design by rules, each with a code that docs/modeling-rules.md explains. "
    "Exit 1 if there are errors or warnings. A comment `# hashrange: HR103 reason` silences a rule on its line."
)


@dataclass(frozen=True, slots=True)
class Checked:
    """The report, and whether it fails the command."""

    report: Report
    failed: bool
    name: str = ""
    silences: tuple[Silence, ...] = ()


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("--strict", action="store_true", help="fail on what is only worth knowing, too")


def run(model: Model, options: argparse.Namespace) -> Checked:
    """Check the model."""
    report = check(model)
    failed = any(finding.severity != "info" or options.strict for finding in report.findings)
    return Checked(report, failed, model.name, model.silences)


def status(checked: Checked) -> int:
    """The exit status."""
    return int(checked.failed)


def html(checked: Checked) -> str:
    """The findings as a page."""
    report = checked.report
    lines = excerpts(report.path, (finding.place.line for finding in report.findings))
    return page(
        checked.name,
        [rule_section(report, checked.silences, lines)],
        kind="Design rules",
        facts=[report.path],
    )


def render(checked: Checked) -> str:
    """One line for each finding, another for its remedy, and a sum."""
    report = checked.report
    lines = [line for finding in report.findings for line in _lines(report.path, finding)]
    counts = [_counted(report.count(severity), name) for severity, name in _NAMES]
    return "\n".join([*lines, f"{', '.join(counts)}; {report.silenced} silenced"])


_NAMES = (("error", "error"), ("warning", "warning"), ("info", "note"))


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def _lines(path: str, finding: Finding) -> list[str]:
    where = f"{path}:{finding.place.line}:{finding.place.column}"
    text = f"{where} {finding.code} {finding.severity}: {finding.subject}: {finding.message}"
    return [printable(text), printable(f"    {finding.remedy}")]
