"""Scan: read a whole table or index, or one segment of it, in the order of its hashed keys."""

from typing import Any

import msgspec

from hashrange.api import page_reads, shapes
from hashrange.api.context import Context
from hashrange.api.item_shapes import ATTRIBUTES, ATTRIBUTES_TO_GET, CONDITIONS, NAMES
from hashrange.api.kinds import Flag, Member, Text, Whole
from hashrange.api.parameters import legacy_map, refuse_idle_placeholders, refuse_mixing, resolver
from hashrange.api.plan import Plan, Read
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, Projection, legacy
from hashrange.core.keys import key_paths, ranges
from hashrange.core.keys.ranges import KeyRange
from hashrange.core.limits import TOTAL_SEGMENTS_MAX
from hashrange.storage.engine import Reader
from hashrange.storage.pages import PageRequest, read_page

SHAPE = Shape(
    {
        "Select": shapes.SELECT,
        "IndexName": shapes.INDEX_NAME,
        "TotalSegments": Whole(least=1, most=TOTAL_SEGMENTS_MAX),
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "TableName": Member(shapes.TABLE_NAME, required=True),
        "ConditionalOperator": shapes.CONDITIONAL_OPERATOR,
        "ScanFilter": CONDITIONS,
        "Segment": Whole(least=0, most=TOTAL_SEGMENTS_MAX - 1),
        "Limit": Whole(least=1),
        "AttributesToGet": ATTRIBUTES_TO_GET,
        "ConsistentRead": Flag(),
        "ExclusiveStartKey": ATTRIBUTES,
        "FilterExpression": Text(),
        "ProjectionExpression": Text(),
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": ATTRIBUTES,
    }
)

_WRONG_SEGMENT = (
    "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "
    "Segment. TotalSegments: {} Segment: {}"
)
_LEGACY = ("AttributesToGet", "ScanFilter", "ConditionalOperator")
_EXPRESSIONS = ("ProjectionExpression", "FilterExpression")


@operation("Scan", SHAPE)
def scan(context: Context, request: dict[str, Any]) -> Plan:
    refuse_mixing(request, _LEGACY, _EXPRESSIONS)
    page_reads.check_select(request)
    refuse_idle_placeholders(request, _EXPRESSIONS, ("FilterExpression",))
    start = page_reads.start_key_values(request, wording="coral")
    key_range = _segment(request)
    keep, projection = _read_parts(request)
    table = data_table(context, request["TableName"])
    index = page_reads.find_index(context, table, request)
    start_after = None
    if start is not None:
        start_after = page_reads.start_key_bytes(table, index, start)
        if not ranges.within(key_range, start_after):
            raise Invalid(_WRONG_SEGMENT.format(request["TotalSegments"], request["Segment"]))
    key_paths.refuse_nested(table, () if index is None else (index,), projection, keep)
    page_request = PageRequest(
        table=table,
        index=index,
        key_range=key_range,
        limit=request.get("Limit"),
        start_after=start_after,
        keep=keep,
        projection=projection,
        counted_only=request.get("Select") == "COUNT",
        fetch=page_reads.needs_items(table, index, request, projection),
    )

    def step(reader: Reader) -> bytes:
        sized = msgspec.structs.replace(page_request, partitions=page_reads.partitions(reader, table, index))
        return page_reads.answer(request, sized, read_page(reader, sized))

    return Read(step, eventual=not request.get("ConsistentRead", False))


def _segment(request: dict[str, Any]) -> KeyRange:
    segment, total = request.get("Segment"), request.get("TotalSegments")
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
        raise Invalid(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {segment} is not less than TotalSegments: {total}"
        )
    return ranges.segment_range(segment, total)


def _read_parts(request: dict[str, Any]) -> tuple[Condition | None, Projection | None]:
    """Filter and projection, from expressions or from the legacy parameters."""
    keep = projection = None
    if "AttributesToGet" in request:
        projection = legacy.attributes_to_get(request["AttributesToGet"])
    if "ScanFilter" in request or "ConditionalOperator" in request:
        keep = legacy.filter_conditions(
            legacy_map(request.get("ScanFilter"), wording="coral"), request.get("ConditionalOperator")
        )
    binding = resolver(request, wording="coral")
    if "FilterExpression" in request:
        keep = binding.condition("FilterExpression", request["FilterExpression"])
    if "ProjectionExpression" in request:
        projection = binding.projection(request["ProjectionExpression"])
    binding.finish()
    return keep, projection
