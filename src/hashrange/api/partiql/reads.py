"""Running a SELECT: its reads one after the other, up to a page."""

import msgspec

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.items.pages import page_result, start_key_bytes
from hashrange.api.partiql.tokens import Resume
from hashrange.api.results import PageRead
from hashrange.api.table_names import data_table
from hashrange.api.throttling.gate import Tab
from hashrange.api.throttling.refusals import Refusal
from hashrange.core import partitions
from hashrange.core.keys.ranges import KeyRange
from hashrange.core.limits import PAGE_BYTES_MAX, STATEMENT_READS_PER_PAGE
from hashrange.core.partiql import Bound
from hashrange.core.partiql.selection import Selection, select
from hashrange.core.partiql.syntax import Select
from hashrange.core.partitions import Partitions
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item
from hashrange.storage.engine import Reader
from hashrange.storage.pages import Page, PageRequest, read_page

_EVERYTHING = KeyRange(b"", b"")


class Query(msgspec.Struct, frozen=True):
    """A SELECT ready to run."""

    table_name: str  # as the statement has it
    selection: Selection
    request: PageRequest  # for all its reads alike
    consistent: bool


class Rows(msgspec.Struct):
    """One page of a SELECT: a page of each of its reads that had their turn."""

    pages: list[PageRead] = msgspec.field(default_factory=list)
    resume: Resume | None = None
    last: Item | None = None
    tab: Tab | None = None


def plan(context: Context, bound: Bound, statement: Select, *, consistent: bool) -> Query:
    """Find table and index, and say how to read them."""
    table = data_table(context, statement.target.table)
    index = _index(context, table, statement.target.index, consistent=consistent)
    selection = select(bound, statement, table, index)
    request = PageRequest(
        table=table,
        index=index,
        key_range=_EVERYTHING,
        reverse=selection.reverse,
        keep=selection.keep,
        projection=bound.prepared.picker,
        fetch=selection.fetch,
    )
    return Query(statement.target.table, selection, request, consistent)


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


def read(
    reader: Reader, query: Query, limit: int | None, resume: Resume | None, tab: Tab | None = None
) -> Rows:
    """Read one page; of several reads, one that finds no capacity is left to the next page."""
    rows = Rows(tab=tab)
    key_ranges = query.selection.key_ranges
    if key_ranges is None:
        _scan(reader, query, rows, limit, resume)
    else:
        _read_key_ranges(reader, query, rows, key_ranges, limit, resume or Resume(0, None))
    if query.selection.single:
        rows.resume = rows.last = None
    return rows


def _scan(reader: Reader, query: Query, rows: Rows, limit: int | None, resume: Resume | None) -> None:
    request = msgspec.structs.replace(
        query.request,
        limit=limit,
        start_after=None if resume is None else resume.after,
        partitions=partitions.of(query.request.table, query.request.index),
    )
    _read_one(reader, query, rows, request, 0)


def _read_key_ranges(
    reader: Reader,
    query: Query,
    rows: Rows,
    key_ranges: tuple[KeyRange, ...],
    limit: int | None,
    resume: Resume,
) -> None:
    left, size = limit, 0
    after = resume.after
    for number in range(resume.read, len(key_ranges)):
        if number == resume.read + STATEMENT_READS_PER_PAGE:
            rows.resume = Resume(number, None)
            return
        request = msgspec.structs.replace(
            query.request,
            key_range=key_ranges[number],
            limit=left,
            start_after=after,
            partitions=_crossed(query.request, key_ranges[number]),
        )
        page = _read_one(reader, query, rows, request, number)
        if page is None:
            return
        size += sum(page.sizes.values())
        if left is not None:
            left -= page.scanned
        if page.last is not None:
            return
        if size >= PAGE_BYTES_MAX and number + 1 < len(key_ranges):
            rows.resume = Resume(number + 1, None)
            return
        after = None


def _crossed(request: PageRequest, key_range: KeyRange) -> Partitions:
    return partitions.crossed(request.table, request.index, key_range.start, key_range.end)


def _read_one(reader: Reader, query: Query, rows: Rows, request: PageRequest, number: int) -> Page | None:
    """Read one page; None where there is no capacity for it, and other reads are to be answered with."""
    table, index, tab = request.table, request.index, rows.tab
    if tab is not None:
        refusal = tab.read_refusal(table, index, request.first_key)
        if refusal is not None:
            _end(rows, refusal, Resume(number, request.start_after))
            return None
    page = read_page(reader, request)
    result = page_result(query.table_name, request, page, consistent=query.consistent)
    if tab is not None:
        refusal = tab.take_page(result)
        if refusal is not None:
            _end(rows, refusal, Resume(number, request.start_after))
            return None
    rows.pages.append(result)
    if page.last is not None:
        rows.last = page.last
        rows.resume = Resume(number, start_key_bytes(table, index, page.last))
    return page


def _end(rows: Rows, refusal: Refusal, resume: Resume) -> None:
    """End the page before a read that finds no capacity, unless it is the first."""
    if not rows.pages:
        raise refusal.error()
    rows.resume = resume
