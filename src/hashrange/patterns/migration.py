"""Migrations to another table while both are in use: dual write, backfill, verify, flip."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from hashrange.patterns.errors import WrongPhase
from hashrange.patterns.steps import Steps, procedure
from hashrange.patterns.tables import Table, Write
from hashrange.patterns.values import Item

Phase = Literal["dual-write", "backfilled", "verified", "flipped"]
SEGMENTS_MAX = 1_000


def same(item: Item) -> Item:
    """What becomes of an item, or of a key, where nothing changes."""
    return item


class Migration(msgspec.Struct, frozen=True):
    """From one table to another. `state` is a table for (`MIGRATION#name`, …), best one that is not being migrated.

    `transform` makes the new item of an old one, or None for what stays behind; `target_key` makes the new key of an
    old one and `source_key` the old one of a new one, or None for items of the target that come from elsewhere.
    All three are pure functions.
    """

    name: str
    source: Table
    target: Table
    state: Table
    transform: Callable[[Item], Item | None] = same
    target_key: Callable[[Item], Item] = same
    source_key: Callable[[Item], Item | None] = same

    @procedure
    def begin(self, *, segments: int = 4) -> Steps[None]:
        """Note that it has begun; to begin twice is to begin once. All writers use `put` and `delete` by now."""
        if not 1 <= segments <= SEGMENTS_MAX:
            raise ValueError(f"there are 1 to {SEGMENTS_MAX} segments")
        if self.source.name == self.target.name:
            raise ValueError("a migration goes from one table to another")
        record = {**self.phase_key(), "phase": "dual-write", "segments": segments}
        yield from self.state.tried(self.state.putting(record, "attribute_not_exists(#pk)"))

    @procedure
    def phase(self) -> Steps[Phase]:
        record = yield from self.record()
        phase: Phase = record["phase"]
        return phase

    @procedure
    def put(self, item: Item) -> Steps[None]:
        """Store an item in both tables, or in neither."""
        writes = [self.source.putting(item)]
        made = self.made(item)
        if made is not None:
            writes.append(self.target.putting(made))
        else:
            writes.append(self.target.deleting(self.target_key(self.source.key_of(item))))
        yield from self.source.transact(writes)

    @procedure
    def delete(self, key: Item) -> Steps[None]:
        """Delete an item from both tables, or from neither."""
        writes = [self.source.deleting(key), self.target.deleting(self.target_key(key))]
        yield from self.source.transact(writes)

    @procedure
    def get(self, key: Item) -> Steps[Item | None]:
        """The item from the table that is read in this phase, in that table's form."""
        phase = (yield from self.record())["phase"]
        if phase == "flipped":
            return (yield from self.target.get(self.target_key(key)))
        return (yield from self.source.get(key))

    @procedure
    def flip(self) -> Steps[None]:
        """Read from the target from now on. Raises WrongPhase before it is verified."""
        yield from self.moved("verified", "flipped")

    @procedure
    def flip_back(self) -> Steps[None]:
        """Read from the source again, which is up to date: writes still go to both."""
        yield from self.moved("flipped", "verified")

    def made(self, item: Item) -> Item | None:
        """The target's item. It has to have the key that deletions will look for."""
        made = self.transform(item)
        key = self.source.key_of(item)
        if made is not None and self.target.key_of(made) != self.target_key(key):
            raise ValueError(f"transform and target_key disagree about {key}")
        return made

    def copying(self, item: Item, made: Item) -> list[Write]:
        """Writes that store the target's item if it is not there, and if the source's has not been deleted since."""
        key = self.source.key_of(item)
        check = self.source.checking(key, "attribute_exists(#pk)")
        return [check, self.target.putting(made, "attribute_not_exists(#pk)")]

    def record(self) -> Steps[Item]:
        record = yield from self.state.get(self.phase_key())
        if record is None:
            raise WrongPhase(f"{self.name} has not begun")
        return record

    def moved(self, old: Phase, new: Phase) -> Steps[None]:
        """From one phase to the next; whoever was faster with the same is right."""
        values: dict[str, Any] = {"old": old, "new": new}
        write = self.state.updating(self.phase_key(), "SET #phase = :new", "#phase = :old", **values)
        failed = yield from self.state.tried(write)
        if failed is not None and (failed.stored or {}).get("phase") != new:
            raise WrongPhase(f"{self.name} is not {old}")

    def phase_key(self) -> Item:
        return self.state.key(f"MIGRATION#{self.name}", "PHASE")

    def segment_key(self, segment: int) -> Item:
        return self.state.key(f"MIGRATION#{self.name}", f"SEGMENT#{segment:03d}")
