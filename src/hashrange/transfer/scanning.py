"""Reading a whole table by parallel scans, each of which can go on where it stopped."""

from collections.abc import Iterator

import msgspec

from hashrange.core.values import Item
from hashrange.transfer.endpoint import Endpoint
from hashrange.transfer.rates import Rate
from hashrange.transfer.wire_values import WireItem, from_wire, to_wire

_PAGE_ITEMS_MAX = 1000


class Page(msgspec.Struct, frozen=True):
    """Some items of a segment; after the last page there is no position."""

    items: list[WireItem]
    position: Item | None


class Pace(msgspec.Struct, frozen=True):
    """How fast a table may be read: in items and in capacity units."""

    items: Rate
    units: Rate
    page_items_max: int = _PAGE_ITEMS_MAX

    def wait(self) -> None:
        """Wait until the next page may be read."""
        self.items.wait()
        self.units.wait()


def page_items_max(per_second: float | None) -> int:
    """A page has no more than what a second allows, so that a slow pace is an even one."""
    return _PAGE_ITEMS_MAX if per_second is None else max(1, min(_PAGE_ITEMS_MAX, int(per_second)))


def pages(
    endpoint: Endpoint, segment: int, segments: int, *, position: Item | None, pace: Pace
) -> Iterator[Page]:
    """The pages of a segment from a position on, as strongly consistent reads."""
    request = {
        "TableName": endpoint.table,
        "ConsistentRead": True,
        "ReturnConsumedCapacity": "TOTAL",
        "Segment": segment,
        "TotalSegments": segments,
        "Limit": pace.page_items_max,
    }
    while True:
        pace.wait()
        start = {} if position is None else {"ExclusiveStartKey": to_wire(position)}
        answer = endpoint.call("scan", **request, **start)
        items = answer.get("Items", [])
        pace.items.spend(len(items))
        pace.units.spend(answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0))
        last = answer.get("LastEvaluatedKey")
        position = from_wire(last) if last else None
        yield Page(items, position)
        if position is None:
            return
