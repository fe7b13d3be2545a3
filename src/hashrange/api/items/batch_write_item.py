"""BatchWriteItem: put or delete up to 25 items, in several tables, without conditions."""

from functools import partial
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.items import sent_puts, writes
from hashrange.api.items.sent_puts import SentBatchWriteItem, table_puts
from hashrange.api.protocol.kinds import ListOf, MapOf, Sent, Violation
from hashrange.api.protocol.operation import Shortcut
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Refined, Shape, is_enumeration
from hashrange.api.protocol.structures import (
    AttributeMap,
    Request,
    ReturnConsumedCapacity,
    ReturnItemCollectionMetrics,
    Structure,
    TableNameKey,
)
from hashrange.api.results import ItemsWritten, ItemWritten, PlainWritten
from hashrange.api.table_names import data_table
from hashrange.api.throttling.gate import Tab
from hashrange.api.throttling.refusals import Refusal, throttled
from hashrange.core import indexes, mutation, plain_items, values
from hashrange.core.errors import Invalid
from hashrange.core.items import of_json
from hashrange.core.keys import primary_key
from hashrange.core.limits import BATCH_WRITE_ITEMS_MAX
from hashrange.core.mutation import DeleteCommand, Origin, PutCommand, Puts
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import catalogue, store
from hashrange.storage.engine import Transaction


class PutRequest(Structure, kw_only=True):
    """An item to put."""

    item: AttributeMap


class DeleteRequest(Structure, kw_only=True):
    """An item to delete."""

    key: AttributeMap


class WriteRequest(Structure, kw_only=True):
    """One or the other."""

    put_request: PutRequest | None = None
    delete_request: DeleteRequest | None = None


class _RequestItems(MapOf):
    """A map of lists whose length is constrained as the map's value."""

    def violations(self, value: Any, path: str) -> Any:
        if not all(0 < len(requests) <= BATCH_WRITE_ITEMS_MAX for requests in value.values()):
            rule = (
                "Map value must satisfy constraint: [Member must have length less than or equal to "
                f"{BATCH_WRITE_ITEMS_MAX}, Member must have length greater than or equal to 1]"
            )
            yield self.echo(value), path, rule
        yield from MapOf.violations(self, value, path)


def _request_items(kind: MapOf) -> MapOf:
    if not isinstance(kind.element, ListOf):
        raise TypeError(kind)
    return _RequestItems(ListOf(kind.element.element, parameterized=True), key=kind.key)


class BatchWriteItem(Request, kw_only=True):
    """The request."""

    return_consumed_capacity: ReturnConsumedCapacity | None = None
    return_item_collection_metrics: ReturnItemCollectionMetrics | None = None
    request_items: (
        Annotated[
            dict[
                TableNameKey,
                Annotated[list[WriteRequest], Meta(min_length=1, max_length=BATCH_WRITE_ITEMS_MAX)],
            ],
            Refined(_request_items),
        ]
        | None
    ) = None


def _narrowed(sent: Sent, violations: list[Violation]) -> list[Violation]:
    """Bad enumerations are reported without what is wrong with RequestItems (measured)."""
    return [violation for violation in violations if is_enumeration(violation)] or violations


SHAPE = Shape(BatchWriteItem, narrowed=_narrowed)


class BatchWritten(ItemsWritten):
    """The items written, and those that found no capacity, to be sent again."""

    items: list[ItemWritten | PlainWritten]
    unwritten: dict[str, list[WriteRequest]]  # by the names that the request has for their tables
    refusals: list[Refusal]


class _TableWrites(msgspec.Struct, frozen=True):
    """The writes to one table."""

    name: str
    table: Table
    writes: list[tuple[PutCommand | DeleteCommand, Item]]

    def puts(self) -> Puts | None:
        """All of them, if nothing is deleted."""
        commands = [command for command, _ in self.writes if type(command) is PutCommand]
        return Puts.of(commands) if len(commands) == len(self.writes) else None


def batch_write_item(context: Context, request: BatchWriteItem) -> Plan:
    """Check all items and keys, then find the tables."""
    tables = request.request_items
    if not tables:
        raise Invalid("The requestItems parameter is required for BatchWriteItem")
    if sum(map(len, tables.values())) > BATCH_WRITE_ITEMS_MAX:
        raise Invalid("Too many items requested for the BatchWriteItem call")
    checked = {name: [_check(write) for write in requests] for name, requests in tables.items()}
    records = {name: data_table(context, name) for name in tables}
    return _plan(context, records, checked, sized=request.return_item_collection_metrics == "SIZE")


