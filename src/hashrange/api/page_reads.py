"""What Query and Scan have in common: index, Select, projection, starting key and the page's answer."""

from typing import Any

import orjson

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.core import indexes, partitioning, values
from hashrange.core.capacity import Consumed
from hashrange.core.errors import Invalid, Wording
from hashrange.core.expressions import Projection
from hashrange.core.keys import primary_key
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item
from hashrange.storage import layout
from hashrange.storage.engine import Reader
from hashrange.storage.pages import Page, PageRequest

Request = dict[str, Any]

_PIECES_MAX = 64
_BAD_START = "The provided starting key is invalid"


def check_select(request: Request) -> None:
    """The rules that tie Select to projections and indexes; the projection's comes first."""
    select = request.get("Select")
    given = next((name for name in ("AttributesToGet", "ProjectionExpression") if name in request), None)
    if given is not None and select not in (None, "SPECIFIC_ATTRIBUTES"):
        shown = "only the Count" if select == "COUNT" else select
        raise Invalid(f"Cannot specify the {given} when choosing to get {shown}")
    if select == "SPECIFIC_ATTRIBUTES" and given is None:
        raise Invalid(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
        )
    if select == "ALL_PROJECTED_ATTRIBUTES" and "IndexName" not in request:
        raise Invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")


def find_index(context: Context, table: Table, request: Request) -> Index | None:
    """The index a request names; global ones are eventually consistent only."""
    name = request.get("IndexName")
    if name is None:
        return None
    index = table.index_by_name.get(name)
    if index is None or index.status == "DELETING":
        raise errors.validation(f"The table does not have the specified index: {name}")
    if not index.local and request.get("ConsistentRead"):
        raise errors.validation("Consistent reads are not supported on global secondary indexes")
    if not index.readable(context.clock.now()):
        raise errors.validation(f"Cannot read from backfilling global secondary index: {name}")
    return index


def start_key_values(request: Request, *, wording: Wording) -> Item | None:
    """ExclusiveStartKey in canonical form, before the table is looked at."""
    raw = request.get("ExclusiveStartKey")
    if raw is None:
        return None
    try:
        return values.canonical_item(raw, wording=wording)
    except Invalid as invalid:
        if "numeric" in invalid.message or "Number" in invalid.message or "number set" in invalid.message:
            raise
        if "duplicates" in invalid.message:
            raise
        raise Invalid(f"{_BAD_START}: {invalid.message}") from None


def start_key_bytes(table: Table, index: Index | None, start: Item) -> bytes:
    """Where the last page ended, as key bytes of the table or of the index."""
    needed = {key.name: key.type for key in table.keys}
    if index is not None:
        needed |= {key.name: key.type for key in index.keys}
    if start.keys() != needed.keys() or any(kind not in start[name] for name, kind in needed.items()):
        raise Invalid(_BAD_START)
    base = primary_key.of_key(table, primary_key.key_of(table, start))
    if index is None:
        return base
    entry = indexes.entry(table, index, start, base)
    if entry is None:
        raise Invalid(_BAD_START)
    return entry.key


def needs_items(table: Table, index: Index | None, request: Request, projection: Projection | None) -> bool:
    """Whether a local index must fetch the items themselves; a global one refuses instead."""
    if index is None:
        return False
    carried = indexes.projected_names(table, index)
    if carried is None:
        return False
    if request.get("Select") == "ALL_ATTRIBUTES":
        if index.local:
            return True
        raise Invalid(
            "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global "
            f"secondary index {index.name} because its projection type is not ALL"
        )
    missing = projection.attributes - carried if projection is not None else frozenset()
    if index.local:
        return bool(missing)
    if missing:
        raise Invalid(
            f"One or more parameter values were invalid: Global secondary index {index.name} does not project "
            f"[{', '.join(sorted(missing))}]"
        )
    return False


def partitions(reader: Reader, table: Table, index: Index | None) -> int:
    """Partitions of what is scanned."""
    slot = layout.BASE_SLOT if index is None else index.slot
    return partitioning.partition_count(table, index, reader.counter(layout.size_key(table.number, slot)))


def answer(request: Request, page_request: PageRequest, page: Page) -> bytes:
    """The answer of Query and Scan."""
    mode = request.get("ReturnConsumedCapacity", "NONE")
    report = b""
    if mode != "NONE":
        consistent = request.get("ConsistentRead", False)
        found = consumed(request["TableName"], page_request, page, consistent=consistent)
        report = b',"ConsumedCapacity":' + orjson.dumps(found.report(mode))
    if request.get("Select") == "COUNT":
        return b"{" + _counts(page) + report + b"}"
    return plain_answer(page, report)


def plain_answer(page: Page, report: bytes = b"") -> bytes:
    """The answer with all items."""
    rows = page.rows
    if len(rows) <= _PIECES_MAX:
        # Each may be large, and would be copied once more if they were joined by themselves first.
        pieces = [b","] * (2 * len(rows) - 1)
        pieces[::2] = rows
        rows = pieces
    else:
        rows = [b",".join(rows)]
    return b"".join((b'{"Items":[', *rows, b"],", _counts(page), report, b"}"))


def _counts(page: Page) -> bytes:
    last = b"" if page.last is None else b',"LastEvaluatedKey":' + orjson.dumps(page.last)
    return b'"Count":%d,"ScannedCount":%d%b' % (page.count, page.scanned, last)


def consumed(name: str, page_request: PageRequest, page: Page, *, consistent: bool) -> Consumed:
    """The units of a page: on the index that was read, and on the table for what was fetched there."""
    table, index = page_request.table, page_request.index
    report = Consumed(table, name)
    units = page.units(consistent=consistent)
    if index is None:
        report.add(units)
    else:
        report.add_index(index, units)
        report.add(page.fetch_units(consistent=consistent))
    return report
