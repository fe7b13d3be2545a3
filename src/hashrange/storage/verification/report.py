"""What a verification has found."""

from collections.abc import Callable

import msgspec

PROBLEMS_LISTED_MAX = 1000  # the others are only counted

ReportProgress = Callable[[int], None]  # takes the number of rows so far


class Problem(msgspec.Struct, frozen=True):
    """Something that is not as it should be."""

    kind: str
    place: str  # for people: table or index, and key
    detail: str = ""


class Report(msgspec.Struct):
    """The outcome of a verification."""

    tables: int = 0
    rows: int = 0
    backups: int | None = None  # None: their files were not read
    problem_count: int = 0
    problems: list[Problem] = msgspec.field(default_factory=list)
    skipped: list[str] = msgspec.field(default_factory=list)  # what could not be compared, and why

    def add(self, problem: Problem) -> None:
        """Count a problem and list it, unless the list is long already."""
        self.problem_count += 1
        if len(self.problems) < PROBLEMS_LISTED_MAX:
            self.problems.append(problem)
