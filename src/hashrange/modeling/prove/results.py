"""What a proof has found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProvedRead:
    """A read pattern: how it was served, and whether every answer was what its definition says.

    Items, units and pages are those of one answer, on average over all that were asked; pages at most.
    """

    id: str
    name: str
    operation: str
    key: str
    conditions: str
    requests: int
    answers: int
    items_read: float
    items_returned: float
    units: float
    pages: int
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProvedWrite:
    """A write pattern: what it consumed, what the same write does a second time, and where a condition is not met.

    `again` and `unmet` are refused, same (nothing changed) or changes; a dash where that does not arise.
    """

    id: str
    name: str
    operation: str
    steps: str
    units: float
    again: str
    unmet: str
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """The whole model. `failures` are about tables and entities."""

    name: str
    seed: int
    items: int
    failures: tuple[str, ...]
    reads: tuple[ProvedRead, ...]
    writes: tuple[ProvedWrite, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.failures and not any(pattern.failures for pattern in self.patterns)

    @property
    def patterns(self) -> tuple[ProvedRead | ProvedWrite, ...]:
        return (*self.reads, *self.writes)
