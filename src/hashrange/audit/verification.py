"""Checking an audit log: whether every line is what was written, and none is missing."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from hashrange.audit import hash_chain
from hashrange.audit.hash_chain import FIRST_HASH, Head, LineInvalid

_PROBLEMS_MAX = 100


@dataclass
class Chain:
    """What was seen of one chain."""

    first: int
    head: Head


@dataclass
class Report:
    """What a check has found."""

    lines: int = 0
    chains: dict[str, Chain] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    problem_count: int = 0
    notes: list[str] = field(default_factory=list)  # what is not as it should be, and nobody's doing

    def add_problem(self, place: str, problem: str) -> None:
        """Note what is wrong with a line; of very many the first ones are kept."""
        self.problem_count += 1
        if len(self.problems) < _PROBLEMS_MAX:
            self.problems.append(f"{place}: {problem}")


@dataclass(frozen=True)
class Known:
    """What somebody noted elsewhere about a log."""

    heads: Iterable[str] = ()  # hashes that it must still have
    before: Iterable[str] = ()  # last hashes of files that were put away: chains may go on behind them


class PlacedLine(NamedTuple):
    """A line, where it stands, and whether a server that goes on would go on behind it."""

    place: str
    line: bytes
    is_last: bool = False


def check(lines: Iterable[PlacedLine], known: Known | None = None) -> Report:
    """Check lines in the order in which they were written."""
    known = known or Known()
    report = Report()
    missing, before = set(known.heads), set(known.before)
    awaited: list[tuple[str, Head]] = []
    for place, line, is_last in lines:
        report.lines += 1
        if not line.endswith(b"\n"):
            _add_cut_line(report, place, is_last=is_last)
            continue
        try:
            head, previous = hash_chain.read(line)
        except LineInvalid as problem:
            report.add_problem(place, str(problem))
            continue
        missing.discard(head.hash)
        if head.follows:
            awaited.append((place, head))
        _check_link(report, place, head, previous, before)
    _check_followed(report, awaited, before)
    for head_hash in sorted(missing):
        report.add_problem("the end", f"the line with the hash {head_hash} is missing")
    return report


def _add_cut_line(report: Report, place: str, *, is_last: bool) -> None:
    """Half a line at the end is what a server leaves that was killed; anywhere else none does."""
    if not is_last:
        report.add_problem(place, "it is cut off")
        return
    report.lines -= 1
    report.notes.append(
        f"{place}: the last line is incomplete: the server was killed, or is writing it just now; "
        "the next start removes it and says so in the log"
    )


def _check_link(report: Report, place: str, head: Head, previous: str, before: Container[str]) -> None:
    chain = report.chains.get(head.chain)
    if chain is None:
        if (head.number == 1) != (previous == FIRST_HASH):
            report.add_problem(place, "it says that it is the first one and that it is not")
        elif head.number != 1 and previous not in before:
            report.add_problem(
                place,
                f"the beginning of its chain is missing: lines 1 to {head.number - 1}, up to hash {previous}",
            )
        report.chains[head.chain] = Chain(head.number, head)
        return
    expected = chain.head
    if head.number != expected.number + 1:
        report.add_problem(
            place, f"number {expected.number + 1} of the chain was to follow, not {head.number}"
        )
    elif previous != expected.hash:
        report.add_problem(place, f"it follows another line than number {expected.number}")
    chain.head = head


def _check_followed(report: Report, awaited: Iterable[tuple[str, Head]], before: Container[str]) -> None:
    """See that every chain is whole whose place another one took, because its file was gone."""
    last = {chain.head.hash for chain in report.chains.values()}
    for place, head in awaited:
        if head.follows not in last and head.follows not in before:
            report.add_problem(
                place, f"the log begins anew here: the file before it, up to hash {head.follows}, was lost"
            )
