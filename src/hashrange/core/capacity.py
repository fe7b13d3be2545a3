"""Capacity units: what reads and writes cost, and how the answer reports it."""

from typing import Any

import msgspec

from hashrange.core.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES
from hashrange.core.schema import Index, Table


def write_units(size_bytes: int) -> int:
    """Units of one write; at least one."""
    return -(-size_bytes // WRITE_UNIT_BYTES) or 1


def read_units(size_bytes: int, *, consistent: bool) -> float:
    """Units of one read; a missing item costs as much as the smallest."""
    units = -(-size_bytes // READ_UNIT_BYTES) or 1
    return float(units) if consistent else units / 2


class Consumed(msgspec.Struct):
    """Units of one table, added up over a request. Transactions also tell reads from writes."""

    table: Table
    name: str  # as the request named it: an ARN is echoed
    units: float = 0.0
    indexes: dict[str, float] = msgspec.field(default_factory=dict)
    kind: str | None = None  # "Read" or "Write" in transactions

    def add(self, units: float) -> None:
        """Units on the table itself."""
        self.units += units

    def add_index(self, index: Index, units: float) -> None:
        """Units on one index."""
        self.indexes[index.name] = self.indexes.get(index.name, 0.0) + units

    def report(self, mode: str) -> dict[str, Any]:
        """The ConsumedCapacity member for TOTAL or INDEXES."""
        total = self.units + sum(self.indexes.values())
        body: dict[str, Any] = {"TableName": self.name, **self._units(total)}
        if mode == "INDEXES":
            body["Table"] = self._units(self.units)
            for member, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
                found = {
                    name: self._units(units)
                    for name, units in self.indexes.items()
                    if self.table.index_by_name[name].local == local
                }
                if found:
                    body[member] = found
        return body

    def _units(self, units: float) -> dict[str, float]:
        units = float(units)
        if self.kind is None:
            return {"CapacityUnits": units}
        return {"CapacityUnits": units, f"{self.kind}CapacityUnits": units}
