"""Puts without conditions into plain tables, from the bytes of a request to those of its items.

Nobody looks into such an item apart from its key, so no objects are made of what it holds: the compiled helper
(`_sent_puts.c`) reads requests in which nothing is unusual. All others, and all where there is no helper, are decoded.
"""

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import msgspec

from hashrange.api import errors
from hashrange.api.protocol.structures import Request
from hashrange.api.results import ItemWritten, PlainWritten
from hashrange.core.keys import primary_key
from hashrange.core.mutation import Origin, Puts
from hashrange.core.schema import Table
from hashrange.storage import catalogue, store
from hashrange.storage.engine import Transaction

Columns = tuple[list[bytes], list[int]]  # the JSON of items, and their sizes


class Helper(NamedTuple):
    """The functions of the compiled helper, which says what they do."""

    one: Callable[[bytes | bytearray], tuple[str, str | None, bytes, int] | None]
    batch: Callable[[bytes | bytearray], tuple[dict[str, Columns], str | None] | None]
    key: Callable[..., dict[str, Any] | None]


helper: Helper | None
try:
    from hashrange.api.items import _sent_puts
except ImportError:
    helper = None
else:
    helper = Helper(_sent_puts.one, _sent_puts.batch, _sent_puts.key)


class SentPutItem(Request):
    """A PutItem that has an item and hardly anything else."""

    table_name: str
    return_consumed_capacity: str | None
    json: bytes
    size: int
    # Never sent: see `writes.Reporting`.
    return_values: None = None
    return_item_collection_metrics: None = None
    return_values_on_condition_check_failure: None = None


class SentBatchWriteItem(Request):
    """A BatchWriteItem that has puts and hardly anything else."""

    request_items: dict[str, Columns]
    return_consumed_capacity: str | None
    return_item_collection_metrics: None = None


def read_one(body: bytes | bytearray) -> SentPutItem | None:
    """The PutItem of a body; None: it has to be decoded."""
    if b"Expression" in body:
        return None  # most likely a condition, which is found sooner this way than behind the item
    sent = None if helper is None else helper.one(body)
    return None if sent is None else SentPutItem(*sent)


def read_batch(body: bytes | bytearray) -> SentBatchWriteItem | None:
    """The BatchWriteItem of a body; None: it has to be decoded."""
    sent = None if helper is None else helper.batch(body)
    return None if sent is None else SentBatchWriteItem(*sent)


class TablePuts(msgspec.Struct, frozen=True):
    """What a request puts into one table."""

    name: str  # as the request has it
    table: Table
    puts: Puts

    def write(self, tx: Transaction, origin: Origin) -> Sequence[PlainWritten | ItemWritten]:
        """Store the items in the table as it is now."""
        table = catalogue.current(tx, self.table)
        if table is None:
            raise errors.not_found()
        if table.is_plain:
            units = store.put_all(tx, table, self.puts, origin)
            return (PlainWritten(table, self.name, self.puts.keys, units),)
        # It has got an index or an expiry since the request was planned.
        return [
            ItemWritten(table, self.name, store.apply(tx, table, command, origin))
            for command in self.puts.commands()
        ]

    def reads(self) -> list[bytes]:
        """The rows that the writes look at for sure."""
        return [row for key in self.puts.keys for row in store.reads(self.table, key)]


def key_or_none(table: Table, json: bytes) -> bytes | None:
    """The key bytes of an item that the helper has read; None: the key is not right."""
    if helper is None:
        return None
    return primary_key.of_key_or_none(table, helper.key(json, *table.key_names))


def table_puts(name: str, table: Table, jsons: list[bytes], sizes: list[int]) -> TablePuts | None:
    """The puts of items that the helper has read; None: a key is not right, or two are the same."""
    if helper is None:
        return None
    sent = list(map(helper.key, jsons, *map(repeat, table.key_names)))
    keys = primary_key.of_keys_or_none(table, sent)
    if keys is None or len(set(keys)) < len(keys):
        return None
    return TablePuts(name, table, Puts(keys, sizes, jsons))
