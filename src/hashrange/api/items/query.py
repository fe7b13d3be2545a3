"""Query: read the items of one partition, in the order of their sort key."""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import get_args

from hashrange.api.context import Context
from hashrange.api.items import pages
from hashrange.api.items.newer_shapes import QueryShape
from hashrange.api.items.parameters import refuse_idle_names, refuse_idle_values, refuse_mixing, resolver
from hashrange.api.items.prepared import Key, PreparedQuery, canonical_or_none
from hashrange.api.items.structures import AttributesToGet, Conditions
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.structures import (
    AttributeMap,
    AttributeNames,
    IndexName,
    Limit,
    Request,
    ReturnConsumedCapacity,
    Select,
    TableName,
    UncheckedConditionalOperator,
    UncheckedSelect,
)
from hashrange.api.results import KeyQueried, Result
from hashrange.api.table_names import data_table, ready_table
from hashrange.core import indexes, partitions
from hashrange.core.errors import Invalid
from hashrange.core.expressions import (
    Binder,
    Condition,
    KeyClause,
    OpenClause,
    Projection,
    QueryTemplate,
    key_condition,
    legacy,
    open_key_condition,
)
from hashrange.core.keys import key_paths, ranges
from hashrange.core.keys.template import KeyTemplate
from hashrange.core.limits import INDEX_KEY_ATTRIBUTES_MAX
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item
from hashrange.storage import store
from hashrange.storage.engine import Reader
from hashrange.storage.pages import PageRequest


class Query(Request, kw_only=True):
    """The request."""

    select: UncheckedSelect | None = None
    index_name: IndexName | None = None
    return_consumed_capacity: ReturnConsumedCapacity | None = None
    query_filter: Conditions | None = None
    table_name: TableName
    conditional_operator: UncheckedConditionalOperator | None = None
    attributes_to_get: AttributesToGet | None = None
    limit: Limit | None = None
    key_conditions: Conditions | None = None
    scan_index_forward: bool | None = None
    consistent_read: bool | None = None
    exclusive_start_key: AttributeMap | None = None
    key_condition_expression: str | None = None
    filter_expression: str | None = None
    projection_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None
    expression_attribute_values: AttributeMap | None = None


SHAPE = QueryShape(Query)

_SELECTS: tuple[str, ...] = get_args(Select)
_LEGACY = ("attributes_to_get", "query_filter", "conditional_operator")
_EXPRESSIONS = ("projection_expression", "filter_expression", "key_condition_expression")
_VALUED = ("filter_expression", "key_condition_expression")
# With one of these members a query is judged each time.
_UNPREPARED = (
    "exclusive_start_key",
    "query_filter",
    "attributes_to_get",
    "conditional_operator",
    "key_conditions",
)
_unprepared = attrgetter(*_UNPREPARED)
_NONE_OF_THEM = (None,) * len(_UNPREPARED)
_prepared_texts = attrgetter("index_name", *_EXPRESSIONS, "select")


class _Parts:
    """Key conditions, filter and projection of a request, from expressions or from the legacy parameters."""

    __slots__ = ("binding", "clauses", "keep", "open_clauses", "projection")

    def __init__(self, request: Query) -> None:
        self.keep: Condition | None = None
        self.projection: Projection | None = None
        self.open_clauses: tuple[OpenClause, ...] = ()
        if request.query_filter is not None or request.conditional_operator is not None:
            comparisons = {name: value.canonical() for name, value in (request.query_filter or {}).items()}
            self.keep = legacy.filter_conditions(comparisons, request.conditional_operator)
        if request.attributes_to_get is not None:
            self.projection = legacy.attributes_to_get(request.attributes_to_get)
        self.binding: Binder = resolver(request)
        text = request.key_condition_expression
        condition = None if text is None else self.binding.condition("KeyConditionExpression", text)
        if request.filter_expression is not None:
            self.keep = self.binding.condition("FilterExpression", request.filter_expression)
        if request.projection_expression is not None:
            self.projection = self.binding.projection(request.projection_expression)
        self.binding.finish()
        self.clauses: list[KeyClause]
        if condition is not None:
            self.clauses = key_condition(condition)
            self.open_clauses = open_key_condition(condition)
        else:
            conditions = request.key_conditions or {}
            comparisons = {name: value.canonical() for name, value in conditions.items()}
            # How many attributes the key of an index has is known once the table is.
            attributes_max = 2 if request.index_name is None else 2 * INDEX_KEY_ATTRIBUTES_MAX
            self.clauses = legacy.key_conditions(comparisons, attributes_max=attributes_max)


