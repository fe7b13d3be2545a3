"""What a WHERE clause says about keys: alternatives with one partition each, or a scan."""

from collections.abc import Iterator
from itertools import product

import msgspec

from hashrange.core import effort
from hashrange.core.expressions import resolved
from hashrange.core.expressions.key_clauses import OF_LEFT, OF_RIGHT, KeyClause
from hashrange.core.expressions.mentions import condition_paths
from hashrange.core.expressions.resolved import Literal, Parameter, Path, known_value
from hashrange.core.schema import KeyAttribute
from hashrange.core.values import Value

# AND multiplies alternatives: the bound keeps hostile text from multiplying for long.
BRANCHES_MAX = 1000
_UNITS_PER_BRANCH = 250


class Branch(msgspec.Struct, frozen=True):
    """One alternative: its conditions on the key, and all others."""

    clauses: tuple[KeyClause, ...] = ()
    filters: tuple[resolved.Node, ...] = ()
    negates: bool = False  # one of the filters is NOT or <> on the sort key

    def joined(self, other: "Branch") -> "Branch":
        """Both together."""
        clauses, filters = self.clauses + other.clauses, self.filters + other.filters
        return Branch(clauses, filters, self.negates or other.negates)

    def partition(self, name: str) -> Value | None:
        """The one value of the partition key that it fixes; None if it has none or two."""
        values = [clause.operands[0] for clause in self.clauses if clause.attribute == name]
        return values[0] if values and all(value == values[0] for value in values) else None


class TooManyBranches(Exception):
    """The alternatives multiply beyond BRANCHES_MAX."""


class Decomposition:
    """A WHERE clause taken apart along the key of a table or index."""

    def __init__(
        self,
        where: resolved.Node | None,
        values: resolved.Values,
        partition: KeyAttribute,
        sort: KeyAttribute | None,
    ) -> None:
        self._values = values
        self._partition = partition.name
        self._sort = None if sort is None else sort.name
        self.clauses: list[KeyClause] = []  # all conditions on the key, in the order of the text
        self.pinned = where is not None and self._pins(where)
        self.branches: list[Branch] | None
        try:
            self.branches = [Branch()] if where is None else self._spread(where)
        except TooManyBranches:
            self.branches = None

    @property
    def keyed(self) -> list[tuple[Value, Branch]] | None:
        """The alternatives with their partitions; None if one of them fixes none."""
        if self.branches is None:
            return None
        keyed = []
        for branch in self.branches:
            partition = branch.partition(self._partition)
            if partition is None:
                return None
            keyed.append((partition, branch))
        return keyed

    def _pins(self, node: resolved.Node) -> bool:
        """Whether every alternative has a condition on the partition key."""
        match node:
            case resolved.And(parts):
                return any(map(self._pins, parts))
            case resolved.Or(parts):
                return all(map(self._pins, parts))
            case _:
                return any(clause.attribute == self._partition for clause in self._key_clauses(node))

    def _spread(self, node: resolved.Node) -> list[Branch]:
        match node:
            case resolved.And(parts):
                return self._multiplied(parts)
            case resolved.Or(parts) if self._names_key(node):
                branches = [branch for part in parts for branch in self._spread(part)]
                if len(branches) > BRANCHES_MAX:
                    raise TooManyBranches
                return branches
            case _:
                clauses = list(self._key_clauses(node))
                self.clauses += clauses
                return [Branch((clause,)) for clause in clauses] or [self._filter(node)]

    def _filter(self, node: resolved.Node) -> Branch:
        negates = isinstance(node, resolved.Not) or (
            isinstance(node, resolved.Compare) and node.comparator == "<>"
        )
        on_sort_key = negates and any(path.parts[0] == self._sort for path in condition_paths(node))
        return Branch((), (node,), on_sort_key)

    def _multiplied(self, parts: tuple[resolved.Node, ...]) -> list[Branch]:
        branches = [Branch()]
        filters: list[resolved.Node] = []
        negates = False
        for part in parts:
            more = self._spread(part)
            if len(more) == 1 and not more[0].clauses:
                # All alternatives share it: added at once, or every part would copy those before it.
                filters += more[0].filters
                negates = negates or more[0].negates
                continue
            if len(branches) * len(more) > BRANCHES_MAX:
                raise TooManyBranches
            effort.spend(len(branches) * len(more) * _UNITS_PER_BRANCH)
            branches = [left.joined(right) for left, right in product(branches, more)]
        shared = Branch((), tuple(filters), negates)
        return [branch.joined(shared) for branch in branches] if filters else branches

    def _names_key(self, node: resolved.Node) -> bool:
        match node:
            case resolved.And(parts) | resolved.Or(parts):
                return any(map(self._names_key, parts))
            case _:
                return any(True for _ in self._key_clauses(node))

    def _key_clauses(self, node: resolved.Node) -> Iterator[KeyClause]:
        """The clauses on the key that a condition stands for; several are alternatives."""
        for clause in _clauses(node, self._values):
            if clause.attribute == self._sort or (
                clause.attribute == self._partition and clause.operator == "="
            ):
                yield clause


def _clauses(node: resolved.Node, values: resolved.Values) -> Iterator[KeyClause]:
    match node:
        case resolved.Compare(comparator, Path((str(name),)), Literal() | Parameter() as value) if (
            comparator != "<>"
        ):
            yield KeyClause(name, OF_LEFT[comparator], (known_value(value, values),))
        case resolved.Compare(comparator, Literal() | Parameter() as value, Path((str(name),))) if (
            comparator != "<>"
        ):
            yield KeyClause(name, OF_RIGHT[comparator], (known_value(value, values),))
        case resolved.Between(
            Path((str(name),)),
            Literal() | Parameter() as lower,
            Literal() | Parameter() as upper,
        ):
            yield KeyClause(name, "BETWEEN", (known_value(lower, values), known_value(upper, values)))
        case resolved.BeginsWith(Path((str(name),)), Literal() | Parameter() as prefix):
            yield KeyClause(name, "begins_with", (known_value(prefix, values),))
        case resolved.In(Path((str(name),)), candidates):
            yield from _alternatives(name, candidates, values)
        case _:
            pass


def _alternatives(
    name: str, candidates: tuple[resolved.Operand, ...], values: resolved.Values
) -> list[KeyClause]:
    known = [candidate for candidate in candidates if isinstance(candidate, resolved.Known)]
    if len(known) < len(candidates):
        return []
    return [KeyClause(name, "=", (known_value(candidate, values),)) for candidate in known]
