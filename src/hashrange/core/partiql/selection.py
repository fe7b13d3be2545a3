"""How a SELECT reads: which key ranges in which order, and what it keeps of them; or why it cannot."""

from collections.abc import Iterable

import msgspec

from hashrange.core import effort, indexes
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, resolved
from hashrange.core.expressions.condition import ConditionPlan
from hashrange.core.expressions.evaluate_condition import Test
from hashrange.core.expressions.key_clauses import KeyClause
from hashrange.core.expressions.mentions import condition_paths
from hashrange.core.expressions.resolved import Path
from hashrange.core.keys import encoding, key_paths, ranges
from hashrange.core.keys.ranges import KeyRange
from hashrange.core.limits import STATEMENT_READS_MAX
from hashrange.core.partiql import syntax
from hashrange.core.partiql.branches import Branch, Decomposition
from hashrange.core.partiql.java_order import hash_set_order
from hashrange.core.partiql.pinned import conditions
from hashrange.core.partiql.prepared import Bound
from hashrange.core.schema import Index, KeyAttribute, Table
from hashrange.core.values import Item, Value

_UNITS_PER_CLAUSE = 500
_INVALID = "One or more parameter values were invalid: "
_MULTI_ATTRIBUTE = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys "
    "or multi-attribute RANGE keys."
)
_OVERLAP = "Overlapping conditions with range keys are not supported in where clause"


class Selection(msgspec.Struct, frozen=True):
    """What a SELECT reads: key ranges in this order, or everything if there are none."""

    table: Table
    index: Index | None
    key_ranges: tuple[KeyRange, ...] | None
    keep: Condition | None
    reverse: bool = False
    fetch: bool = False  # columns that a local index does not carry
    single: bool = False  # one item by its primary key


def select(bound: Bound, statement: syntax.Select, table: Table, index: Index | None) -> Selection:
    """Plan a SELECT on a table or on one of its indexes; the checks come in the service's order."""
    partition, sort = _key(table, index)
    key_paths.refuse_nested(table, table.indexes, bound.where, bound.prepared.projection)
    carried = None if index is None else indexes.projected_names(table, index)
    if carried is not None and index is not None and not index.local:
        _check_columns(statement, index, carried)
    where = decompose(bound, statement, table, index)
    keyed = where.keyed
    if keyed is not None and carried is not None and index is not None:
        _check_filters(keyed, index, carried)
    descending, reverse = _order(statement, partition, sort)
    keep = bound.where
    if keyed is not None and not any(branch.filters for _, branch in keyed):
        keep = None
    elif keep is not None and carried is not None:
        keep = _on_view(keep, carried)
    return Selection(
        table=table,
        index=index,
        key_ranges=_key_ranges(table, index, keyed, descending=descending, reverse=reverse),
        keep=keep,
        reverse=reverse,
        fetch=carried is not None and not bound_columns(statement) <= carried,
        single=index is None and keyed is not None and _is_one_item(keyed, table),
    )


def decompose(bound: Bound, statement: syntax.Select, table: Table, index: Index | None) -> Decomposition:
    """Take the WHERE clause apart, and refuse conditions that keys cannot have."""
    partition, sort = _key(table, index)
    where = Decomposition(statement.where, bound.values, partition, sort)
    _check_types(where.clauses, partition, sort)
    keyed = where.keyed
    if keyed is not None:
        _check_overlap(table, index, keyed)
    if where.pinned and (where.branches is None or len(where.branches) > STATEMENT_READS_MAX):
        raise Invalid("Too many decomposed read operations for a given query.")
    return where


def refuse_multi_attribute(index: Index) -> None:
    """PartiQL does not read such an index; the service speaks of tables, which may have them (recorded)."""
    if len(index.hash) > 1 or len(index.range) > 1:
        raise Invalid(_MULTI_ATTRIBUTE)


def bound_columns(statement: syntax.Select) -> frozenset[str]:
    """The attributes that hold the columns."""
    return frozenset(str(column.path.parts[0]) for column in statement.columns)


def _key(table: Table, index: Index | None) -> tuple[KeyAttribute, KeyAttribute | None]:
    if index is None:
        return table.hash, table.range
    refuse_multi_attribute(index)
    return index.hash[0], index.range[0] if index.range else None


def _check_columns(statement: syntax.Select, index: Index, carried: frozenset[str]) -> None:
    names = [str(column.path.parts[0]) for column in statement.columns]
    missing = [name for name in names if name not in carried]
    if missing:
        raise Invalid(
            f"{_INVALID}Global secondary index {index.name} does not project [{', '.join(missing)}]"
        )


def _check_types(clauses: Iterable[KeyClause], partition: KeyAttribute, sort: KeyAttribute | None) -> None:
    for clause in clauses:
        key = partition if sort is None or clause.attribute == partition.name else sort
        for value in clause.operands:
            kind = next(iter(value))
            if kind not in ("S", "N", "B"):
                raise Invalid(f"Key value must be of type S, N, or B. Key name: {key.name}, Key type: {kind}")
            if kind != key.type:
                raise Invalid(
                    f"Key attribute's data type should match its data type in table's schema: Key {key.name}"
                )


def _check_overlap(table: Table, index: Index | None, keyed: list[tuple[Value, Branch]]) -> None:
    """No two alternatives may read the same key range of a partition, but for those that negate the sort key.

    That these may is recorded.
    """
    key_ranges = [_key_range(table, index, branch) for _, branch in keyed if not branch.negates]
    reach = None
    for key_range in sorted(filter(_is_filled, key_ranges), key=lambda key_range: key_range.start):
        if reach is not None and key_range.start < reach:
            raise Invalid(_OVERLAP)
        reach = key_range.end if reach is None else max(reach, key_range.end)


