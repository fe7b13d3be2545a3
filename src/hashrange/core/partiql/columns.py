"""The columns of a SELECT: values inside documents come back under the last name of their path."""

import msgspec

from hashrange.core.expressions import Picker, cut_decoded, projection
from hashrange.core.expressions.document_paths import find
from hashrange.core.partiql.syntax import Column, Select
from hashrange.core.values import Item


class _Columns(msgspec.Struct, frozen=True):
    """Columns of which some are parts of documents."""

    columns: tuple[Column, ...]

    def __call__(self, item: Item) -> Item:
        """A path that leads nowhere gives no column."""
        picked = {}
        for column in self.columns:
            value = find(item, column.path.parts)
            if value is not None:
                picked[column.name] = value
        return picked

    def cut(self, rows: bytes) -> bytes:
        """The columns of items, both as JSON by commas."""
        return cut_decoded(self, rows)


def picker(statement: Select) -> Picker | None:
    """What makes the columns of an item; None if all its attributes are wanted."""
    columns = statement.columns
    if not columns:
        return None
    if all(column.path.parts == (column.name,) for column in columns):
        return projection(column.path for column in columns)
    return _Columns(columns)
