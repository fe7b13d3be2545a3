"""Key ranges: which keys a query's conditions or a segment of a scan select."""

from collections.abc import Sequence
from typing import assert_never

import msgspec

from hashrange.core import indexes
from hashrange.core.errors import Invalid
from hashrange.core.expressions import KeyClause, KeyOperator
from hashrange.core.keys import encoding, primary_key
from hashrange.core.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from hashrange.core.partitions import HASH_SPACE, bound
from hashrange.core.schema import Index, KeyAttribute, ScalarType, Table

_TYPE_MISMATCH = (
    "One or more parameter values were invalid: Condition parameter type does not match schema type"
)
_UNSUPPORTED = "Query key condition not supported"


class KeyRange(msgspec.Struct, frozen=True):
    """Keys from start up to, not including, end; relative to the rows of a table or index."""

    start: bytes
    end: bytes  # empty: to the very end


def query_range(table: Table, index: Index | None, clauses: list[KeyClause]) -> KeyRange:
    """The keys that a query's conditions select."""
    by_name = {clause.attribute: clause for clause in clauses}
    hash_keys = (table.hash,) if index is None else index.hash
    range_keys = table.keys[1:] if index is None else index.range
    operands = _checked_operands(by_name, hash_keys, range_keys, index)
    prefix = encoding.joined_prefix([operands[key.name][0] for key in hash_keys])
    for key in range_keys:
        if key.name not in by_name:
            break
        operator = by_name[key.name].operator
        if index is None or operator != "=":
            return sort_key_range(prefix, operator, operands[key.name], None if index is None else key.type)
        prefix += encoding.escape_and_terminate(operands[key.name][0], key.type)
    return prefix_range(prefix)


def _checked_operands(
    by_name: dict[str, KeyClause],
    hash_keys: tuple[KeyAttribute, ...],
    range_keys: tuple[KeyAttribute, ...],
    index: Index | None,
) -> dict[str, list[bytes]]:
    """The bytes of every clause's operands, once the clauses have passed the service's checks in its order."""
    known = len(hash_keys) + len(range_keys)
    if len(by_name) > known:
        raise Invalid(
            f"The number of query conditions ({len(by_name)}) exceeds the number of key attributes defined in the "
            f"schema ({known})"
        )
    if len(hash_keys) > 1 or len(range_keys) > 1:
        _refuse_unequal(by_name, hash_keys)
    operands = {key.name: _hash_operand(by_name.get(key.name), key, index) for key in hash_keys}
    open_ended: list[str] = []  # the range attributes without an equality: no condition may follow them
    for key in range_keys:
        clause = by_name.get(key.name)
        if clause is not None:
            if open_ended:
                raise Invalid(
                    f"RANGE key attributes {', '.join(open_ended)} must have equality conditions specified in the "
                    f"query because a condition is present on key attribute {key.name}"
                )
            operands[key.name] = _encoded(clause, key, SORT_KEY_BYTES_MAX, index)
        if clause is None or clause.operator != "=":
            open_ended.append(key.name)
    if len(operands) < len(by_name):
        missing = next((key for key in range_keys if key.name not in by_name), hash_keys[0])
        raise Invalid(f"Query condition missed key schema element: {missing.name}")
    return operands


def _refuse_unequal(by_name: dict[str, KeyClause], hash_keys: tuple[KeyAttribute, ...]) -> None:
    """A key with several hash or range attributes has words of its own for a hash attribute without an equality."""
    unequal = [key.name for key in hash_keys if key.name not in by_name or by_name[key.name].operator != "="]
    if unequal:
        raise Invalid(
            f"HASH key attributes {', '.join(unequal)} must have equality conditions specified in the query"
        )


def _hash_operand(clause: KeyClause | None, key: KeyAttribute, index: Index | None) -> list[bytes]:
    if clause is None:
        raise Invalid(f"Query condition missed key schema element: {key.name}")
    if clause.operator != "=":
        raise Invalid(_UNSUPPORTED)
    return _encoded(clause, key, PARTITION_KEY_BYTES_MAX, index)


def _encoded(clause: KeyClause, key: KeyAttribute, bytes_max: int, index: Index | None) -> list[bytes]:
    operands = []
    for value in clause.operands:
        if key.type not in value:
            raise Invalid(_TYPE_MISMATCH)
        raw = encoding.scalar(value)
        if not raw:
            raise primary_key.empty_key(key) if index is None else indexes.empty_key(index, key)
        if len(raw) > bytes_max:
            raise Invalid(indexes.too_long_message(bytes_max))
        operands.append(raw)
    return operands


def prefix_range(prefix: bytes) -> KeyRange:
    """All keys that start with this prefix."""
    return KeyRange(prefix, encoding.prefix_end(prefix) if prefix.rstrip(b"\xff") else b"")


def sort_key_range(
    prefix: bytes, operator: KeyOperator, operands: Sequence[bytes], terminated: ScalarType | None
) -> KeyRange:
    """The part of a partition that a condition on its sort key selects.

    In an index more follows the sort key: `terminated` is then its type, which decides how its values end.
    """
    if operator == "begins_with":
        return prefix_range(prefix + (operands[0] if terminated is None else encoding.escape(operands[0])))
    low = high = prefix + (
        operands[0] if terminated is None else encoding.escape_and_terminate(operands[0], terminated)
    )
    match operator:
        case "<":
            return KeyRange(prefix, low)
        case "<=":
            return KeyRange(prefix, _after_all_ties(low, terminated))
        case ">":
            return KeyRange(_after_all_ties(low, terminated), prefix_range(prefix).end)
        case ">=":
            return KeyRange(low, prefix_range(prefix).end)
        case "BETWEEN":
            high = prefix + (
                operands[1] if terminated is None else encoding.escape_and_terminate(operands[1], terminated)
            )
        case "=":
            pass
        case _:
            assert_never(operator)
    return KeyRange(low, _after_all_ties(high, terminated))


def _after_all_ties(key: bytes, terminated: ScalarType | None) -> bytes:
    """The first key behind a sort key value: in a table one item has it, in an index any number of them."""
    return key + b"\x00" if terminated is None else encoding.prefix_end(key)


def segment_range(segment: int, total_segments: int) -> KeyRange:
    """The keys of one segment of a parallel scan: an equal share of the hash space."""
    if total_segments == 1:
        return KeyRange(b"", b"")
    low = HASH_SPACE * segment // total_segments
    high = HASH_SPACE * (segment + 1) // total_segments
    return KeyRange(bound(low), b"" if high == HASH_SPACE else bound(high))


def within(key_range: KeyRange, key: bytes) -> bool:
    """Whether a key lies in the range."""
    return key >= key_range.start and (not key_range.end or key < key_range.end)