def query(context: Context, request: Query) -> Plan:
    """Bind a query that was accepted before, or resolve it; then read a page."""
    plan = _prepared(context, request)
    if plan is not None:
        return plan
    _check_parameters(request)
    start = pages.start_key_values(request, wording="newer")
    parts = _Parts(request)
    table = data_table(context, request.table_name)
    index = pages.find_index(context, table, request.index_name, consistent=request.consistent_read is True)
    start_after = None if start is None else pages.start_key_bytes(table, index, start)
    if start is not None and index is None and table.range is None:
        raise Invalid(f"The provided exclusive start key is invalid: ExclusiveStartKey: {_shown(start)}")
    _check_count(request, index)
    key_range = ranges.query_range(table, index, parts.clauses)
    if start is not None:
        _check_start(table, index, parts.clauses, key_range, start)
    key_paths.refuse_nested(table, table.indexes, parts.projection, parts.keep)
    _refuse_key_filter(table, index, parts.keep, legacy_filter=request.query_filter is not None)
    _refuse_unprojected_filter(table, index, parts.keep)
    fetch = pages.needs_items(table, index, request.select, parts.projection)
    if _is_preparable(request):
        template = QueryTemplate(parts.keep, parts.projection, parts.binding.value_checks())
        keys = KeyTemplate(table, index, parts.open_clauses)
        plain = parts.keep is None and parts.projection is None and request.select != "COUNT"
        prepared = PreparedQuery(table, index, keys, template, fetch, plain and keys.whole)
        context.prepared.add_query(_prepared_key(table, request), prepared)
    page_request = PageRequest(
        table=table,
        index=index,
        key_range=key_range,
        limit=_limit(table, index, request),
        reverse=request.scan_index_forward is False,
        start_after=start_after,
        keep=parts.keep,
        projection=parts.projection,
        counted_only=request.select == "COUNT",
        fetch=fetch,
        partitions=partitions.crossed(table, index, key_range.start, key_range.end),
    )
    return pages.plan(context, request, page_request)


def _is_preparable(request: Query) -> bool:
    return request.key_condition_expression is not None and _unprepared(request) == _NONE_OF_THEM


def _prepared_key(table: Table, request: Query) -> Key:
    names, values = request.expression_attribute_names, request.expression_attribute_values
    return (
        table.number,
        _prepared_texts(request),
        None if names is None else tuple(names.items()),
        None if values is None else tuple(values),
    )


def _prepared(context: Context, request: Query) -> Read | None:
    """The plan of a query like one that was accepted before; None if the long path has to judge it."""
    if not _is_preparable(request):
        return None
    table = ready_table(context, request.table_name)
    if table is None:
        return None
    prepared = context.prepared.queries.get(_prepared_key(table, request))
    if prepared is None or prepared.table is not table:
        return None
    index, consistent = prepared.index, request.consistent_read is True
    if prepared.single and (request.limit != 1 or table.range is None):
        return _single(context, prepared, request, consistent=consistent)
    if index is not None and (
        (consistent and not index.local)
        or (index.status != "ACTIVE" and not index.readable(context.clock.now()))
    ):
        return None
    return _bound(context, prepared, request)


def _single(context: Context, prepared: PreparedQuery, request: Query, *, consistent: bool) -> Read | None:
    table, gate = prepared.table, context.gate
    key = prepared.keys.key_or_none(request.expression_attribute_values)
    if key is None:
        return None
    row = store.row_key(table, key)
    step: Callable[[Reader], Result] = partial(_one_item, table, request.table_name, key, row, consistent)
    if gate is not None and (table.tags or gate.guards_all):
        step = gate.guarded(table, None, key, step)
    return Read(step, (row,), not consistent)


