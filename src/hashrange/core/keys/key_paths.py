"""Key attributes are scalars: expressions may not have paths into them."""

from collections.abc import Iterable
from typing import Protocol

from hashrange.core.errors import Invalid
from hashrange.core.schema import Index, Table

_RULE = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed"


class Mentioning(Protocol):
    """A condition, projection or update."""

    @property
    def nested(self) -> frozenset[str]:
        """Top-level names of the attributes that its paths lead into."""


def refuse_nested(table: Table, indexes: Iterable[Index], *expressions: Mentioning | None) -> None:
    """Refuse a path into an attribute of the table's key or of the key of one of these indexes."""
    for expression in expressions:
        if expression is not None and expression.nested:
            _refuse(table, indexes, expression.nested)


def _refuse(table: Table, indexes: Iterable[Index], nested: frozenset[str]) -> None:
    for key in table.keys:
        if key.name in nested:
            raise Invalid(f"{_RULE}: Key: {key.name}")
    for index in indexes:
        for key in index.keys:
            if key.name in nested:
                raise Invalid(f"{_RULE}: IndexKey: {key.name}")
