"""The backfill of a migration: copies what was there before, at a rate, and goes on where it was interrupted."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from hashrange.patterns.errors import TransactionCanceled
from hashrange.patterns.migration import Migration
from hashrange.patterns.progress import Progress
from hashrange.patterns.scans import Pace, Segment, item_count, scan
from hashrange.patterns.steps import Steps, invoke, procedure
from hashrange.patterns.tables import TRANSACT_WRITES_MAX, Write
from hashrange.patterns.values import Item, value_bytes

_PAGE_ITEMS = 50
_TRANSACTION_BYTES_MAX = 3_000_000  # of 4 MB, by our own count


def ignore(progress: Progress) -> None:
    """Show nothing."""


class Backfill(msgspec.Struct, frozen=True):
    """Copies a migration's items, segment by segment. Each may be run by another worker; two on one do no harm.

    An item is copied in a transaction which checks that the source still has it, and that the target does not: so it
    never overwrites what a dual write has stored, nor brings back what one has deleted.
    """

    migration: Migration
    items_per_second: float = 100.0

    @procedure
    def run(self, segment: int, progress: Callable[[Progress], Any] = ignore) -> Steps[int]:
        """Copy one segment from where it was left; gives how many items were read of it in all."""
        migration = self.migration
        segments = int((yield from migration.record())["segments"])
        total = (yield from item_count(migration.source)) // segments
        part, pace = Segment(segment, segments), Pace(self.items_per_second)
        state = (yield from migration.state.get(migration.segment_key(segment))) or {"read": 0}
        while not state.get("is_done"):
            page = yield from scan(migration.source, part, limit=_PAGE_ITEMS, after=state.get("position"))
            yield from pace.kept(len(page.items))
            yield from self._copied(page.items)
            state = {"read": int(state["read"]) + len(page.items), "is_done": page.last_key is None}
            if page.last_key is not None:
                state["position"] = page.last_key
            checkpoint = {**migration.segment_key(segment), **state}
            yield from migration.state.write(migration.state.putting(checkpoint))
            yield from invoke(progress, Progress(state["read"], total))
        yield from self._settled(segments)
        return int(state["read"])

    def _copied(self, items: list[Item]) -> Steps[None]:
        migration = self.migration
        made = [(item, migration.made(item)) for item in items]
        pairs = [(item, copy) for item, copy in made if copy is not None]
        for group in _groups(pairs):
            yield from self._written([migration.copying(item, copy) for item, copy in group])

    def _written(self, copies: list[list[Write]]) -> Steps[None]:
        """Write these copies together. Those that are not wanted any more cancel the rest, which goes without them."""
        while copies:
            writes = [write for copy in copies for write in copy]
            try:
                yield from self.migration.target.transact(writes)
            except TransactionCanceled as canceled:
                settled = {number // 2 for number in canceled.failed}
                if not settled:
                    raise
                copies = [copy for number, copy in enumerate(copies) if number not in settled]
            else:
                return

    def _settled(self, segments: int) -> Steps[None]:
        """The last segment that is done moves the migration on."""
        migration = self.migration
        keys = [migration.segment_key(number) for number in range(segments)]
        done = 0
        for first in range(0, segments, 100):
            rows = yield from migration.state.get_many(keys[first : first + 100])
            done += sum(bool(row.get("is_done")) for row in rows)
        if done == segments and (yield from migration.record())["phase"] == "dual-write":
            yield from migration.moved("dual-write", "backfilled")


def _groups(pairs: list[tuple[Item, Item]]) -> Iterator[list[tuple[Item, Item]]]:
    """Pairs that fit one transaction."""
    group: list[tuple[Item, Item]] = []
    size = 0
    for pair in pairs:
        bytes_ = value_bytes(pair[0]) + value_bytes(pair[1])
        if group and (size + bytes_ > _TRANSACTION_BYTES_MAX or 2 * len(group) >= TRANSACT_WRITES_MAX):
            yield group
            group, size = [], 0
        group.append(pair)
        size += bytes_
    if group:
        yield group
