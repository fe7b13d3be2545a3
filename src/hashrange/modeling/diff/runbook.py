"""The runbook: the steps of a migration in an order in which the application never stops, and can always go back."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from hashrange.modeling.columns import amount
from hashrange.modeling.diff.backfills import Backfill, IndexBuild
from hashrange.modeling.diff.changes import rebuilt_tables
from hashrange.modeling.diff.likeness import differing
from hashrange.modeling.diff.pattern_changes import PatternChange
from hashrange.modeling.model import Model

Phase = Literal["create", "index", "settings", "dual write", "backfill", "verify", "flip", "stop", "drop"]
_KEY_MEMBERS = {"partition_key", "sort_key", "indexes"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `tool` is what of hashrange.patterns does it, where something does."""

    phase: Phase
    text: str
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the steps are made from."""

    old: Model
    new: Model
    builds: tuple[IndexBuild, ...]
    backfills: tuple[Backfill, ...]
    patterns: tuple[PatternChange, ...]

    def kinds(self, *kinds: str) -> tuple[Backfill, ...]:
        """The backfills of these kinds."""
        return tuple(part for part in self.backfills if part.kind in kinds)


def runbook(facts: Facts) -> tuple[Step, ...]:
    """All steps, in their order."""
    return (
        *_creates(facts),
        *_indexes(facts),
        *_settings(facts),
        *_dual_writes(facts),
        *_backfills(facts),
        *_verifications(facts),
        *_flips(facts),
        *_stops(facts),
        *_drops(facts),
    )


def _creates(facts: Facts) -> Iterator[Step]:
    for name in facts.new.tables:
        if name not in facts.old.tables:
            yield Step("create", f"create the table {name}")
    for name, reason in rebuilt_tables(facts.old, facts.new).items():
        yield Step("create", f"create the new {name} under another name: {reason}")


def _indexes(facts: Facts) -> Iterator[Step]:
    """One after the other: UpdateTable makes one index at a time."""
    for build in facts.builds:
        stored = facts.old.tables[build.table].index(build.index)
        filled = f"DynamoDB fills it with {amount(build.entries)} rows" if build.entries else "it is empty"
        name = f"{build.index} to {build.table}"
        if stored is not None:
            name = (
                f"the new {name}, under another name, for an index keeps its key and its projection for life"
            )
        yield Step("index", f"add {name}; wait until it is ACTIVE ({filled} at first)")


def _settings(facts: Facts) -> Iterator[Step]:
    for name, table in facts.new.tables.items():
        if name in facts.old.tables:
            members = [
                member for member in differing(facts.old.tables[name], table) if member not in _KEY_MEMBERS
            ]
            if members:
                titles = ", ".join(member.replace("_", " ") for member in members)
                yield Step("settings", f"change {name} in place: {titles}")


def _writers(facts: Facts, entities: Iterable[str]) -> str:
    names = set(entities)
    ids = [pattern.id for pattern in facts.new.writes if any(step.entity in names for step in pattern.steps)]
    return f" ({', '.join(ids)})" if ids else ""


def _dual_writes(facts: Facts) -> Iterator[Step]:
    for part in facts.kinds("update"):
        yield Step(
            "dual write",
            f"{part.entity}: every writer{_writers(facts, [part.entity])} stores what the new version stores, and what "
            "the old one reads as well",
        )
    for part in facts.kinds("rekey"):
        yield Step(
            "dual write",
            f"{part.entity}: every writer{_writers(facts, [part.entity])} puts and deletes the items of both keys in "
            "one transaction; readers of the old version must not take the new items for more of their own",
        )
    for part in facts.kinds("move"):
        yield Step(
            "dual write",
            f"{part.entity}: every writer{_writers(facts, [part.entity])} writes to both tables in one transaction",
            "Migration.begin, then Migration.put and Migration.delete",
        )


def _backfills(facts: Facts) -> Iterator[Step]:
    conditions = {
        "update": "update {} items of {} in place, each on condition that it is there and lacks the change",
        "rekey": "copy {} items of {} to their new keys, if not there yet and if the old one still is",
        "move": "copy {} items of {} to the other table, if not there yet and if the old one still is",
    }
    for part in facts.backfills:
        text = conditions[part.kind].format(amount(part.items), part.entity)
        yield Step("backfill", text, "Backfill.run" if part.kind == "move" else "")


def _verifications(facts: Facts) -> Iterator[Step]:
    for part in facts.backfills:
        if part.kind == "move":
            yield Step("verify", f"{part.entity}: compare both tables", "Verification.run")
        else:
            yield Step(
                "verify", f"{part.entity}: scan {part.source}, and count the items that are not as new"
            )


def _flips(facts: Facts) -> Iterator[Step]:
    moved = {part.entity for part in facts.kinds("move")}
    entities = {pattern.id: set(pattern.entities) for pattern in facts.new.reads}
    for change in facts.patterns:
        tool = "Migration.flip" if moved & entities.get(change.id, set()) else ""
        if change.effect == "flips":
            yield Step("flip", f"{change.id}: from {change.before} to {change.after}", tool)
        elif change.effect == "begins":
            yield Step("flip", f"{change.id}: begin with {change.after}", tool)
        elif change.effect == "breaks" or (change.effect == "unserved" and tool):
            yield Step("flip", f"{change.id}: no key serves it; decide what becomes of it", tool)


def _stops(facts: Facts) -> Iterator[Step]:
    if facts.backfills:
        names = ", ".join(part.entity for part in facts.backfills)
        yield Step("stop", f"stop the old writes of {names}; from here on there is no way back")


def _drops(facts: Facts) -> Iterator[Step]:
    old, new = facts.old, facts.new
    for part in facts.backfills:
        if part.delete_units:
            yield Step("drop", f"delete {amount(part.items)} old items of {part.entity} from {part.source}")
    for name in old.entities:
        if name not in new.entities:
            yield Step("drop", f"delete the items of {name}, which is no entity any more")
    yield from _dropped_indexes(facts)
    for name in old.tables:
        if name not in new.tables:
            yield Step("drop", f"back up and delete the table {name}")
    for name in rebuilt_tables(old, new):
        yield Step("drop", f"back up and delete the old {name}")


def _dropped_indexes(facts: Facts) -> Iterator[Step]:
    """Indexes that go, and those that a new one has taken the place of."""
    rebuilt = rebuilt_tables(facts.old, facts.new)
    replaced = {(build.table, build.index) for build in facts.builds}
    for name, table in facts.old.tables.items():
        if name not in facts.new.tables or name in rebuilt:
            continue
        for index in table.indexes:
            if facts.new.tables[name].index(index.name) is None or (name, index.name) in replaced:
                yield Step("drop", f"delete the index {index.name} of {name}, once no read of it is left")