def _plan(
    context: Context, tables: dict[str, Table], checked: "dict[str, list[_Checked]]", *, sized: bool
) -> Write:
    parts = [_TableWrites(name, table, _commands(table, checked[name])) for name, table in tables.items()]
    origin = Origin(context.clock.now())
    tab = context.tab(*tables.values())
    step = partial(_run, parts, origin, sized, tab)
    return Write(step if tab is None else partial(tab.run, step), reads=lambda: _reads(parts))


def _reads(parts: list[_TableWrites]) -> list[bytes]:
    return [
        key for part in parts for command, _ in part.writes for key in store.reads(part.table, command.key)
    ]


_Checked = tuple[Item, int | None, bytes | None]


def _check(write: WriteRequest) -> _Checked:
    """An item with its size, and maybe its JSON; or a key with none."""
    put, delete = write.put_request, write.delete_request
    if put is not None and delete is None:
        item, size, json = plain_items.canonical(put.item, wording="coral")
        mutation.refuse_large(size)
        return item, size, json
    if delete is not None and put is None:
        return values.canonical_item(delete.key, wording="coral"), None, None
    # The service's own words for an element that is neither or both.
    raise Invalid(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
        "datatypes"
    )


def _commands(table: Table, checked: list[_Checked]) -> list[tuple[PutCommand | DeleteCommand, Item]]:
    commands: list[tuple[PutCommand | DeleteCommand, Item]] = []
    seen = set()
    for item, size, json in checked:
        key = primary_key.of_key(table, item) if size is None else primary_key.of_batch_item(table, item)
        if key in seen:
            raise Invalid("Provided list of item keys contains duplicates")
        seen.add(key)
        if size is None:
            commands.append((DeleteCommand(key), item))
        else:
            if table.indexes:
                indexes.check_index_keys(table, item)
            commands.append((PutCommand(key, item, size, None, json), item))
    return commands


def _run(
    parts: list[_TableWrites], origin: Origin, sized: bool, tab: Tab | None, tx: Transaction
) -> BatchWritten:
    batch = BatchWritten([], {}, [])
    for part in parts:
        table = catalogue.current(tx, part.table)
        if table is None:
            raise errors.not_found()
        puts = part.puts() if tab is None and not sized and table.is_plain else None
        if puts is not None:
            units = store.put_all(tx, table, puts, origin)
            batch.items.append(PlainWritten(table, part.name, puts.keys, units))
            continue
        tx.prefetch(store.row_keys(table, [command.key for command, _ in part.writes]))
        admitted = part.writes if tab is None else []
        try:
            for write in part.writes:
                refusal = None if tab is None else tab.write_refusal(table, write[0].key)
                if refusal is not None:
                    batch.refusals.append(refusal)
                    batch.unwritten.setdefault(part.name, []).append(_sent(*write))
                    continue
                written = ItemWritten(table, part.name, store.apply(tx, table, write[0], origin))
                batch.items.append(written)
                if tab is not None:
                    tab.take(written.charges())
                    admitted.append(write)
        except store.CollectionFull:
            raise writes.collection_full() from None
        if sized and admitted:
            # Sizes as they are once all of the table's writes are done.
            written_last = cast("list[ItemWritten]", batch.items[-len(admitted) :])
            for result, (command, item) in zip(written_last, admitted, strict=True):
                result.collection = writes.collection_size(tx, table, item, command.key)
    if batch.refusals and not batch.items:
        raise throttled(batch.refusals)
    return batch


def _sent(command: PutCommand | DeleteCommand, item: Item) -> WriteRequest:
    """The request for a write, to be sent again."""
    if isinstance(command, PutCommand):
        return WriteRequest(put_request=PutRequest(item=item))
    return WriteRequest(delete_request=DeleteRequest(key=item))


def _put_sent(context: Context, request: SentBatchWriteItem) -> Plan | None:
    """The plan of puts that the helper has read, if nothing is wrong with any of them."""
    tables = {name: data_table(context, name) for name in request.request_items}
    hold_more = [table for table in tables.values() if table.indexes or not table.is_plain]
    if hold_more or context.tab(*tables.values()) is not None:
        # Somebody is going to look into items, or may refuse them; they are checked and measured all the same.
        checked: dict[str, list[_Checked]] = {
            name: [(of_json(json), size, json) for json, size in zip(*columns, strict=True)]
            for name, columns in request.request_items.items()
        }
        return _plan(context, tables, checked, sized=False)
    parts = []
    for name, columns in request.request_items.items():
        part = table_puts(name, tables[name], *columns)
        if part is None:
            return None
        parts.append(part)
    origin = Origin(context.clock.now())

    def step(tx: Transaction) -> BatchWritten:
        return BatchWritten([written for part in parts for written in part.write(tx, origin)], {}, [])

    return Write(step, reads=lambda: [row for part in parts for row in part.reads()])


SHORTCUT = Shortcut(SentBatchWriteItem, sent_puts.read_batch, _put_sent)
