"""The table or index whose insights a request is about, and what it is told of them."""

import msgspec

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.table_names import control_table
from hashrange.core.schema import Index, Insights, InsightsStatus, Table
from hashrange.core.table_life import settled


class Observed(msgspec.Struct, frozen=True):
    """A table, or one of its global indexes."""

    table: Table
    index: Index | None

    @property
    def insights(self) -> Insights | None:
        """What is set, or was once."""
        return self.table.insights if self.index is None else self.index.insights

    @property
    def slot(self) -> int:
        """Where its rows are."""
        return 0 if self.index is None else self.index.slot

    @property
    def has_sort_key(self) -> bool:
        """Whether a key is more than a partition key."""
        return self.table.range is not None if self.index is None else bool(self.index.range)

    def status_at(self, now: float) -> InsightsStatus:
        """What clients see."""
        insights = self.insights
        return "DISABLED" if insights is None else insights.status_at(now)


def observed(context: Context, name_or_arn: str, index_name: str | None) -> Observed:
    """The resource that a request names."""
    table = settled(control_table(context, name_or_arn), context.clock.now())
    return Observed(table, None if index_name is None else global_index(table, index_name))


def global_index(table: Table, index_name: str) -> Index:
    """A global index by its name; local ones have no insights."""
    index = table.index_by_name.get(index_name)
    if index is None or index.local:
        raise errors.not_found(f"Requested resource not found: Table: {table.name} Index: {index_name}")
    return index


def all_observed(table: Table) -> list[Observed]:
    """A table and its global indexes, by name."""
    indexes = [index for index in table.indexes_by_name if not index.local]
    return [Observed(table, None), *(Observed(table, index) for index in indexes)]
