"""The verification of a migration: both tables compared, while they are in use."""

import msgspec

from hashrange.patterns.migration import Migration
from hashrange.patterns.retries import send
from hashrange.patterns.scans import Pace, Segment, scan
from hashrange.patterns.steps import SdkCall, Steps, procedure
from hashrange.patterns.tables import Table
from hashrange.patterns.values import Item, plain_item, wire_item

_PAGE_ITEMS = 100  # BatchGetItem's most
_SAMPLES_MAX = 20
_FORWARD, _SURPLUS, _DONE = "source", "target", "done"  # which table is gone through


class Compared(msgspec.Struct):
    """How many items were compared, and which of them differ; the first few by their keys in the source."""

    compared: int = 0
    missing: int = 0
    different: int = 0
    surplus: int = 0
    samples: list[Item] = []

    @property
    def is_equal(self) -> bool:
        return not (self.missing or self.different or self.surplus)

    def note(self, key: Item) -> None:
        if len(self.samples) < _SAMPLES_MAX:
            self.samples.append(key)


class Verification(msgspec.Struct, frozen=True):
    """Reads both tables once, in pages. What seems to differ is read again from both in one transaction.

    So a dual write between the two reads is no difference. After every page it notes in the migration's state how far
    it has come, and goes on from there if it is interrupted.
    """

    migration: Migration
    items_per_second: float = 500.0

    @procedure
    def run(self, *, afresh: bool = False) -> Steps[Compared]:
        """Compare; where all is equal and the backfill is done, the migration is verified.

        A run that was interrupted in this phase is continued, unless it is to begin `afresh`.
        """
        migration, pace = self.migration, Pace(self.items_per_second)
        phase = (yield from migration.record())["phase"]
        state = None if afresh else (yield from migration.state.get(self._key()))
        if state is None or state["phase"] != phase:
            state = {"phase": phase, "stage": _FORWARD, "outcome": msgspec.structs.asdict(Compared())}
        outcome = _restored(state["outcome"])
        while (stage := state["stage"]) != _DONE:
            pages = self._forward if stage == _FORWARD else self._surplus
            position = yield from pages(outcome, pace, state.get("position"))
            state = {"phase": phase, "stage": stage, "outcome": msgspec.structs.asdict(outcome)}
            if position is None:
                state["stage"] = _SURPLUS if stage == _FORWARD else _DONE
            else:
                state["position"] = position
            if state["stage"] != _DONE:
                yield from migration.state.write(migration.state.putting({**self._key(), **state}))
        # What was found is told once: after a repair everything is compared again.
        yield from migration.state.write(migration.state.deleting(self._key()))
        if outcome.is_equal and (yield from migration.record())["phase"] == "backfilled":
            yield from migration.moved("backfilled", "verified")
        return outcome

    def _key(self) -> Item:
        return self.migration.state.key(f"MIGRATION#{self.migration.name}", "VERIFICATION")

    def _forward(self, outcome: Compared, pace: Pace, after: Item | None) -> Steps[Item | None]:
        """A page of the source against the target's items; gives where the next one begins."""
        migration = self.migration
        target = migration.target
        page = yield from scan(migration.source, Segment(0, 1), limit=_PAGE_ITEMS, after=after)
        yield from pace.kept(len(page.items))
        made = {_name(copy, target): (item, copy) for item in page.items if (copy := migration.made(item))}
        copies = yield from target.get_many([target.key_of(copy) for _, copy in made.values()])
        stored = {_name(copy, target): copy for copy in copies}
        for name, (item, copy) in made.items():
            if stored.get(name) != copy:
                yield from self._looked_at(outcome, migration.source.key_of(item))
        outcome.compared += len(page.items)
        return page.last_key

    def _surplus(self, outcome: Compared, pace: Pace, after: Item | None) -> Steps[Item | None]:
        """A page of the target's items that have to come from the source, and do not."""
        migration = self.migration
        source, target = migration.source, migration.target
        page = yield from scan(target, Segment(0, 1), limit=_PAGE_ITEMS, after=after)
        yield from pace.kept(len(page.items))
        origins = [key for item in page.items if (key := migration.source_key(target.key_of(item)))]
        found = {_name(item, source) for item in (yield from source.get_many(origins))}
        for key in origins:
            if _name(key, source) not in found:
                yield from self._looked_at(outcome, key)
        return page.last_key

    def _looked_at(self, outcome: Compared, key: Item) -> Steps[None]:
        """Read one item of both tables at one moment, and count what is wrong with it."""
        migration = self.migration
        places = [(migration.source, key), (migration.target, migration.target_key(key))]
        gets = [{"Get": {"TableName": table.name, "Key": wire_item(place)}} for table, place in places]
        call = SdkCall("transact_get_items", {"TransactItems": gets})
        answer = yield from send(call, migration.source.retry)
        item, copy = (plain_item(found.get("Item") or {}) for found in answer["Responses"])
        made = migration.made(item) if item else None
        if (made or {}) == copy:
            return
        if not copy:
            outcome.missing += 1
        elif made is None:
            outcome.surplus += 1
        else:
            outcome.different += 1
        outcome.note(key)


def _restored(stored: Item) -> Compared:
    """What a run had counted when it was interrupted."""
    counts = {name: int(stored[name]) for name in ("compared", "missing", "different", "surplus")}
    return Compared(**counts, samples=list(stored["samples"]))


def _name(item: Item, table: Table) -> str:
    """A key that a dictionary takes."""
    return repr(table.key_of(item))
