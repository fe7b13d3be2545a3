"""FilterSpecification of an export: which items are wanted, and what of them."""

from typing import Any

from hashrange.api.items.parameters import refuse_idle_names, refuse_idle_values, resolver
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, Projection, key_condition, matches, pick
from hashrange.core.keys import key_paths, ranges
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage.export_rows import ExportFilter

_VALUED = ("key_condition_expression", "filter_expression")


class Filter:
    """The expressions, ready to run. They are checked as those of a Query and a Scan are."""

    def __init__(self, table: Table, spec: ExportFilter) -> None:
        """Resolve the expressions; raises what is wrong with them."""
        request: Any = spec
        texts = (spec.key_condition_expression, spec.filter_expression, spec.projection_expression)
        refuse_idle_names(request, *texts)
        refuse_idle_values(request, _VALUED)
        binding = resolver(request)
        self._keys: ranges.KeyRange | None = None
        self._keep: Condition | None = None
        self._projection: Projection | None = None
        keys = None if texts[0] is None else binding.condition("KeyConditionExpression", texts[0])
        if texts[1] is not None:
            self._keep = binding.condition("FilterExpression", texts[1])
        if texts[2] is not None:
            self._projection = binding.projection(texts[2])
        binding.finish()
        if keys is not None:
            self._keys = ranges.query_range(table, None, key_condition(keys))
        key_paths.refuse_nested(table, table.indexes, self._projection, self._keep)

    def picked(self, key: bytes, item: Item, stored_bytes: int) -> Item | None:
        """What is wanted of an item; None if it is not wanted at all."""
        if self._keys is not None and not ranges.within(self._keys, key):
            return None
        try:
            if self._keep is not None and not matches(self._keep, item, stored_bytes):
                return None
        except Invalid:
            return None
        return item if self._projection is None else pick(self._projection, item)
