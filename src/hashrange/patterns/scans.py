"""Scans that keep to a rate."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hashrange.patterns.retries import send
from hashrange.patterns.steps import SdkCall, Steps, monotonic, pause
from hashrange.patterns.tables import Table, TablePage, table_page
from hashrange.patterns.values import wire_item


class Segment(msgspec.Struct, frozen=True):
    """One part of a table, as parallel scans divide it."""

    number: int
    of: int


def scan(table: Table, segment: Segment, *, limit: int, after: Mapping[str, Any] | None) -> Steps[TablePage]:
    """One page, strongly consistent: a scan that missed what was written just before it would miss it for good."""
    parameters: dict[str, Any] = {
        "TableName": table.name,
        "Segment": segment.number,
        "TotalSegments": segment.of,
        "ConsistentRead": True,
        "Limit": limit,
    }
    if after is not None:
        parameters["ExclusiveStartKey"] = wire_item(after)
    return table_page((yield from send(SdkCall("scan", parameters), table.retry)))


def item_count(table: Table) -> Steps[int]:
    """The service's estimate of a table's items."""
    answer = yield from send(SdkCall("describe_table", {"TableName": table.name}), table.retry)
    return int(answer["Table"].get("ItemCount", 0))


class Pace:
    """Holds a loop to so many items a second."""

    def __init__(self, items_per_second: float) -> None:
        if items_per_second <= 0:
            raise ValueError("a rate is more than nothing")
        self._seconds_per_item = 1 / items_per_second
        self._next: float | None = None

    def kept(self, items: int) -> Steps[None]:
        """Wait until these items are due; what was lost to slow requests is not caught up with in a burst."""
        now = yield from monotonic()
        due = max(now, self._next or now)
        self._next = due + items * self._seconds_per_item
        if due > now:
            yield from pause(due - now)
