"""Conditions ready to test: compiled once for all requests with the same text and names."""

from collections.abc import Sequence

import msgspec
import orjson
from msgspec import UNSET, UnsetType

from hashrange.core import effort, items
from hashrange.core.expressions.errors import ExpressionInvalid
from hashrange.core.expressions.evaluate_condition import Test, compile_condition
from hashrange.core.expressions.key_clauses import KeyClause, OpenClause, key_clauses
from hashrange.core.expressions.mentions import Mentions, condition_paths, looks, mentions
from hashrange.core.expressions.needles import LINE_END, lines_with, needle_or_none
from hashrange.core.expressions.partial_json import AttributeDecoder
from hashrange.core.expressions.resolved import Node, Values, known_value
from hashrange.core.values import Item

# With fewer the values of a request, which it brings itself, are not looked at often enough to be counted.
_FEW_LOOKS = 8


class ConditionPlan(msgspec.Struct, frozen=True):
    """Everything about a condition that the values do not change."""

    root: Node
    mentions: Mentions
    test: Test
    # Its clauses as a key condition, or why it cannot be one; only key conditions have this prepared.
    key_clauses: tuple[OpenClause, ...] | ExpressionInvalid | None = None
    looks: int = 1  # how often it may look at the whole of an item
    decoder: AttributeDecoder | None = None  # of what it looks at; None: it is for decoded items only


class Condition(msgspec.Struct):
    """A condition and the values it needs; made by `Binder.condition` or `build.condition`."""

    plan: ConditionPlan
    values: Values
    _values_bytes: int = -1
    _needle: bytes | UnsetType | None = UNSET

    @property
    def values_bytes(self) -> int:
        """The length of the values' JSON, which an operator may look at instead of the item."""
        if self._values_bytes < 0:
            self._values_bytes = len(orjson.dumps(self.values))
        return self._values_bytes

    @property
    def needle(self) -> bytes | None:
        """What the JSON of every item that meets it has, if that is known."""
        if self._needle is UNSET:
            self._needle = needle_or_none(self.plan.root, self.values)
        return self._needle

    @property
    def root(self) -> Node:
        """Its tree, in which `values` has the values of Parameters."""
        return self.plan.root

    @property
    def attributes(self) -> frozenset[str]:
        """Top-level names of the attributes that it mentions."""
        return self.plan.mentions.attributes

    @property
    def nested(self) -> frozenset[str]:
        """Those of them into which it has paths, with . or []."""
        return self.plan.mentions.nested


def plan_condition(root: Node, *, for_keys: bool = False) -> ConditionPlan:
    """Compile a resolved tree."""
    clauses = _as_key_condition(root) if for_keys else None
    paths = mentions(condition_paths(root))
    return ConditionPlan(
        root, paths, compile_condition(root), clauses, looks(root), AttributeDecoder(paths.attributes)
    )


def _as_key_condition(root: Node) -> tuple[OpenClause, ...] | ExpressionInvalid:
    try:
        return key_clauses(root)
    except ExpressionInvalid as refusal:
        return refusal


def matches(condition: Condition, item: Item, stored_bytes: int = 0) -> bool:
    """Whether an item (empty: none), stored in so many bytes, meets a condition."""
    plan = condition.plan
    if plan.looks > _FEW_LOOKS:
        stored_bytes += condition.values_bytes
    if stored_bytes * plan.looks > effort.LIGHT_UNITS:
        effort.spend(stored_bytes * plan.looks)
    return plan.test(item, condition.values)


def matches_stored(condition: Condition, stored: bytes) -> bool:
    """Whether a stored item meets a condition; of a small one no more is decoded than the condition looks at."""
    decoder = condition.plan.decoder
    if decoder is None or len(stored) > items.LARGE_BYTES:
        return matches(condition, items.decode(stored), len(stored))
    return matches(condition, decoder.decode()(stored[items.HEADER_BYTES :]), len(stored))


def matching_lines(condition: Condition, lines: bytes) -> list[bytes] | None:
    """Those of items, as JSON in lines, that meet a condition; None if one that may meet it is large."""
    needle = condition.needle
    rows = lines.split(LINE_END) if needle is None else lines_with(needle, lines)
    longest = len(max(rows, key=len, default=b""))
    return None if longest > items.LARGE_BYTES else matching(condition, rows, longest)


def matching(condition: Condition, rows: Sequence[bytes], longest: int) -> list[bytes]:
    """Those of small items, as JSON of so many bytes at most, that meet a condition."""
    plan, values = condition.plan, condition.values
    decode = orjson.loads if plan.decoder is None else plan.decoder.decode()
    if plan.looks > _FEW_LOOKS or plan.looks * (items.HEADER_BYTES + longest) > effort.LIGHT_UNITS:
        return [row for row in rows if matches(condition, decode(row), items.HEADER_BYTES + len(row))]
    test = plan.test
    return [row for row in rows if test(decode(row), values)]


def open_key_condition(condition: Condition) -> tuple[OpenClause, ...]:
    """The clauses of a key condition without their values; the first illegal one is refused."""
    clauses = condition.plan.key_clauses
    if clauses is None:
        clauses = _as_key_condition(condition.plan.root)
    if isinstance(clauses, ExpressionInvalid):
        raise ExpressionInvalid(clauses.message)
    return clauses


def key_condition(condition: Condition) -> list[KeyClause]:
    """The clauses of a key condition, left to right."""
    values = condition.values
    return [
        KeyClause(name, operator, tuple([known_value(operand, values) for operand in operands]))
        for name, operator, operands in open_key_condition(condition)
    ]
