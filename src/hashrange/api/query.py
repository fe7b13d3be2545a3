"""Query: read the items of one partition, in the order of their sort key."""

from typing import Any

from hashrange.api import page_reads, shapes
from hashrange.api.context import Context
from hashrange.api.item_shapes import ATTRIBUTES, ATTRIBUTES_TO_GET, CONDITIONS, NAMES
from hashrange.api.kinds import Flag, Member, Text, Violation, Whole
from hashrange.api.parameters import legacy_map, refuse_idle_placeholders, refuse_mixing, resolver
from hashrange.api.plan import Plan, Read
from hashrange.api.quick_query import learn, quick_query
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.core import indexes
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, KeyClause, Projection, key_condition, legacy
from hashrange.core.keys import key_paths, ranges
from hashrange.core.schema import Index, Table
from hashrange.core.values import Item
from hashrange.storage.engine import Reader
from hashrange.storage.pages import PageRequest, read_page


def _narrowed(given: dict[str, Any], found: list[Violation]) -> list[Violation]:
    """A bad ConditionalOperator comes before all else, in words of its own (measured)."""
    if any(path == "ConditionalOperator" for _, path, _ in found):
        raise Invalid(
            "Value at 'ConditionalOperator' failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
        )
    return found


SHAPE = Shape(
    {
        "Select": shapes.SELECT,
        "IndexName": shapes.INDEX_NAME,
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "QueryFilter": CONDITIONS,
        "TableName": Member(shapes.TABLE_NAME, required=True),
        "ConditionalOperator": shapes.CONDITIONAL_OPERATOR,
        "AttributesToGet": ATTRIBUTES_TO_GET,
        "Limit": Whole(least=1),
        "KeyConditions": CONDITIONS,
        "ScanIndexForward": Flag(),
        "ConsistentRead": Flag(),
        "ExclusiveStartKey": ATTRIBUTES,
        "KeyConditionExpression": Text(),
        "FilterExpression": Text(),
        "ProjectionExpression": Text(),
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": ATTRIBUTES,
    },
    newer=("Limit",),
    narrowed=_narrowed,
)

_LEGACY = ("AttributesToGet", "QueryFilter", "ConditionalOperator")
_EXPRESSIONS = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")

Parts = tuple[list[KeyClause], Condition | None, Projection | None]


@operation("Query", SHAPE, quick_query)
def query(context: Context, request: dict[str, Any]) -> Plan:
    _check_parameters(request)
    start = page_reads.start_key_values(request, wording="newer")
    clauses, keep, projection = _read_parts(request)
    table = data_table(context, request["TableName"])
    index = page_reads.find_index(context, table, request)
    start_after = None if start is None else page_reads.start_key_bytes(table, index, start)
    key_range = ranges.query_range(table, index, clauses)
    if start is not None:
        _check_start(table, index, clauses, key_range, start)
    key_paths.refuse_nested(table, () if index is None else (index,), projection, keep)
    _refuse_key_filter(table, index, keep, legacy_filter="QueryFilter" in request)
    _refuse_unprojected_filter(table, index, keep)
    page_request = PageRequest(
        table=table,
        index=index,
        key_range=key_range,
        limit=request.get("Limit"),
        reverse=not request.get("ScanIndexForward", True),
        start_after=start_after,
        keep=keep,
        projection=projection,
        counted_only=request.get("Select") == "COUNT",
        fetch=page_reads.needs_items(table, index, request, projection),
    )

    def step(reader: Reader) -> bytes:
        return page_reads.answer(request, page_request, read_page(reader, page_request))

    learn(request, table, index)
    return Read(step, eventual=not request.get("ConsistentRead", False))


def _check_start(
    table: Table, index: Index | None, clauses: list[KeyClause], key_range: ranges.KeyRange, start: Item
) -> None:
    """The starting key must lie in what the conditions select."""
    hash_keys = (table.hash,) if index is None else index.hash
    if ranges.within(key_range, page_reads.start_key_bytes(table, index, start)):
        return
    if len(clauses) == len(hash_keys):
        raise Invalid("The provided starting key is outside query boundaries based on provided conditions")
    by_name = {clause.attribute: clause.operands[0] for clause in clauses}
    at_home = start | {key.name: by_name[key.name] for key in hash_keys}
    if ranges.within(key_range, page_reads.start_key_bytes(table, index, at_home)):
        # Only the partition is another one; the words are the service's.
        raise Invalid("The query can return at most one row and cannot be restarted")
    raise Invalid("The provided starting key does not match the range key predicate")


def _check_parameters(request: dict[str, Any]) -> None:
    legacy_names = (*_LEGACY, "KeyConditions") if "KeyConditionExpression" in request else _LEGACY
    refuse_mixing(request, legacy_names, _EXPRESSIONS)
    try:
        page_reads.check_select(request)
    except Invalid as invalid:
        # Query announces this family, though it gives its other request errors bare (measured).
        raise Invalid(f"1 validation error detected: {invalid.message}") from None
    refuse_idle_placeholders(request, _EXPRESSIONS, ("FilterExpression", "KeyConditionExpression"))
    if "KeyConditions" not in request and "KeyConditionExpression" not in request:
        raise Invalid(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )


def _read_parts(request: dict[str, Any]) -> Parts:
    """Key conditions, filter and projection, from expressions or from the legacy parameters."""
    keep = projection = None
    if "QueryFilter" in request or "ConditionalOperator" in request:
        keep = legacy.filter_conditions(
            legacy_map(request.get("QueryFilter")), request.get("ConditionalOperator")
        )
    if "AttributesToGet" in request:
        projection = legacy.attributes_to_get(request["AttributesToGet"])
    binding = resolver(request)
    text = request.get("KeyConditionExpression")
    condition = None if text is None else binding.condition("KeyConditionExpression", text)
    if "FilterExpression" in request:
        keep = binding.condition("FilterExpression", request["FilterExpression"])
    if "ProjectionExpression" in request:
        projection = binding.projection(request["ProjectionExpression"])
    binding.finish()
    if condition is not None:
        return key_condition(condition), keep, projection
    return legacy.key_conditions(legacy_map(request["KeyConditions"]) or {}), keep, projection


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
