"""A SELECT of one item by its key, as most are: which parameter stands for which attribute of the key."""

from collections.abc import Mapping, Sequence
from typing import Any

from hashrange.core.errors import Invalid
from hashrange.core.expressions import resolved
from hashrange.core.expressions.resolved import Parameter, Path
from hashrange.core.keys import encoding
from hashrange.core.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from hashrange.core.partiql import decimals, syntax
from hashrange.core.partiql.pinned import conditions
from hashrange.core.schema import Table

# The place of the parameter that an attribute must equal.
Places = Mapping[str, int]


def places(statement: syntax.Statement, parameters: int) -> Places | None:
    """For each attribute its parameter, if the statement has nothing but whole attributes that equal one each."""
    if not isinstance(statement, syntax.Select) or statement.target.index is not None or statement.order:
        return None
    if any(len(column.path.parts) > 1 for column in statement.columns):
        return None  # a path into a key attribute is refused, and only the table tells
    found: dict[str, int] = {}
    for node in conditions(statement.where):
        match node:
            case resolved.Compare("=", Path((str(name),)), Parameter(parameter)):
                found[name] = int(parameter[1:]) - 1
            case _:
                return None
    is_one_each = sorted(found.values()) == list(range(parameters))
    return found if is_one_each and len(conditions(statement.where)) == len(found) else None


def key_or_none(table: Table, by_name: Places, parameters: Sequence[Any]) -> bytes | None:
    """The key bytes of the one item, from parameters as sent; None if they are not plainly those of a whole key."""
    partition, sort = table.hash, table.range
    if len(by_name) != len(parameters) or len(by_name) != (1 if sort is None else 2):
        return None
    raw = _scalar_or_none(by_name.get(partition.name), partition.type, PARTITION_KEY_BYTES_MAX, parameters)
    if raw is None:
        return None
    prefix = encoding.single_prefix(raw)
    if sort is None:
        return prefix
    rest = _scalar_or_none(by_name.get(sort.name), sort.type, SORT_KEY_BYTES_MAX, parameters)
    return None if rest is None else prefix + rest


def _scalar_or_none(place: int | None, kind: str, bytes_max: int, parameters: Sequence[Any]) -> bytes | None:
    if place is None:
        return None
    if kind == "N":
        try:
            decimals.check_all(parameters[place])
        except Invalid:
            return None
    return encoding.scalar_or_none(parameters[place], kind, bytes_max)
