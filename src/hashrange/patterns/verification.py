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

    So a dual write between the two reads is no difference.
    """

    migration: Migration
    items_per_second: float = 500.0

    @procedure
    def run(self) -> Steps[Compared]:
        """Compare; where all is equal and the backfill is done, the migration is verified."""
        outcome, pace = Compared(), Pace(self.items_per_second)
        yield from self._forward(outcome, pace)
        yield from self._surplus(outcome, pace)
        if outcome.is_equal and (yield from self.migration.record())["phase"] == "backfilled":
            yield from self.migration.moved("backfilled", "verified")
        return outcome

    def _forward(self, outcome: Compared, pace: Pace) -> Steps[None]:
        """Every item of the source against the target's."""
        migration, after = self.migration, None
        target = migration.target
        while True:
            page = yield from scan(migration.source, Segment(0, 1), limit=_PAGE_ITEMS, after=after)
            yield from pace.kept(len(page.items))
            made = {
                _name(copy, target): (item, copy) for item in page.items if (copy := migration.made(item))
            }
            copies = yield from target.get_many([target.key_of(copy) for _, copy in made.values()])
            stored = {_name(copy, target): copy for copy in copies}
            for name, (item, copy) in made.items():
                if stored.get(name) != copy:
                    yield from self._looked_at(outcome, migration.source.key_of(item))
            outcome.compared += len(page.items)
            after = page.last_key
            if after is None:
                return

    def _surplus(self, outcome: Compared, pace: Pace) -> Steps[None]:
        """Every item of the target that has to come from the source, and does not."""
        migration, after = self.migration, None
        source, target = migration.source, migration.target
        while True:
            page = yield from scan(target, Segment(0, 1), limit=_PAGE_ITEMS, after=after)
            yield from pace.kept(len(page.items))
            origins = [key for item in page.items if (key := migration.source_key(target.key_of(item)))]
            found = {_name(item, source) for item in (yield from source.get_many(origins))}
            for key in origins:
                if _name(key, source) not in found:
                    yield from self._looked_at(outcome, key)
            after = page.last_key
            if after is None:
                return

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


def _name(item: Item, table: Table) -> str:
    """A key that a dictionary takes."""
    return repr(table.key_of(item))
