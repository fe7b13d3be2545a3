"""The proof: what every pattern did on the engine, and where an answer was not what its definition says."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.modeling.columns import amount
from hashrange.modeling.prove.results import Proof, ProvedRead, ProvedWrite
from hashrange.modeling.report.markup import Content, Markup, element
from hashrange.modeling.report.parts import chip, cut_note, number, row, section, table

PATTERNS_MAX = 200
_FAILURES_MAX = 5
_READS = ("", "id", "pattern", "operation", "on", ">answers", ">read", ">returned", ">units", ">pages")
_WRITES = ("", "id", "pattern", "operation", "steps", ">units", "once more", "condition unmet")
_WRITE_WORDS = (
    "Once more: what the same write does a second time. Condition unmet: what it does where its condition does not "
    "hold. Refused changes nothing and says so; same changes nothing; a dash: it does not arise."
)


def proof_section(proof: Proof) -> Markup:
    """Reads, writes, and failures in full."""
    lead = (
        f"{proof.items:,} made-up items (seed {proof.seed}) in a private engine: every pattern is run through the API, "
        "and every answer is compared with what its definition gives over all items. Figures are those of one answer."
    )
    reads, writes = proof.reads[:PATTERNS_MAX], proof.writes[:PATTERNS_MAX]
    hidden = len(proof.patterns) - len(reads) - len(writes)
    return section(
        "proof",
        "Proof",
        [element("p", chip("failed", "bad"), failure) for failure in proof.failures[:PATTERNS_MAX]],
        table("Proof of reads", _READS, _rows(reads, len(_READS))) if reads else None,
        table("Proof of writes", _WRITES, _rows(writes, len(_WRITES))) if writes else None,
        element("p", _WRITE_WORDS, class_="small") if writes else None,
        cut_note(hidden, "patterns"),
        lead=lead,
    )


def _rows(patterns: Sequence[ProvedRead | ProvedWrite], width: int) -> list[Content]:
    rows: list[Content] = []
    for pattern in patterns:
        rows.append(_read(pattern) if isinstance(pattern, ProvedRead) else _write(pattern))
        rows += [
            row(element("td", failure, colspan=width), class_="failed")
            for failure in pattern.failures[:_FAILURES_MAX]
        ]
    return rows


def _mark(pattern: ProvedRead | ProvedWrite) -> Markup:
    return chip("failed", "bad") if pattern.failures else chip("proved", "good")


def _read(read: ProvedRead) -> Markup:
    return row(
        _mark(read),
        element("td", element("strong", read.id)),
        read.name,
        read.operation if read.requests == 1 else f"{read.requests} x {read.operation}",
        element("td", element("code", read.key)),
        number(read.answers),
        number(amount(read.items_read)),
        number(amount(read.items_returned)),
        number(amount(read.units)),
        number(read.pages),
    )


def _write(write: ProvedWrite) -> Markup:
    return row(
        _mark(write),
        element("td", element("strong", write.id)),
        write.name,
        write.operation,
        write.steps,
        number(amount(write.units)),
        write.again,
        write.unmet,
    )
