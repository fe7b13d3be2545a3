"""What Query and Scan have in common: index, Select, projection, starting key and reading the page."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Read
from hashrange.api.protocol.structures import AttributeMap
from hashrange.api.results import PageRead, Result
from hashrange.core import indexes, values
from hashrange.core.errors import Invalid, RequestInvalid, Wording
from hashrange.core.expressions import Projection
from hashrange.core.keys import primary_key
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item
from hashrange.storage.engine import Reader
from hashrange.storage.pages import Page, PageRequest, read_page

_BAD_START = "The provided starting key is invalid"


class PagedRequest(Protocol):
    """What Query and Scan have in common."""

    table_name: str
    index_name: str | None
    select: Any
    attributes_to_get: list[str] | None
    projection_expression: str | None
    consistent_read: bool | None
    exclusive_start_key: AttributeMap | None


def check_select(request: PagedRequest) -> None:
    """The rules that tie Select to projections and indexes; the projection's comes first."""
    broken = _broken_select_rule(request)
    if broken is not None:
        # This family is announced, though other request errors of Query and Scan are given bare (measured).
        raise Invalid(f"1 validation error detected: {broken}")


def _broken_select_rule(request: PagedRequest) -> str | None:
    select = request.select
    if request.attributes_to_get is None and request.projection_expression is None:
        if select == "SPECIFIC_ATTRIBUTES":
            return "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
    elif select not in (None, "SPECIFIC_ATTRIBUTES"):
        parameter = "ProjectionExpression" if request.attributes_to_get is None else "AttributesToGet"
        shown = "only the Count" if select == "COUNT" else select
        return f"Cannot specify the {parameter} when choosing to get {shown}"
    if select == "ALL_PROJECTED_ATTRIBUTES" and request.index_name is None:
        return "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
    return None


def find_index(context: Context, table: Table, name: str | None, *, consistent: bool) -> Index | None:
    """The index of this name; global ones are eventually consistent only."""
    if name is None:
        return None
    index = table.index_by_name.get(name)
    if index is None or index.status == "DELETING":
        raise errors.validation(f"The table does not have the specified index: {name}")
    if not index.local and consistent:
        raise errors.validation("Consistent reads are not supported on global secondary indexes")
    if not index.readable(context.clock.now()):
        raise errors.validation(f"Cannot read from backfilling global secondary index: {name}")
    return index


def start_key_values(request: PagedRequest, *, wording: Wording) -> Item | None:
    """ExclusiveStartKey in canonical form, before the table is looked at."""
    raw = request.exclusive_start_key
    if raw is None:
        return None
    try:
        return values.canonical_item(raw, wording=wording)
    except Invalid as invalid:
        if _keeps_its_words(invalid, wording):
            raise
        raise Invalid(f"{_BAD_START}: {invalid.message}") from None


def _keeps_its_words(invalid: Invalid, wording: Wording) -> bool:
    """The newer layer announces only values that have no type, or several; the older one most that are not numbers."""
    if wording == "newer":
        return isinstance(invalid, RequestInvalid)
    return any(word in invalid.message for word in ("numeric", "Number", "number set", "duplicates"))


def start_key_bytes(table: Table, index: Index | None, start: Item) -> bytes:
    """Where the last page ended, as key bytes of the table or of the index."""
    needed = {key.name: key.type for key in table.keys}
    if index is not None:
        needed |= {key.name: key.type for key in index.keys}
    if start.keys() != needed.keys():
        raise Invalid(_BAD_START)
    if any(kind not in start[name] for name, kind in needed.items()):
        raise Invalid(primary_key.KEY_MISMATCH)
    base = primary_key.of_key(table, primary_key.key_of(table, start))
    if index is None:
        return base
    entry = indexes.entry(table, index, start, base)
    if entry is None:
        raise Invalid(_BAD_START)
    return entry.key


def needs_items(table: Table, index: Index | None, select: str | None, projection: Projection | None) -> bool:
    """Whether a local index must fetch the items themselves; a global one refuses instead."""
    if index is None:
        return False
    carried = indexes.projected_names(table, index)
    if carried is None:
        return False
    if select == "ALL_ATTRIBUTES":
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


def plan(context: Context, request: PagedRequest, page_request: PageRequest) -> Read:
    """The plan that reads a page."""
    consistent = request.consistent_read is True
    step: Callable[[Reader], Result] = partial(_read, request.table_name, page_request, consistent)
    gate, table = context.gate, page_request.table
    if gate is not None and (table.tags or gate.guards_all):
        # The partition that the page begins in is asked before; others that it turns out to read, afterwards.
        one = len(page_request.partitions) == 1 and not page_request.fetch
        guarded = gate.guarded if one else gate.guarded_page
        step = guarded(table, page_request.index, page_request.first_key, step)
    return Read(step, (), not consistent)


def _read(name: str, request: PageRequest, consistent: bool, reader: Reader) -> PageRead:
    page = read_page(reader, request)
    return page_result(name, request, page, consistent=consistent)


def page_result(name: str, request: PageRequest, page: Page, *, consistent: bool) -> PageRead:
    """What came of reading a page."""
    start = request.first_key if len(request.partitions) == 1 else request.lowest_key
    return PageRead(request.table, request.index, name, start, page, request.partitions, consistent)
