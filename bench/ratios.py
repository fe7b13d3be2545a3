"""Two versions in turns: the order of the turns, the ratios of each round, their median and spread."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from hashrange_bench.report import MISSING, microseconds, rate, table

Side = Literal["before", "after"]
SIDES: tuple[Side, Side] = ("before", "after")
_ORDERS: tuple[tuple[Side, ...], ...] = (
    ("before", "after", "after", "before"),
    ("after", "before", "before", "after"),
)


def order(round_number: int) -> tuple[Side, ...]:
    """Give the turns of a round.

    ABBA: a machine that grows steadily slower or faster slows or speeds both sides alike. Every other round
    is BAAB, so that the side that begins is not always the same.
    """
    return _ORDERS[round_number % len(_ORDERS)]


@dataclass(frozen=True, slots=True)
class Turn:
    """One key range of load on one side."""

    side: str
    requests: int
    seconds: float
    cpu_seconds: float | None = None  # of the server; None where the system does not count it
    errors: int = 0


Turns = Sequence[Turn]
Measure = Callable[[Turns], float | None]


@dataclass(frozen=True, slots=True)
class Spread:
    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, ratios: Sequence[float]) -> "Spread | None":
        return cls(statistics.median(ratios), min(ratios), max(ratios)) if ratios else None

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.lowest:.3f} \N{EN DASH} {self.highest:.3f})"


@dataclass(slots=True)
class Comparison:
    """One workload: its rounds, each a list of turns."""

    name: str
    title: str
    rounds: list[list[Turn]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def throughput(self) -> Spread | None:
        """Requests per second, after / before."""
        return self._spread(per_second)

    @property
    def efficiency(self) -> Spread | None:
        """Requests per second of the server's processor time, after / before."""
        return self._spread(per_cpu_second)

    @property
    def best(self) -> float | None:
        """The same, of each side's best turn: others on the machine only ever add to the processor time."""
        before, after = (max(self._single(side), default=None) for side in SIDES)
        return after / before if before and after else None

    @property
    def errors(self) -> int:
        return sum(turn.errors for turns in self.rounds for turn in turns)

    def median(self, side: Side, measure: Measure) -> float | None:
        values = [measure(_of(side, turns)) for turns in self.rounds]
        known = [value for value in values if value is not None]
        return statistics.median(known) if known else None

    def _single(self, side: Side) -> list[float]:
        values = [per_cpu_second([turn]) for turns in self.rounds for turn in _of(side, turns)]
        return [value for value in values if value is not None]

    def _spread(self, measure: Measure) -> Spread | None:
        pairs = [(measure(_of("before", turns)), measure(_of("after", turns))) for turns in self.rounds]
        return Spread.of([after / before for before, after in pairs if before and after])

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "throughput": asdict(self.throughput) if self.throughput else None,
            "efficiency": asdict(self.efficiency) if self.efficiency else None,
            "best": self.best,
            "errors": self.errors,
            "notes": self.notes,
            "rounds": [[asdict(turn) for turn in turns] for turns in self.rounds],
        }


def per_second(turns: Turns) -> float | None:
    return _quotient(turns, [turn.seconds for turn in turns])


def per_cpu_second(turns: Turns) -> float | None:
    known = [turn.cpu_seconds for turn in turns if turn.cpu_seconds is not None]
    return _quotient(turns, known) if len(known) == len(turns) else None


def _quotient(turns: Turns, seconds: Sequence[float]) -> float | None:
    """Requests by seconds, each summed first: a long turn weighs more than a short one."""
    return sum(turn.requests for turn in turns) / sum(seconds) if sum(seconds) else None


def _of(side: Side, turns: Turns) -> Turns:
    return [turn for turn in turns if turn.side == side]


def below(comparisons: Sequence[Comparison], least: float) -> list[str]:
    """Name the workloads whose median throughput is below `least` of what it was."""
    return [
        comparison.name
        for comparison in comparisons
        if comparison.throughput is None or comparison.throughput.median < least
    ]


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Give the table; above 1 is better in every column of ratios."""
    head = (
        *("workload", "before/s", "after/s", "requests/s after/before"),
        *("before CPU µs", "after CPU µs", "requests/CPU s after/before", "best turns"),
    )
    text = table(head, map(_row, comparisons))
    notes = [f"- {comparison.name}: {note}" for comparison in comparisons for note in _notes(comparison)]
    return "\n".join((text, "", *notes, "")) if notes else text + "\n"


def _row(comparison: Comparison) -> tuple[str, ...]:
    before_cpu, after_cpu = (comparison.median(side, per_cpu_second) for side in SIDES)
    return (
        comparison.title,
        *(rate(comparison.median(side, per_second)) for side in SIDES),
        str(comparison.throughput or MISSING),
        *(microseconds(1e6 / value if value else None) for value in (before_cpu, after_cpu)),
        str(comparison.efficiency or MISSING),
        f"{comparison.best:.3f}" if comparison.best else MISSING,
    )


def _notes(comparison: Comparison) -> list[str]:
    errors = [f"{comparison.errors:,} errors"] if comparison.errors else []
    return [*errors, *dict.fromkeys(comparison.notes)]
