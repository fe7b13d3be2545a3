"""Optimistic locking: a write that fails if somebody else has written since the item was read."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hashrange.patterns.errors import Stale
from hashrange.patterns.steps import Steps, fresh, invoke, procedure
from hashrange.patterns.tables import Table
from hashrange.patterns.values import Item

_VERSION, _WRITER = "version", "written_by"


class Versioned(msgspec.Struct, frozen=True):
    """An item without what the pattern adds, and its version; 0 is that of one that is not there."""

    item: Item | None
    version: int


class OptimisticLock(msgspec.Struct, frozen=True):
    """Items with the attributes `version`, which every write adds one to, and `written_by`, a name for the write.

    The name tells a write that the SDK sent twice, and that fails on its own first attempt, from one of somebody else.
    """

    table: Table

    @procedure
    def read(self, key: Mapping[str, Any]) -> Steps[Versioned]:
        return (yield from self._read(key))

    def _read(self, key: Mapping[str, Any]) -> Steps[Versioned]:
        item = yield from self.table.get(key)
        if item is None:
            return Versioned(None, 0)
        version = int(item.get(_VERSION, 0))
        return Versioned({name: item[name] for name in item if name not in (_VERSION, _WRITER)}, version)

    @procedure
    def write(self, item: Item, version: int) -> Steps[int]:
        """Replace the item of this version; gives the new version. Raises Stale if it is no longer the current one."""
        return (yield from self._write(item, version))

    def _write(self, item: Item, version: int) -> Steps[int]:
        name = yield from fresh()
        stored = {**item, _VERSION: version + 1, _WRITER: name}
        condition = "#version = :version" if version else "attribute_not_exists(#version)"
        values = {"version": version} if version else {}
        failed = yield from self.table.tried(self.table.putting(stored, condition, **values))
        if failed is not None and (failed.stored or {}).get(_WRITER) != name:
            raise Stale(f"version {version} is not the current one")
        return version + 1

    @procedure
    def delete(self, key: Mapping[str, Any], version: int) -> Steps[None]:
        """Delete the item if it has this version still; one that is gone already is fine."""
        write = self.table.deleting(key, "#version = :version", version=version)
        failed = yield from self.table.tried(write)
        if failed is not None and failed.stored is not None:
            raise Stale(f"version {version} is not the current one")

    @procedure
    def change(
        self, key: Mapping[str, Any], change: Callable[[Item | None], Any], *, attempts_max: int = 10
    ) -> Steps[Item]:
        """Read, change and write, again from the beginning where somebody else was faster. `change` may run often."""
        attempt = 1
        while True:
            read = yield from self._read(key)
            item: Item = {**(yield from invoke(change, read.item)), **key}
            try:
                yield from self._write(item, read.version)
            except Stale:
                if attempt >= attempts_max:
                    raise
            else:
                return item
            yield self.table.retry.pause(attempt)
            attempt += 1
