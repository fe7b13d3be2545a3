"""The quick way of Query: key conditions alone, with a text and names that were accepted before for the same table."""

from functools import partial
from typing import Any

import msgspec

from hashrange.api import page_reads
from hashrange.api.context import Context
from hashrange.api.parameters import resolver
from hashrange.api.plan import Read
from hashrange.api.table_names import ready_table
from hashrange.core import items
from hashrange.core.expressions import open_key_condition
from hashrange.core.keys.template import KeyTemplate
from hashrange.core.schema import Index, Table
from hashrange.storage import layout
from hashrange.storage.engine import Reader
from hashrange.storage.pages import PageRequest, read_page

_MEMBERS = frozenset(
    (
        "TableName",
        "IndexName",
        "KeyConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
        "ScanIndexForward",
        "ConsistentRead",
        "Limit",
        "ReturnConsumedCapacity",
    )
)
_LIMIT_MAX = 2**31 - 1
_KNOWN_MAX = 1024  # after so many different queries the cache starts anew
_KNOWN_CHARS_MAX = 512  # of a text, and of all names together; longer ones are judged each time

Key = tuple[str, Any, Any, Any]


class _Known(msgspec.Struct, frozen=True):
    """A query that was accepted for this very record of its table; another record asks for a new judgement."""

    table: Table
    index: Index | None
    template: KeyTemplate


_known: dict[Key, _Known] = {}


def quick_query(context: Context, request: dict[str, Any]) -> Read | None:
    """What query would plan, if it is known and its values are plainly right; whatever is not, it has to judge."""
    name = request.get("TableName")
    if type(name) is not str or not request.keys() <= _MEMBERS:
        return None
    table = ready_table(context, name)
    if table is None:
        return None
    try:
        known = _known[_key(table, request)]
    except (KeyError, TypeError, AttributeError):  # not known, not hashable, or no map of names
        return None
    index = known.index
    if known.table is not table or (
        index is not None and index.status != "ACTIVE" and not index.readable(context.clock.now())
    ):
        return None
    consistent, limit = request.get("ConsistentRead", False), request.get("Limit")
    if (
        type(consistent) is not bool
        or (consistent and index is not None and not index.local)
        or (limit is not None and not (type(limit) is int and 1 <= limit <= _LIMIT_MAX))
        or request.get("ReturnConsumedCapacity", "NONE") != "NONE"
    ):
        return None
    return _plan(known, request, limit, eventual=not consistent)


def _plan(known: _Known, request: dict[str, Any], limit: int | None, *, eventual: bool) -> Read | None:
    forward = request.get("ScanIndexForward", True)
    if type(forward) is not bool:
        return None
    table, template = known.table, known.template
    values = request.get("ExpressionAttributeValues")
    if template.whole and limit != 1:  # where a limit is reached, the answer says so
        key = template.key_or_none(values)
        if key is None:
            return None
        row = layout.rows_prefix(table.number, layout.BASE_SLOT) + key
        return Read(partial(_one_item, row), (row,), eventual)
    key_range = template.key_range_or_none(values)
    if key_range is None:
        return None
    page_request = PageRequest(
        table=table, index=known.index, key_range=key_range, limit=limit, reverse=not forward
    )
    return Read(partial(_page, page_request), (), eventual)


def _one_item(row: bytes, reader: Reader) -> bytes:
    stored = reader.get(row)
    if stored is None:
        return b'{"Items":[],"Count":0,"ScannedCount":0}'
    return b'{"Items":[' + stored[items.HEADER_BYTES :] + b'],"Count":1,"ScannedCount":1}'


def _page(page_request: PageRequest, reader: Reader) -> bytes:
    return page_reads.plain_answer(read_page(reader, page_request))


def _key(table: Table, request: dict[str, Any]) -> Key:
    names = request.get("ExpressionAttributeNames")
    return (
        table.table_id,
        request.get("KeyConditionExpression"),
        request.get("IndexName"),
        None if names is None else tuple(names.items()),
    )


def learn(request: dict[str, Any], table: Table, index: Index | None) -> None:
    """Remember a request that query has accepted."""
    # Beside another expression it would matter which of the two uses a placeholder.
    if not request.keys() <= _MEMBERS:
        return
    text, names = request["KeyConditionExpression"], request.get("ExpressionAttributeNames") or {}
    if max(len(text), sum(map(len, names)) + sum(map(len, names.values()))) > _KNOWN_CHARS_MAX:
        return
    key = _key(table, request)
    known = _known.get(key)
    if known is not None and known.table is table:
        return
    if len(_known) >= _KNOWN_MAX:
        _known.clear()
    condition = resolver(request).condition("KeyConditionExpression", text)
    template = KeyTemplate(table, index, open_key_condition(condition))
    _known[key] = _Known(table, index, template)
