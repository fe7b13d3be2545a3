"""Scan: read a whole table or index, or one segment of it, in the order of its hashed keys."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.items import pages
from hashrange.api.items.parameters import refuse_idle_names, refuse_idle_values, refuse_mixing, resolver
from hashrange.api.items.structures import AttributesToGet, Conditions
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import (
    AttributeMap,
    AttributeNames,
    ConditionalOperator,
    IndexName,
    Limit,
    Request,
    ReturnConsumedCapacity,
    Select,
    TableName,
)
from hashrange.api.table_names import data_table
from hashrange.core import partitions
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, Projection, legacy
from hashrange.core.keys import key_paths, ranges
from hashrange.core.keys.ranges import KeyRange
from hashrange.core.limits import TOTAL_SEGMENTS_MAX
from hashrange.storage.pages import PageRequest


class Scan(Request, kw_only=True):
    """The request."""

    select: Select | None = None
    index_name: IndexName | None = None
    total_segments: Annotated[int, Meta(ge=1, le=TOTAL_SEGMENTS_MAX)] | None = None
    return_consumed_capacity: ReturnConsumedCapacity | None = None
    table_name: TableName
    conditional_operator: ConditionalOperator | None = None
    scan_filter: Conditions | None = None
    segment: Annotated[int, Meta(ge=0, le=TOTAL_SEGMENTS_MAX - 1)] | None = None
    limit: Limit | None = None
    attributes_to_get: AttributesToGet | None = None
    consistent_read: bool | None = None
    exclusive_start_key: AttributeMap | None = None
    filter_expression: str | None = None
    projection_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None
    expression_attribute_values: AttributeMap | None = None


# Scan's values are still read by the older layer where its parameters are read by the newer one (measured).
SHAPE = Shape(Scan, newer=("Limit", "Segment", "TotalSegments"))

_WRONG_SEGMENT = (
    "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "
    "Segment. TotalSegments: {} Segment: {}"
)
_LEGACY = ("attributes_to_get", "scan_filter", "conditional_operator")
_EXPRESSIONS = ("projection_expression", "filter_expression")


def scan(context: Context, request: Scan) -> Plan:
    """Check filter, projection and segment, then read a page."""
    refuse_mixing(request, _LEGACY, _EXPRESSIONS)
    pages.check_select(request)
    refuse_idle_names(request, request.projection_expression, request.filter_expression)
    refuse_idle_values(request, ("filter_expression",))
    start = pages.start_key_values(request, wording="coral")
    key_range = _segment(request)
    keep, projection = _read_parts(request)
    table = data_table(context, request.table_name)
    index = pages.find_index(context, table, request.index_name, consistent=request.consistent_read is True)
    start_after = None
    if start is not None:
        start_after = pages.start_key_bytes(table, index, start)
        if not ranges.within(key_range, start_after):
            raise Invalid(_WRONG_SEGMENT.format(request.total_segments, request.segment))
    key_paths.refuse_nested(table, table.indexes, projection, keep)
    page_request = PageRequest(
        table=table,
        index=index,
        key_range=key_range,
        limit=request.limit,
        start_after=start_after,
        keep=keep,
        projection=projection,
        counted_only=request.select == "COUNT",
        fetch=pages.needs_items(table, index, request.select, projection),
        partitions=partitions.of(table, index),
    )
    return pages.plan(context, request, page_request)


def _segment(request: Scan) -> KeyRange:
    segment, total = request.segment, request.total_segments
    if segment is None and total is None:
        return KeyRange(b"", b"")
    if total is None:
        raise Invalid(
            "The TotalSegments parameter is required but was not present in the request when Segment parameter "
            "is present"
        )
    if segment is None:
        raise Invalid(
            "The Segment parameter is required but was not present in the request when parameter TotalSegments "
            "is present"
        )
    if segment >= total:
        raise Invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments")
    return ranges.segment_range(segment, total)


def _read_parts(request: Scan) -> tuple[Condition | None, Projection | None]:
    """Filter and projection, from expressions or from the legacy parameters."""
    keep = projection = None
    if request.attributes_to_get is not None:
        projection = legacy.attributes_to_get(request.attributes_to_get)
    if request.scan_filter is not None or request.conditional_operator is not None:
        conditions = (request.scan_filter or {}).items()
        comparisons = {name: condition.canonical(wording="coral") for name, condition in conditions}
        keep = legacy.filter_conditions(comparisons, request.conditional_operator)
    binding = resolver(request, wording="coral")
    if request.filter_expression is not None:
        keep = binding.condition("FilterExpression", request.filter_expression)
    if request.projection_expression is not None:
        projection = binding.projection(request.projection_expression)
    binding.finish()
    return keep, projection
