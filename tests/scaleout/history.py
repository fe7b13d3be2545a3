"""What clients did and saw: operations with the time they were sent and the time they were answered."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["done", "refused", "unknown"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation on one item. If its outcome is unknown, it may have happened at any time since, or never."""

    kind: Literal["put", "delete", "swap", "get"]
    key: str
    sent: float
    answered: float
    outcome: Outcome
    wrote: Any = None  # the value put, or swapped in
    expected: Any = None  # the value that a swap wants to find
    saw: Any = None  # the value that a get found

    @property
    def latest(self) -> float:
        """When it must have happened at the latest."""
        return math.inf if self.outcome == "unknown" else self.answered


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction on lists: what it appended its name to, and what it saw."""

    name: str
    sent: float
    answered: float
    outcome: Outcome
    appended: tuple[str, ...] = ()
    saw: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by key; lists as long as they were
