"""The columns of a SELECT: values inside documents come back under the last name of their path."""

from functools import partial

from hashrange.core.expressions import Picker
from hashrange.core.expressions.document_paths import find
from hashrange.core.partiql.syntax import Column, Select
from hashrange.core.values import Item


def picker(statement: Select) -> Picker | None:
    """What makes the columns of an item; None if all its attributes are wanted."""
    return partial(_pick, statement.columns) if statement.columns else None


def _pick(columns: tuple[Column, ...], item: Item) -> Item:
    """A path that leads nowhere gives no column."""
    picked = {}
    for column in columns:
        value = find(item, column.path.parts)
        if value is not None:
            picked[column.name] = value
    return picked
