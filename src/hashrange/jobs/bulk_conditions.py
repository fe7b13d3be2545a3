"""The conditions of bulk records, read as PutItem reads its own."""

from collections.abc import Iterator
from typing import Any

from hashrange.api.items.parameters import refuse_idle_names, refuse_idle_values, resolver
from hashrange.core.errors import Refused
from hashrange.core.expressions import Condition
from hashrange.core.keys import key_paths
from hashrange.core.schema import Table
from hashrange.formats.bulk_records import BulkRecord
from hashrange.formats.errors import Rejection


def with_conditions(
    records: Iterator[BulkRecord | Rejection], table: Table
) -> Iterator[BulkRecord | Rejection]:
    """Records whose commands have their conditions; those with a wrong one are rejected."""
    for record in records:
        if isinstance(record, BulkRecord):
            try:
                record.command.condition = _condition(record, table)
            except Refused as refused:
                yield Rejection(record.index, refused.message)
                continue
        yield record


def _condition(record: BulkRecord, table: Table) -> Condition | None:
    request: Any = record  # it has the members of a request
    text = record.condition_expression
    if text is None:
        refuse_idle_names(request)
        refuse_idle_values(request, ("condition_expression",), named=False)
        return None
    binding = resolver(request)
    condition = binding.condition("ConditionExpression", text)
    binding.finish()
    key_paths.refuse_nested(table, table.indexes, condition)
    return condition
