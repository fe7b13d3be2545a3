"""Unique constraints: one more item for each unique value, written in the same transaction."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hashrange.patterns.errors import AlreadyExists, NotFound, Stale, Taken, TransactionCanceled
from hashrange.patterns.steps import Steps, procedure
from hashrange.patterns.tables import Table, Write
from hashrange.patterns.values import Item, digest

_FIELDS_MAX = 49  # a replacement writes two items for each, and one
_VALUE_BYTES_MAX = 1_024  # a partition key may have 2,048


class UniqueConstraint(msgspec.Struct, frozen=True):
    """Attributes of text whose values no two items share. The item `UNIQUE#field#value` belongs to whoever has it.

    Values are compared as they are: lower their case before, where `A@x` and `a@x` are the same.
    """

    table: Table
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.fields) <= _FIELDS_MAX:
            raise ValueError(f"1 to {_FIELDS_MAX} attributes can be unique")
        if any(not field.isidentifier() or field in {"pk", "sk"} for field in self.fields):
            raise ValueError("unique attributes are named by letters, digits and _, and are no keys")

    @procedure
    def create(self, item: Item, *, token: str = "") -> Steps[None]:
        """Store a new item. Raises AlreadyExists, or Taken with the attribute.

        The same token within ten minutes is the same creation: a caller who does not know whether it was done asks
        again.
        """
        claims = list(self._claims(item))
        entity = self.table.putting(item, "attribute_not_exists(#pk)")
        try:
            yield from self.table.transact([entity, *(claim for _, claim in claims)], token)
        except TransactionCanceled as canceled:
            if 0 in canceled.failed:
                raise AlreadyExists(str(self.table.key_of(item))) from canceled
            raise self._taken(canceled, [field for field, _ in claims], item, 1) from canceled

    @procedure
    def replace(self, item: Item, *, attempts_max: int = 10) -> Steps[None]:
        """Store an item in place of the one with its key: gives up its values, takes the new ones, all or nothing."""
        for attempt in range(1, attempts_max + 1):
            stored = yield from self.table.get(self.table.key_of(item))
            if stored is None:
                raise NotFound(str(self.table.key_of(item)))
            if (yield from self._replaced(item, stored)):
                return
            yield self.table.retry.pause(attempt)
        raise Stale(str(self.table.key_of(item)))

    def _replaced(self, item: Item, stored: Item) -> Steps[bool]:
        """False if somebody else has changed a unique value since the item was read."""
        changed = [field for field in self.fields if item.get(field) != stored.get(field)]
        claims = list(self._claims({**self.table.key_of(item), **_only(item, changed)}))
        entity = self.table.putting(item, *self._unchanged(stored), **self._values(stored))
        released = self._releases({**self.table.key_of(item), **_only(stored, changed)})
        try:
            yield from self.table.transact([entity, *(claim for _, claim in claims), *released])
        except TransactionCanceled as canceled:
            if 0 in canceled.failed:
                return False
            raise self._taken(canceled, [field for field, _ in claims], item, 1) from canceled
        return True

    @procedure
    def delete(self, key: Mapping[str, Any], *, attempts_max: int = 10) -> Steps[None]:
        """Delete an item and give up its values; one that is gone already is fine."""
        for attempt in range(1, attempts_max + 1):
            stored = yield from self.table.get(key)
            if stored is None:
                return
            entity = self.table.deleting(key, *self._unchanged(stored), **self._values(stored))
            try:
                yield from self.table.transact([entity, *self._releases(stored)])
            except TransactionCanceled as canceled:
                if 0 not in canceled.failed:
                    raise
            else:
                return
            yield self.table.retry.pause(attempt)
        raise Stale(str(key))

    @procedure
    def owner(self, field: str, value: str) -> Steps[Item | None]:
        """The key of the item that has this value."""
        claim = yield from self.table.get(self._key(field, value))
        return self.table.key(claim["owner_pk"], claim["owner_sk"]) if claim else None

    def _claims(self, item: Item) -> Iterator[tuple[str, Write]]:
        key = self.table.key_of(item)
        owner = {"owner_pk": key[self.table.partition_key], "owner_sk": key[self.table.sort_key]}
        for field in self.fields:
            if item.get(field) is not None:
                claim = {**self._key(field, item[field]), **owner}
                yield field, self.table.putting(claim, "attribute_not_exists(#pk)")

    def _releases(self, item: Item) -> list[Write]:
        return [
            self.table.deleting(self._key(field, item[field]))
            for field in self.fields
            if item.get(field) is not None
        ]

    def _unchanged(self, stored: Item) -> list[str]:
        """The condition that an item's unique values are still those that were read."""
        return [
            "attribute_exists(#pk)"
            + "".join(
                f" AND #{field} = :{field}" if field in stored else f" AND attribute_not_exists(#{field})"
                for field in self.fields
            )
        ]

    def _values(self, stored: Item) -> dict[str, Any]:
        return {field: stored[field] for field in self.fields if field in stored}

    def _taken(self, canceled: TransactionCanceled, fields: list[str], item: Item, first: int) -> Exception:
        for number in canceled.failed:
            if first <= number < first + len(fields):
                field = fields[number - first]
                return Taken(field, item[field])
        return canceled

    def _key(self, field: str, value: str) -> Item:
        if not isinstance(value, str):
            raise TypeError(f"{field} is no text")
        # Long values are named by their digest, under a prefix of its own: no short value can pose as one.
        if len(value.encode()) > _VALUE_BYTES_MAX:
            return self.table.key(f"UNIQUE-DIGEST#{field}#{digest(value)}", "UNIQUE")
        return self.table.key(f"UNIQUE#{field}#{value}", "UNIQUE")


def _only(item: Item, fields: list[str]) -> Item:
    return {field: item[field] for field in fields if field in item}
