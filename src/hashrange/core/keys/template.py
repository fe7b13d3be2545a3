"""A key condition that was accepted once for a table or index, ready for other values."""

from collections.abc import Sequence
from typing import Any

from hashrange.core.expressions import KeyOperator, OpenClause, Parameter
from hashrange.core.keys import encoding, primary_key, ranges
from hashrange.core.keys.ranges import KeyRange
from hashrange.core.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from hashrange.core.schema import Index, ScalarType, Table


class KeyTemplate:
    """Which placeholder stands for what.

    Its methods take values as sent, under the names that were accepted, and give None where these are not plainly
    right: `ranges` has to judge them. Values that only a filter uses may be among them.
    """

    __slots__ = (
        "_equal",
        "_hash_keys",
        "_names",
        "_operands",
        "_operator",
        "_strings",
        "_table",
        "_terminated",
        "whole",
    )

    def __init__(self, table: Table, index: Index | None, clauses: Sequence[OpenClause]) -> None:
        by_name = {clause[0]: clause for clause in clauses}
        self._table = table
        hash_keys = (table.hash,) if index is None else index.hash
        range_keys = table.keys[1:] if index is None else index.range
        self._hash_keys = len(hash_keys)
        self._equal: list[ScalarType] = []  # types of an index's sort key attributes that have an equality
        self._operator: KeyOperator | None = None
        self._terminated: ScalarType | None = None
        self._operands: list[tuple[str, ScalarType, int]] = []
        for key in hash_keys:
            self._add(by_name[key.name], key.type, PARTITION_KEY_BYTES_MAX)
        for key in range_keys:
            if key.name not in by_name:
                break
            self._add(by_name[key.name], key.type, SORT_KEY_BYTES_MAX)
            operator = by_name[key.name][1]
            if index is not None and operator == "=":
                self._equal.append(key.type)
            else:
                self._operator, self._terminated = operator, None if index is None else key.type
        # Whether it is the whole key of a table: at most one item has it.
        self.whole = index is None and (not range_keys or self._operator == "=")
        # Of such a key: each attribute and its placeholder.
        self._names = [(key.name, part[0]) for key, part in zip(table.keys, self._operands, strict=False)]
        # The placeholders, if it is of strings.
        self._strings: tuple[str, str | None] | None = None
        if self.whole and table.string_key is not None and len(self._names) == len(table.keys):
            self._strings = self._names[0][1], self._names[1][1] if range_keys else None

    def _add(self, clause: OpenClause, kind: ScalarType, bytes_max: int) -> None:
        for operand in clause[2]:
            if isinstance(operand, Parameter):
                self._operands.append((operand.name, kind, bytes_max))

    def key_or_none(self, values: Any) -> bytes | None:
        """The key of the one item, if the template is of a `whole` key."""
        names, helper = self._strings, primary_key.helper
        if names is not None and helper is not None:
            return helper(values, names[0], names[1], False)
        if type(values) is not dict:
            return None
        key = {}
        for name, placeholder in self._names:
            key[name] = values.get(placeholder)
        return primary_key.of_key_or_none(self._table, key)

    def key_range_or_none(self, values: Any) -> KeyRange | None:
        """The keys that the condition selects."""
        parts = self._parts_or_none(values)
        if parts is None:
            return None
        at = self._hash_keys
        prefix = encoding.joined_prefix(parts[:at])
        for kind in self._equal:
            prefix += encoding.escape_and_terminate(parts[at], kind)
            at += 1
        if self._operator is None:
            return ranges.prefix_range(prefix)
        operands = parts[at:]
        if self._operator == "BETWEEN" and operands[0] > operands[1]:
            return None
        return ranges.sort_key_range(prefix, self._operator, operands, self._terminated)

    def _parts_or_none(self, values: Any) -> list[bytes] | None:
        if type(values) is not dict:
            return None
        parts = []
        for name, kind, bytes_max in self._operands:
            part = encoding.scalar_or_none(values.get(name), kind, bytes_max)
            if part is None:
                return None
            parts.append(part)
        return parts
