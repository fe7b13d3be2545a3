"""Query and Scan as pure computation: which stretch of keys to read, and which partitions that visits."""

from collections.abc import Sequence
from typing import assert_never

import msgspec

from hashrange.core import indexes, keys, primary_key
from hashrange.core.errors import Invalid
from hashrange.core.expressions import KeyClause, KeyOperator
from hashrange.core.limits import (
    PARTITION_KEY_BYTES_MAX,
    SORT_KEY_BYTES_MAX,
)
from hashrange.core.partitions import HASH_SPACE
from hashrange.core.schema import Index, KeyAttribute, ScalarType, Table
from hashrange.core.values import Item

_TYPE_MISMATCH = (
    "One or more parameter values were invalid: Condition parameter type does not match schema type"
)
_UNSUPPORTED = "Query key condition not supported"


class Stretch(msgspec.Struct, frozen=True):
    """Keys from start up to, not including, end; relative to the rows of a table or index."""

    start: bytes
    end: bytes  # empty: to the very end


def query_stretch(table: Table, index: Index | None, clauses: list[KeyClause]) -> Stretch:
    """The keys that a query's conditions select."""
    by_name = {clause.attribute: clause for clause in clauses}
    hash_keys = (table.hash,) if index is None else index.hash
    range_keys = table.keys[1:] if index is None else index.range
    _check_conditions(by_name, hash_keys, range_keys, index)
    prefix = keys.partition_prefix([by_name[key.name].operands[0] for key in hash_keys])
    conditions = [(key, by_name[key.name]) for key in range_keys if key.name in by_name]
    for key, clause in conditions:
        if index is None or clause.operator != "=":
            operands = [keys.scalar(operand) for operand in clause.operands]
            return narrow(prefix, clause.operator, operands, None if index is None else key.type)
        prefix += keys.terminated(clause.operands[0])
    return all_below(prefix)


def _check_conditions(
    by_name: dict[str, KeyClause],
    hash_keys: tuple[KeyAttribute, ...],
    range_keys: tuple[KeyAttribute, ...],
    index: Index | None,
) -> None:
    known = len(hash_keys) + len(range_keys)
    if len(by_name) > known:
        raise Invalid(
            f"The number of query conditions ({len(by_name)}) exceeds the number of key attributes defined in the "
            f"schema ({known})"
        )
    for key in hash_keys:
        _check_hash(by_name.get(key.name), key, index)
    open_ended: list[str] = []  # range attributes without an equality: nothing may come behind them
    used = len(hash_keys)
    for key in range_keys:
        clause = by_name.get(key.name)
        if clause is None:
            open_ended.append(key.name)
            continue
        if open_ended:
            raise Invalid(
                f"RANGE key attributes {open_ended[0]} must have equality conditions specified in the query "
                f"because a condition is present on key attribute {key.name}"
            )
        _check_operands(clause, key, SORT_KEY_BYTES_MAX, index)
        if clause.operator != "=":
            open_ended.append(key.name)
        used += 1
    if used < len(by_name):
        missing = next((key for key in range_keys if key.name not in by_name), hash_keys[0])
        raise Invalid(f"Query condition missed key schema element: {missing.name}")


def _check_hash(clause: KeyClause | None, key: KeyAttribute, index: Index | None) -> None:
    if clause is None:
        raise Invalid(f"Query condition missed key schema element: {key.name}")
    if clause.operator != "=":
        raise Invalid(_UNSUPPORTED)
    _check_operands(clause, key, PARTITION_KEY_BYTES_MAX, index)


def _check_operands(clause: KeyClause, key: KeyAttribute, bytes_max: int, index: Index | None) -> None:
    for value in clause.operands:
        if key.type not in value:
            raise Invalid(_TYPE_MISMATCH)
        length = len(keys.scalar(value))
        if length == 0:
            raise primary_key.empty_key(key) if index is None else indexes.empty_key(index, key)
        if length > bytes_max:
            raise Invalid(indexes.too_long_message(bytes_max))


def all_below(prefix: bytes) -> Stretch:
    """All keys that start with this prefix."""
    return Stretch(prefix, keys.after(prefix) if prefix.rstrip(b"\xff") else b"")


def narrow(
    prefix: bytes, operator: KeyOperator, operands: Sequence[bytes], ended: ScalarType | None
) -> Stretch:
    """The part of a partition that a condition on its sort key selects.

    `ended` is the type of a sort key that more follows, as in an index.
    """
    if operator == "begins_with":
        start = operands[0] if ended is None else operands[0].replace(b"\x00", b"\x00\xff")
        return all_below(prefix + start)
    low = high = prefix + (operands[0] if ended is None else keys.ended(operands[0], ended))
    match operator:
        case "<":
            return Stretch(prefix, low)
        case "<=":
            return Stretch(prefix, _behind(low, ended))
        case ">":
            return Stretch(_behind(low, ended), all_below(prefix).end)
        case ">=":
            return Stretch(low, all_below(prefix).end)
        case "BETWEEN":
            high = prefix + (operands[1] if ended is None else keys.ended(operands[1], ended))
        case "=":
            pass
        case _:
            assert_never(operator)
    return Stretch(low, _behind(high, ended))


def _behind(key: bytes, ended: ScalarType | None) -> bytes:
    """The first key behind a sort key value (and, in an index, behind all its ties)."""
    return key + b"\x00" if ended is None else keys.after(key)


def scan_stretch(segment: int, total_segments: int) -> Stretch:
    """The keys of one segment of a parallel scan: an equal share of the hash space."""
    if total_segments == 1:
        return Stretch(b"", b"")
    low = HASH_SPACE * segment // total_segments
    high = HASH_SPACE * (segment + 1) // total_segments
    return Stretch(low.to_bytes(8, "big"), b"" if high == HASH_SPACE else high.to_bytes(8, "big"))


def within(stretch: Stretch, key: bytes) -> bool:
    """Whether a key lies in the stretch."""
    return key >= stretch.start and (not stretch.end or key < stretch.end)


def last_evaluated_key(table: Table, index: Index | None, item: Item) -> Item:
    """What the client sends back to read on: the table's key and, in an index, the index's too."""
    names = [key.name for key in table.keys]
    if index is not None:
        names += [key.name for key in index.keys if key.name not in table.key_names]
    return {name: item[name] for name in names}
