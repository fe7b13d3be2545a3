"""Running a SELECT: its reads one after the other, up to a page."""

from collections.abc import Iterable

import msgspec
import orjson

from hashrange.api import errors, page_reads
from hashrange.api.context import Context
from hashrange.api.partiql_tokens import Resume
from hashrange.api.table_names import data_table
from hashrange.core.capacity import Consumed
from hashrange.core.expressions.document_paths import find
from hashrange.core.keys.ranges import KeyRange
from hashrange.core.limits import PAGE_BYTES_MAX, STATEMENT_READS_PER_PAGE
from hashrange.core.partiql import Bound
from hashrange.core.partiql.selection import Selection, select
from hashrange.core.partiql.syntax import Column, Select
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item
from hashrange.storage.engine import Reader
from hashrange.storage.pages import Page, PageRequest, read_page

_EVERYTHING = KeyRange(b"", b"")


class Query(msgspec.Struct, frozen=True):
    """A SELECT ready to run."""

    name: str  # of the table, as the statement has it
    selection: Selection
    statement: Select
    request: PageRequest  # for all its reads alike
    consistent: bool


class Rows(msgspec.Struct):
    """One page of a SELECT."""

    consumed: Consumed
    rows: list[bytes] = msgspec.field(default_factory=list)
    resume: Resume | None = None
    last: Item | None = None


def plan(context: Context, bound: Bound, statement: Select, *, consistent: bool) -> Query:
    """Find table and index, and say how to read them."""
    table = data_table(context, statement.target.table)
    index = _index(context, table, statement.target.index, consistent=consistent)
    selection = select(bound, statement, table, index)
    named = all(len(column.path.parts) == 1 for column in statement.columns)
    request = PageRequest(
        table=table,
        index=index,
        key_range=_EVERYTHING,
        reverse=selection.reverse,
        keep=selection.keep,
        projection=bound.prepared.projection if named else None,
        fetch=selection.fetch,
    )
    return Query(statement.target.table, selection, statement, request, consistent)


def _index(context: Context, table: Table, name: str | None, *, consistent: bool) -> Index | None:
    if name is None:
        return None
    index = table.index_by_name.get(name)
    if index is None or index.status == "DELETING":
        # Unlike Query, this does not say which.
        raise errors.validation("The table does not have the specified index")
    if consistent and not index.local:
        raise errors.validation("Strongly consistent read is not supported on Global Secondary Indexes")
    if not index.readable(context.clock.now()):
        raise errors.validation(f"Cannot read from backfilling global secondary index: {name}")
    return index


def read(reader: Reader, query: Query, limit: int | None = None, resume: Resume | None = None) -> Rows:
    """Read one page."""
    found = Rows(Consumed(query.request.table, query.name))
    key_ranges = query.selection.key_ranges
    if key_ranges is None:
        _scan(reader, query, found, limit, resume)
    else:
        _read_key_ranges(reader, query, found, key_ranges, limit, resume or Resume(0, None))
    if query.selection.single:
        found.resume = found.last = None
    if query.request.projection is None and query.statement.columns:
        found.rows = [orjson.dumps(picked(query.statement.columns, orjson.loads(row))) for row in found.rows]
    return found


def _scan(reader: Reader, query: Query, found: Rows, limit: int | None, resume: Resume | None) -> None:
    request = query.request
    partitions = page_reads.partitions(reader, request.table, request.index)
    after = None if resume is None else resume.after
    _read_one(
        reader,
        query,
        found,
        msgspec.structs.replace(request, limit=limit, start_after=after, partitions=partitions),
        0,
    )


def _read_key_ranges(
    reader: Reader,
    query: Query,
    found: Rows,
    key_ranges: tuple[KeyRange, ...],
    limit: int | None,
    resume: Resume,
) -> None:
    left, size = limit, 0
    after = resume.after
    for number in range(resume.read, len(key_ranges)):
        if number == resume.read + STATEMENT_READS_PER_PAGE:
            found.resume = Resume(number, None)
            return
        request = msgspec.structs.replace(
            query.request, key_range=key_ranges[number], limit=left, start_after=after
        )
        page = _read_one(reader, query, found, request, number)
        size += sum(page.sizes.values())
        if left is not None:
            left -= page.scanned
        if page.last is not None:
            return
        if size >= PAGE_BYTES_MAX and number + 1 < len(key_ranges):
            found.resume = Resume(number + 1, None)
            return
        after = None


def _read_one(reader: Reader, query: Query, found: Rows, request: PageRequest, number: int) -> Page:
    page = read_page(reader, request)
    found.rows += page.rows
    units = page_reads.consumed(query.name, request, page, consistent=query.consistent)
    found.consumed.add(units.units)
    if request.index is not None:
        found.consumed.add_index(request.index, sum(units.indexes.values()))
    if page.last is not None:
        found.last = page.last
        found.resume = Resume(number, page_reads.start_key_bytes(request.table, request.index, page.last))
    return page


def picked(columns: Iterable[Column], item: Item) -> Item:
    """The columns of an item, each under its own name; a path that leads nowhere gives none."""
    found = {}
    for column in columns:
        value = find(item, column.path.parts)
        if value is not None:
            found[column.name] = value
    return found
