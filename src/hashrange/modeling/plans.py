"""Plans: how a read pattern is served, by which operation on which key, and what stands in the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hashrange.modeling.model import (
    Attribute,
    Condition,
    Entity,
    Field,
    Index,
    KeyAttribute,
    Literally,
    Operand,
    ReadOperation,
    ReadPattern,
    Shard,
    Table,
    Template,
)

KeyOperator = Literal["=", "<", "<=", ">", ">=", "between", "begins_with"]
# Where a bound lies beside its text: at it, behind everything that begins with it, right behind it, or before it.
Edge = Literal["at", "end", "after", "before"]
ProblemKind = Literal[
    "absent",  # an entity has no items in the index
    "batch",  # more keys than a request takes, or several Queries
    "consistency",  # a strong read of a global index
    "filter",  # conditions of `where` that no key serves
    "key-filter",  # a filter on a key attribute, which DynamoDB refuses
    "operation",  # the author's operation needs a key that is not known
    "order",  # an order that no key gives
    "overlap",  # items of another entity lie in between
    "partition",  # the partition key is not known
    "prefix",  # one value's text begins with another's
    "projection",  # attributes that the index does not have
    "scan",  # nothing but a Scan finds the items
    "sparse",  # items that the index lacks
    "tables",  # entities of several tables
]


@dataclass(frozen=True, slots=True)
class AccessPath:
    """The key of a table, or of one of its indexes."""

    table: Table
    index: Index | None = None

    @property
    def title(self) -> str:
        return f"the key of {self.table.name}" if self.index is None else f"the index {self.index.name}"

    @property
    def partition(self) -> tuple[KeyAttribute, ...]:
        if self.index is None or self.index.local:
            return (self.table.partition_key,)
        return self.index.partition_key

    @property
    def sort(self) -> tuple[KeyAttribute, ...]:
        if self.index is not None:
            return self.index.sort_key
        return () if self.table.sort_key is None else (self.table.sort_key,)

    @property
    def key(self) -> tuple[KeyAttribute, ...]:
        return self.partition + self.sort

    @property
    def is_global(self) -> bool:
        return self.index is not None and not self.index.local


def paths(table: Table) -> tuple[AccessPath, ...]:
    """Every key that a read of the table may go by."""
    return (AccessPath(table), *(AccessPath(table, index) for index in table.indexes))


def template_of(entity: Entity, name: str) -> Template | None:
    """How an entity makes a key attribute. An attribute of its own that has the name is the key itself."""
    template = entity.keys.get(name)
    if template is None and name in entity.attributes:
        return Template(f"{{{name}}}", (Field(name),))
    return template


@dataclass(frozen=True, slots=True)
class Given:
    """A piece of a key that an operand of the pattern fills in. Entities may describe an attribute differently."""

    piece: Field
    operand: Operand
    attribute: Attribute = field(compare=False)


@dataclass(frozen=True, slots=True)
class Spread:
    """The number of a shard: that of an operand, or, without one, each of them in turn."""

    piece: Shard
    operand: Operand = None
    attribute: Attribute | None = field(default=None, compare=False)

    @property
    def is_each(self) -> bool:
        return self.operand is None


KeyPiece = Literally | Given | Spread


@dataclass(frozen=True, slots=True)
class KeyOperand:
    """The text (or number) that a key is compared with."""

    pieces: tuple[KeyPiece, ...]
    edge: Edge = "at"


@dataclass(frozen=True, slots=True)
class KeyCondition:
    """One comparison of a KeyConditionExpression."""

    attribute: KeyAttribute
    operator: KeyOperator
    operands: tuple[KeyOperand, ...]


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """Why a plan does not serve its pattern, and what would help."""

    kind: ProblemKind
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Considered:
    """A key that could have served the pattern, and why it does not; no problems: it does."""

    path: AccessPath
    problems: tuple[PlanProblem, ...]


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """How a pattern is read. `requests` is how many requests make one answer: a sharded key takes one for each shard.

    `limit` is what each request asks for at most. A pattern's limit is not passed on where a filter follows:
    DynamoDB counts items before it filters. `fetches`: a local index takes attributes that it lacks from the table.
    """

    pattern: ReadPattern
    table: Table
    index: Index | None
    operation: ReadOperation
    partition: tuple[KeyCondition, ...] = ()
    sort: tuple[KeyCondition, ...] = ()
    enforced: tuple[Condition, ...] = ()  # the conditions of `where` that the sort key takes care of
    filter: Condition | None = None
    ordered: bool = True
    requests: int = 1
    shards: int = 1
    limit: int | None = None
    fetches: bool = False
    others: tuple[str, ...] = ()  # entities whose items are read along with those that are wanted
    problems: tuple[PlanProblem, ...] = ()
    considered: tuple[Considered, ...] = ()

    @property
    def served(self) -> bool:
        return not self.problems

    @property
    def path(self) -> AccessPath:
        return AccessPath(self.table, self.index)