def _bound(context: Context, prepared: PreparedQuery, request: Query) -> Read | None:
    table, keys, template = prepared.table, prepared.keys, prepared.template
    sent = request.expression_attribute_values
    keep = None
    if template.filters:
        bound = canonical_or_none(sent)
        keep = None if bound is None else template.bind_or_none(bound)
        if keep is None:
            return None
    key_range = keys.key_range_or_none(sent)
    if key_range is None:
        return None
    page_request = PageRequest(
        table=table,
        index=prepared.index,
        key_range=key_range,
        limit=_limit(table, prepared.index, request),
        reverse=request.scan_index_forward is False,
        keep=keep,
        projection=template.projection,
        counted_only=request.select == "COUNT",
        fetch=prepared.fetch,
        partitions=partitions.crossed(table, prepared.index, key_range.start, key_range.end),
    )
    return pages.plan(context, request, page_request)


def _limit(table: Table, index: Index | None, request: Query) -> int | None:
    """A partition of a table without a sort key has one item: no limit is reached, and no page follows (measured)."""
    return None if index is None and table.range is None else request.limit


def _one_item(
    table: Table, name: str, key: bytes, row: bytes, consistent: bool, reader: Reader
) -> KeyQueried:
    return KeyQueried(table, name, key, reader.get(row), None, consistent)


def _check_start(
    table: Table, index: Index | None, clauses: list[KeyClause], key_range: ranges.KeyRange, start: Item
) -> None:
    """The starting key must lie in what the conditions select."""
    hash_keys = (table.hash,) if index is None else index.hash
    if ranges.within(key_range, pages.start_key_bytes(table, index, start)):
        return
    if len(clauses) == len(hash_keys):
        raise Invalid("The provided starting key is outside query boundaries based on provided conditions")
    by_name = {clause.attribute: clause.operands[0] for clause in clauses}
    at_home = start | {key.name: by_name[key.name] for key in hash_keys}
    if ranges.within(key_range, pages.start_key_bytes(table, index, at_home)):
        # Only the partition is another one; the words are the service's.
        raise Invalid("The query can return at most one row and cannot be restarted")
    raise Invalid("The provided starting key does not match the range key predicate")


def _shown(key: Item) -> str:
    """A key as the service shows it."""
    members = (
        f"{name}={{{kind}:{content}}}" for name, value in key.items() for kind, content in value.items()
    )
    return f"{{{', '.join(members)}}}"


def _check_count(request: Query, index: Index | None) -> None:
    """More than two legacy conditions are for indexes whose keys have more attributes."""
    allowed = 2 if index is None else max(2, len(index.keys))
    if len(request.key_conditions or ()) > allowed:
        raise Invalid(legacy.WRONG_COUNT)


def _check_parameters(request: Query) -> None:
    has_expression = request.key_condition_expression is not None
    legacy_fields = (*_LEGACY, "key_conditions") if has_expression else _LEGACY
    refuse_mixing(request, legacy_fields, _EXPRESSIONS)
    if len(request.query_filter or ()) > 1:
        legacy.check_operator(request.conditional_operator)
    if request.select is not None and request.select not in _SELECTS:
        raise Invalid(
            f"1 validation error detected: Value '{request.select}' at 'select' failed to satisfy constraint: Member "
            f"must satisfy enum value set: [{', '.join(_SELECTS)}]"
        )
    pages.check_select(request)
    refuse_idle_names(
        request,
        request.projection_expression,
        request.filter_expression,
        request.key_condition_expression,
    )
    refuse_idle_values(request, _VALUED)
    if request.key_conditions is None and not has_expression:
        raise Invalid(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )


def _refuse_key_filter(
    table: Table, index: Index | None, keep: Condition | None, *, legacy_filter: bool
) -> None:
    if keep is None:
        return
    parameter = "QueryFilter" if legacy_filter else "Filter Expression"
    for key in table.keys if index is None else index.keys:
        if key.name in keep.attributes:
            raise Invalid(
                f"{parameter} can only contain non-primary key attributes: Primary key attribute: {key.name}"
            )


def _refuse_unprojected_filter(table: Table, index: Index | None, keep: Condition | None) -> None:
    """A query's filter may only name what the index carries; a scan's may name anything, and finds nothing."""
    carried = None if index is None else indexes.projected_names(table, index)
    if index is None or keep is None or carried is None:
        return
    absent = sorted(keep.attributes - carried)
    if absent:
        raise Invalid(
            f"One or more parameter values were invalid: Secondary index {index.name} does not project one or more "
            f"filter attributes: [{', '.join(absent)}]"
        )
