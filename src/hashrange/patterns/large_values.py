"""Large values: more bytes than an item may have, replaced as if they were one."""

import hashlib

import msgspec

from hashrange.patterns.errors import Incomplete, Stale, TooLarge, TransactionCanceled
from hashrange.patterns.pieces import BucketPieces, ItemPieces
from hashrange.patterns.steps import Steps, fresh, pause, procedure
from hashrange.patterns.tables import Span, Table
from hashrange.patterns.values import Item

_ATTEMPTS_MAX = 10


class LargeValue(msgspec.Struct, frozen=True):
    """A manifest (`LARGE#key`, `MANIFEST`) names the generation whose pieces are the value.

    A put writes pieces under a new name and then points the manifest at them, so readers see the old value or the new
    one. (`LARGE#key`, `GENERATION#name`) stands for pieces that are being written or no longer wanted: it is there
    before the first piece and after the last, so that `sweep` finds whatever a crash has left.
    """

    table: Table
    pieces: ItemPieces | BucketPieces
    bytes_max: int = 64 * 1024 * 1024

    @procedure
    def put(self, key: str, content: bytes) -> Steps[None]:
        """Store a value in place of any other; of two writers at once the later one wins."""
        if len(content) > self.bytes_max:
            raise TooLarge(f"{len(content)} bytes, and {self.bytes_max} are allowed")
        generation = yield from fresh()
        intent = {
            **self._row(key, generation),
            "pieces": self.pieces.count(len(content)),
            "is_garbage": False,
        }
        yield from self.table.write(self.table.putting(intent))
        yield from self.pieces.store(generation, content)
        manifest = {
            **self._manifest(key),
            "generation": generation,
            "pieces": intent["pieces"],
            "size": len(content),
            "sha256": hashlib.sha256(content).digest(),
        }
        old = yield from self._pointed(key, manifest)
        if old is not None:
            yield from self._discarded(key, old["generation"], old["pieces"])

    @procedure
    def get(self, key: str) -> Steps[bytes | None]:
        """The value, or None. Raises Incomplete if pieces are missing that nobody has replaced."""
        missing = ""
        for attempt in range(1, _ATTEMPTS_MAX + 1):
            manifest = yield from self.table.get(self._manifest(key))
            if manifest is None:
                return None
            if manifest["generation"] == missing:
                raise Incomplete(key)
            if manifest["size"] > self.bytes_max:
                raise TooLarge(f"{manifest['size']} bytes, and {self.bytes_max} are allowed")
            try:
                content = yield from self._loaded(manifest)
            except Incomplete:
                # A put may have replaced the value while we read it: its manifest then has another generation.
                missing = manifest["generation"]
                yield self.table.retry.pause(attempt)
                continue
            return content
        raise Stale(f"{key} is replaced faster than it can be read")

    @procedure
    def delete(self, key: str) -> Steps[None]:
        """Delete a value; one that is gone already is fine."""
        old = yield from self._pointed(key, None)
        if old is not None:
            yield from self._discarded(key, old["generation"], old["pieces"])

    @procedure
    def sweep(self, key: str, *, grace_seconds: float = 60.0) -> Steps[int]:
        """Delete what crashed writers have left of a key; gives how many generations.

        Who is still writing after the grace is taken for dead: its pieces are deleted, and its put raises Stale.
        """
        first = yield from self._rows(key)
        if any(not row["is_garbage"] for row in first):
            yield from pause(grace_seconds)
        seen = {row[self.table.sort_key] for row in first}
        left = [row for row in (yield from self._rows(key)) if row[self.table.sort_key] in seen]
        for row in left:
            generation = row[self.table.sort_key].removeprefix("GENERATION#")
            # From here on the writer cannot point the manifest at it; if it has just done so, this fails.
            doomed = {**row, "is_garbage": True}
            if (yield from self.table.tried(self.table.putting(doomed, "attribute_exists(#pk)"))) is None:
                yield from self._discarded(key, generation, row["pieces"])
        return len(left)

    def _loaded(self, manifest: Item) -> Steps[bytes]:
        content = yield from self.pieces.load(manifest["generation"], manifest["pieces"], manifest["size"])
        if hashlib.sha256(content).digest() != manifest["sha256"]:
            raise Incomplete(f"{manifest['generation']} is not what was stored")
        return content

    def _rows(self, key: str) -> Steps[list[Item]]:
        """A page of generations is enough: the rest waits for the next sweep."""
        span = Span("GENERATION#", "GENERATION$")
        return (yield from self.table.query(f"LARGE#{key}", span, limit=100)).items

    def _pointed(self, key: str, manifest: Item | None) -> Steps[Item | None]:
        """Point the manifest at a new generation, or delete it; gives the old one, which is garbage from then on."""
        for attempt in range(1, _ATTEMPTS_MAX + 1):
            old = yield from self.table.get(self._manifest(key))
            if manifest is None and old is None:
                return None
            if manifest is not None and old is not None and old["generation"] == manifest["generation"]:
                return None
            try:
                yield from self._flip(key, old, manifest)
            except TransactionCanceled as canceled:
                if canceled.failed == [1]:
                    yield from self._abandon(key, manifest)
                    raise Stale(f"{key} was swept while it was written") from canceled
                if 0 not in canceled.failed:
                    raise
            else:
                return old
            yield self.table.retry.pause(attempt)
        raise Stale(f"{key} changes too often")

    def _flip(self, key: str, old: Item | None, manifest: Item | None) -> Steps[None]:
        """One transaction: the manifest if it is still the old one, the intent done, the old generation garbage."""
        condition = "attribute_not_exists(#generation)" if old is None else "#generation = :old"
        values = {} if old is None else {"old": old["generation"]}
        if manifest is None:
            writes = [self.table.deleting(self._manifest(key), condition, **values)]
        else:
            row = self._row(key, manifest["generation"])
            writes = [
                self.table.putting(manifest, condition, **values),
                self.table.deleting(row, "#is_garbage = :no", no=False),
            ]
        if old is not None:
            garbage = {**self._row(key, old["generation"]), "pieces": old["pieces"], "is_garbage": True}
            writes.append(self.table.putting(garbage))
        yield from self.table.transact(writes)

    def _abandon(self, key: str, manifest: Item | None) -> Steps[None]:
        if manifest is not None:
            yield from self._discarded(key, manifest["generation"], manifest["pieces"])

    def _discarded(self, key: str, generation: str, pieces: int) -> Steps[None]:
        yield from self.pieces.discard(generation, pieces)
        yield from self.table.write(self.table.deleting(self._row(key, generation)))

    def _manifest(self, key: str) -> Item:
        return self.table.key(f"LARGE#{key}", "MANIFEST")

    def _row(self, key: str, generation: str) -> Item:
        return self.table.key(f"LARGE#{key}", f"GENERATION#{generation}")