def _is_filled(key_range: KeyRange) -> bool:
    return not key_range.end or key_range.start < key_range.end


def _check_filters(keyed: list[tuple[Value, Branch]], index: Index, carried: frozenset[str]) -> None:
    """An index read by its key cannot filter on what it does not carry, unless one alternative does without."""
    missing: list[str] = []
    for _, branch in sorted(keyed, key=lambda pair: encoding.scalar(pair[0])):
        names = [str(path.parts[0]) for node in branch.filters for path in condition_paths(node)]
        missing = [name for name in names if name not in carried]
        if not missing:
            return
    raise Invalid(
        f"{_INVALID}Secondary index {index.name} does not project one or more filter attributes: "
        f"[{', '.join(hash_set_order(missing))}]"
    )


def _order(statement: syntax.Select, partition: KeyAttribute, sort: KeyAttribute | None) -> tuple[bool, bool]:
    """Whether the partitions, and the items of a partition, come in descending order."""
    if not statement.order:
        return False, False
    if statement.where is None:
        raise Invalid("Must have WHERE clause in the statement when using ORDER BY clause.")
    key_names = {partition.name} if sort is None else {partition.name, sort.name}
    for term in statement.order:
        if term.attribute not in key_names:
            raise Invalid(f"Attribute {term.attribute} in ORDER BY clause must be part of the primary key")
    named = {term.attribute: term.descending for term in reversed(statement.order)}
    partitions = sum(_partitions(node, partition.name) for node in conditions(statement.where))
    if not partitions:
        raise Invalid(
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
        )
    if partitions > 1 and partition.name not in named:
        raise Invalid(
            "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause."
        )
    # A sort key without a term of its own comes descending, even under ORDER BY pk ASC (recorded).
    reverse = sort is not None and named.get(sort.name, True)
    return named.get(partition.name, False), reverse


def _partitions(node: resolved.Node, name: str) -> int:
    """How many values of the partition key a condition gives."""
    match node:
        case resolved.Compare("=", Path((str(attribute),))) | resolved.Compare(
            "=", _, Path((str(attribute),))
        ):
            return int(attribute == name)
        case resolved.In(Path((str(attribute),)), candidates):
            return len(candidates) if attribute == name else 0
        case resolved.Or(parts):
            counts = [_partitions(part, name) if isinstance(part, resolved.Compare) else 0 for part in parts]
            return sum(counts) if all(counts) else 0
        case _:
            return 0


def _on_view(keep: Condition, carried: frozenset[str]) -> Condition:
    """The condition as an index sees it: what the index does not carry is missing, whatever the item has."""
    plan = keep.plan
    viewing = ConditionPlan(
        plan.root, plan.mentions, _viewing(plan.test, carried), looks=plan.looks, decoder=plan.decoder
    )
    return Condition(viewing, keep.values)


def _viewing(test: Test, carried: frozenset[str]) -> Test:
    def viewed(item: Item, values: resolved.Values) -> bool:
        return test({name: value for name, value in item.items() if name in carried}, values)

    return viewed


def _key_ranges(
    table: Table,
    index: Index | None,
    keyed: list[tuple[Value, Branch]] | None,
    *,
    descending: bool,
    reverse: bool,
) -> tuple[KeyRange, ...] | None:
    """The key ranges to read, partition by partition; None if the statement reads everything."""
    if keyed is None:
        return None
    pairs = [(encoding.scalar(partition), _key_range(table, index, branch)) for partition, branch in keyed]
    if any(branch.negates for _, branch in keyed):
        pairs = _merged(pairs)
    pairs.sort(key=lambda pair: pair[1].start, reverse=reverse)
    pairs.sort(key=lambda pair: pair[0], reverse=descending)
    return tuple(key_range for _, key_range in pairs)


def _merged(pairs: list[tuple[bytes, KeyRange]]) -> list[tuple[bytes, KeyRange]]:
    """The same keys in ranges that do not overlap, so that no item comes twice."""
    merged: list[tuple[bytes, KeyRange]] = []
    filled = [pair for pair in pairs if _is_filled(pair[1])]
    for partition, key_range in sorted(filled, key=lambda pair: (pair[0], pair[1].start)):
        last = merged[-1][1] if merged and merged[-1][0] == partition else None
        if last is None or (last.end and key_range.start >= last.end):
            merged.append((partition, key_range))
        else:
            end = max(last.end, key_range.end) if last.end and key_range.end else b""
            merged[-1] = (partition, KeyRange(last.start, end))
    return merged


def _key_range(table: Table, index: Index | None, branch: Branch) -> KeyRange:
    """The keys that meet all conditions of an alternative."""
    effort.spend(len(branch.clauses) * _UNITS_PER_CLAUSE)
    partition, _ = _key(table, index)
    (hashed, *_) = (clause for clause in branch.clauses if clause.attribute == partition.name)
    key_range = ranges.query_range(table, index, [hashed])
    for clause in branch.clauses:
        if clause.attribute != partition.name:
            key_range = _common(key_range, ranges.query_range(table, index, [hashed, clause]))
    return key_range


def _common(left: KeyRange, right: KeyRange) -> KeyRange:
    ends = [key_range.end for key_range in (left, right) if key_range.end]
    return KeyRange(max(left.start, right.start), min(ends, default=b""))


def _is_one_item(keyed: list[tuple[Value, Branch]], table: Table) -> bool:
    if len(keyed) > 1:
        return False
    ((_, branch),) = keyed
    pinned = {clause.attribute for clause in branch.clauses if clause.operator == "="}
    return pinned == table.key_names
