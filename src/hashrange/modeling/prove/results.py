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
class Proof:
    """The whole model. `failures` are about tables and entities."""

    name: str
    seed: int
    items: int
    failures: tuple[str, ...]
    reads: tuple[ProvedRead, ...]

    @property
    def holds(self) -> bool:
        return not self.failures and not any(read.failures for read in self.reads)
