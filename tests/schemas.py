"""Table records for unit tests of the core."""

from typing import Any

from hashrange.core.keys import primary_key
from hashrange.core.schema import Index, KeyAttribute, Table
from hashrange.core.values import Value


def attributes(*keys: str) -> tuple[KeyAttribute, ...]:
    """Key attributes from words like `pk:S`."""
    return tuple(KeyAttribute(*key.split(":")) for key in keys)  # type: ignore[arg-type]


def table(*keys: str, indexes: tuple[Index, ...] = (), **more: Any) -> Table:
    """A table with these keys, such as `pk:S` and `sk:N`."""
    known = attributes(*keys)
    return Table(
        account_id="000000000000",
        region="us-east-1",
        name="table",
        number=1,
        version=1,
        table_id="00000000-0000-0000-0000-000000000000",
        created_at=more.pop("created_at", 0.0),
        hash=known[0],
        range=known[1] if len(known) > 1 else None,
        indexes=indexes,
        **more,
    )


def index(name: str, hash_keys: str, range_keys: str = "", **more: Any) -> Index:
    """An index whose keys are given as words: `index("by-g", "g:S", "a:S b:N")`."""
    return Index(
        name=name,
        slot=more.pop("slot", 1),
        local=more.pop("local", False),
        hash=attributes(*hash_keys.split()),
        range=attributes(*range_keys.split()),
        **more,
    )


def item_key(partition: Value, sort: Value | None = None) -> bytes:
    """The key bytes of an item of a table that has such a key."""
    key = {"pk": partition} if sort is None else {"pk": partition, "sk": sort}
    return primary_key.of_key(table(*(f"{name}:{next(iter(value))}" for name, value in key.items())), key)
