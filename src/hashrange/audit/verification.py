"""Checking an audit log: whether every line is what was written, and none is missing."""

from collections.abc import Iterable
from dataclasses import dataclass, field

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

    def add_problem(self, place: str, problem: str) -> None:
        """Note what is wrong with a line; of very many the first ones are kept."""
        self.problem_count += 1
        if len(self.problems) < _PROBLEMS_MAX:
            self.problems.append(f"{place}: {problem}")


def check(lines: Iterable[tuple[str, bytes]], heads: Iterable[str] = ()) -> Report:
    """Check lines, each with its place, in the order in which they were written.

    `heads` are hashes that the log must still have: the last ones that somebody noted.
    """
    report = Report()
    missing = set(heads)
    for place, line in lines:
        report.lines += 1
        if not line.endswith(b"\n"):
            report.add_problem(place, "it is cut off")
            continue
        try:
            head, previous = hash_chain.read(line)
        except LineInvalid as problem:
            report.add_problem(place, str(problem))
            continue
        missing.discard(head.hash)
        _check_link(report, place, head, previous)
    for head_hash in sorted(missing):
        report.add_problem("the end", f"the line with the hash {head_hash} is missing")
    return report


def _check_link(report: Report, place: str, head: Head, previous: str) -> None:
    known = report.chains.get(head.chain)
    if known is None:
        if (head.number == 1) != (previous == FIRST_HASH):
            report.add_problem(place, "it says that it is the first one and that it is not")
        report.chains[head.chain] = Chain(head.number, head)
        return
    expected = known.head
    if head.number != expected.number + 1:
        report.add_problem(
            place, f"number {expected.number + 1} of the chain was to follow, not {head.number}"
        )
    elif previous != expected.hash:
        report.add_problem(place, f"it follows another line than number {expected.number}")
    known.head = head
