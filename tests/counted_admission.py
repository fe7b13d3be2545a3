"""A model of capacity in which the test says how many units there are."""

from collections import Counter

from hashrange.capacity.admission import Allowance, Charged
from hashrange.capacity.limits import Limit
from hashrange.core.schema import Index, Table

Place = tuple[str, str | None, bool]  # table, index, whether it is for writes

_PROVISIONED: tuple[Limit, ...] = ("ProvisionedThroughputExceeded",)


class CountedAdmission:
    """Admits while units are left of what the test has put in; where it has put in nothing, always."""

    def __init__(self) -> None:
        self.left: dict[Place, float] = {}
        self.charged: Counter[Place] = Counter()
        self.limits: tuple[Limit, ...] = _PROVISIONED

    def refused(
        self, now: float, table: Table, index: Index | None, key: bytes, *, write: bool
    ) -> tuple[Limit, ...]:
        return () if self.left.get(place(table, index, write=write), 1.0) > 0 else self.limits

    def charge(
        self, now: float, table: Table, index: Index | None, key: bytes, units: float, *, write: bool
    ) -> None:
        where = place(table, index, write=write)
        self.charged[where] += units  # type: ignore[assignment]
        if where in self.left:
            self.left[where] -= units

    def read_allowance(self, table: Table, index: Index | None, key: bytes) -> Allowance | None:
        return None

    def write_allowance(self, table: Table, key: bytes) -> Allowance | None:
        return None

    def lend(self, now: float, table: Table, index: Index | None, key: bytes, *, write: bool) -> None:
        pass

    def settle(self, now: float) -> None:
        pass

    def take_charges(self) -> list[Charged]:
        return []

    def absorb(self, now: float, table: Table, index: Index | None, charged: Charged) -> None:
        raise AssertionError(charged)


def place(table: Table, index: Index | None, *, write: bool) -> Place:
    return table.name, None if index is None else index.name, write
