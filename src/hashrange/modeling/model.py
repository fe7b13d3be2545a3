"""What a model file says, as objects: tables, entities with their key templates, and the patterns that use them.

The loader makes them from YAML; they can as well be written in Python. They hold no logic beyond look-ups: what follows
from them (which index serves a pattern, how large an item is) is computed elsewhere, so that every command sees the
same facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

Scalar = str | int | float | bool | None
AttributeType = Literal["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in the file something stands; lines and columns count from 1."""

    line: int = 0
    column: int = 0


NOWHERE = Place()


# Tables.


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """One attribute of a key schema. `typed_at` is where the file says the type, if it does."""

    name: str
    type: Literal["S", "N", "B"] = "S"
    typed_at: Place = field(default=NOWHERE, compare=False)

    @property
    def is_typed(self) -> bool:
        """Whether the type was said: a text may as well be what nothing was said of."""
        return self.type != "S" or self.typed_at != NOWHERE


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index. Global ones have one to four partition and up to four sort attributes."""

    name: str
    partition_key: tuple[KeyAttribute, ...]
    sort_key: tuple[KeyAttribute, ...] = ()
    local: bool = False
    projection: Literal["ALL", "KEYS_ONLY", "INCLUDE"] = "ALL"
    included: tuple[str, ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Scaling:
    """Bounds and target of auto scaling, for reads or for writes."""

    minimum: int = 1
    maximum: int = 40_000
    target_percent: float = 70.0


@dataclass(frozen=True, slots=True)
class Table:
    """A table as CreateTable would make it, and what else costs or protects."""

    name: str
    partition_key: KeyAttribute
    sort_key: KeyAttribute | None = None
    indexes: tuple[Index, ...] = ()
    billing: Literal["PAY_PER_REQUEST", "PROVISIONED"] = "PAY_PER_REQUEST"
    table_class: Literal["STANDARD", "STANDARD_INFREQUENT_ACCESS"] = "STANDARD"
    read_scaling: Scaling = Scaling()
    write_scaling: Scaling = Scaling()
    ttl_attribute: str | None = None
    stream: Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"] | None = None
    stream_readers: int = 1
    point_in_time_recovery: bool = False
    kept_backups: int = 0
    replicas: tuple[str, ...] = ()
    dax_node: str | None = None
    dax_nodes: int = 0
    place: Place = NOWHERE

    def index(self, name: str) -> Index | None:
        return next((index for index in self.indexes if index.name == name), None)


# Entities.


@dataclass(frozen=True, slots=True)
class Literally:
    """A fixed piece of a key template: `ORDER#`."""

    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """A piece that an attribute fills in: `{placed_at}`; `{n:08}` pads it with zeros, `{at:.10}` cuts it."""

    attribute: str
    pad: int = 0
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Shard:
    """A piece that spreads writes: `{shard(order_id, 10)}`, or `{shard(random, 10)}` for one drawn at each write."""

    attribute: str | None
    shards: int


Piece = Literally | Field | Shard


@dataclass(frozen=True, slots=True)
class Template:
    """How an entity makes the value of a key attribute from its own attributes."""

    text: str
    pieces: tuple[Piece, ...]
    place: Place = NOWHERE

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that it is made of, in their order."""
        names = (piece.attribute for piece in self.pieces if not isinstance(piece, Literally))
        return tuple(dict.fromkeys(name for name in names if name is not None))


@dataclass(frozen=True, slots=True)
class Distribution:
    """How often which key is meant: all alike, a few often (Zipf, by its exponent), or the latest (a moving window)."""

    kind: Literal["uniform", "zipf", "time-rolling"] = "uniform"
    exponent: float = 1.0
    window_seconds: int = 3600


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an entity.

    `size` is its mean in bytes, `values` are all that there are; `refers` names the entity whose key it is.
    """

    name: str
    type: AttributeType = "S"
    size: int | None = None
    size_max: int | None = None
    values: tuple[Scalar, ...] = ()
    format: (
        Literal["text", "uuid", "ulid", "email", "timestamp", "date", "epoch", "integer", "decimal"] | None
    ) = None
    distinct: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    refers: str | None = None
    optional: float = 0.0  # share of items that lack it
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Growth:
    """Items (or, for an item, bytes) that are added: so many per day, or a share of what is there per month."""

    per_day: float = 0.0
    percent_per_month: float = 0.0


@dataclass(frozen=True, slots=True)
class Entity:
    """A kind of item: `count` in all, or for each item of `parent`, `count_max` at most for one."""

    name: str
    table: str
    keys: Mapping[str, Template]
    attributes: Mapping[str, Attribute]
    count: float = 1000
    parent: str | None = None
    count_max: float | None = None
    spread: Distribution = Distribution()
    growth: Growth = Growth()
    item_growth: Growth = Growth()
    retention_days: float | None = None
    only_if: Mapping[str, Condition] = field(
        default_factory=dict
    )  # key attribute -> when the item has it (sparse indexes)
    place: Place = NOWHERE


# Conditions, as in `where`, `filter` and `if`.


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that the application gives: `?since`."""

    name: str


@dataclass(frozen=True, slots=True)
class Now:
    """The time of the request, `now`, or so many seconds before it: `now - 30 days`."""

    seconds_before: int = 0


@dataclass(frozen=True, slots=True)
class Name:
    """An attribute, as an operand."""

    attribute: str


Operand = Parameter | Now | Name | Scalar
Operator = Literal[
    "=", "<>", "<", "<=", ">", ">=", "between", "begins_with", "contains", "in", "exists", "not_exists"
]


@dataclass(frozen=True, slots=True)
class Comparison:
    """An attribute against operands: none for exists, two for between, any number for in."""

    attribute: str
    operator: Operator
    operands: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Condition


Condition = Comparison | All | AnyOf | Not


# Patterns.


@dataclass(frozen=True, slots=True)
class Curve:
    """Twenty-four hourly factors of the average rate; their mean is 1. Interpolated in between."""

    name: str
    factors: tuple[float, ...] = (1.0,) * 24

    @property
    def peak(self) -> float:
        return max(self.factors)


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests per second on average over a day, the curve they follow, and by how much they grow."""

    average: float = 0.0
    curve: Curve = Curve("flat")
    percent_per_month: float = 0.0

    @property
    def peak(self) -> float:
        return self.average * self.curve.peak


class ReadOperation(Enum):
    GET_ITEM = "GetItem"
    QUERY = "Query"
    SCAN = "Scan"
    BATCH_GET_ITEM = "BatchGetItem"
    TRANSACT_GET_ITEMS = "TransactGetItems"


@dataclass(frozen=True, slots=True)
class Silence:
    """`# hashrange: HR103 reason` on a line: the rule says nothing about what stands there."""

    code: str
    reason: str
    line: int


@dataclass(frozen=True, slots=True)
class ReadPattern:
    """A question that the application asks.

    Its definition: the items of `entities` for which `where` and `filter` hold, in order, up to the limit. `where` is
    what keys are to serve; `filter` is what may be left to a filter expression. `operation` and `index` are the
    author's hints; without them the planner chooses.
    """

    id: str
    entities: tuple[str, ...]
    where: Condition | None = None
    filter: Condition | None = None
    name: str = ""
    actor: str = ""
    verb: str = ""
    operation: ReadOperation | None = None
    index: str | None = None
    project: tuple[str, ...] = ()
    order: str | None = None
    descending: bool = False
    limit: int | None = None
    batch: int = 1  # keys per request, for batches and transactions
    consistent: bool = False
    rate: Rate = Rate()
    keys: Distribution = Distribution()
    screen: str | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Assignment:
    """One change of an update: `set stock = stock - ?n`, `add visits 1`, `remove draft`, `append events ?event`."""

    action: Literal["set", "add", "subtract", "remove", "append"]
    attribute: str
    operand: Operand = None


@dataclass(frozen=True, slots=True)
class WriteStep:
    """One write of an item of an entity. `reads_first` marks a read-modify-write that the application does itself."""

    action: Literal["put", "update", "delete", "check"]
    entity: str
    condition: Condition | None = None
    assignments: tuple[Assignment, ...] = ()
    count: int = 1  # so many items of the entity in one request
    reads_first: bool = False
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class WritePattern:
    """A change that the application makes: one step, a batch, or a transaction of several."""

    id: str
    steps: tuple[WriteStep, ...]
    name: str = ""
    actor: str = ""
    verb: str = ""
    transaction: bool = False
    idempotency_token: bool = False
    rate: Rate = Rate()
    keys: Distribution = Distribution()
    screen: str | None = None
    place: Place = NOWHERE


Pattern = ReadPattern | WritePattern


@dataclass(frozen=True, slots=True)
class Model:
    """The whole file."""

    name: str
    tables: Mapping[str, Table]
    entities: Mapping[str, Entity]
    patterns: tuple[Pattern, ...]
    description: str = ""
    region: str = "us-east-1"
    curves: Mapping[str, Curve] = field(default_factory=dict)
    silences: tuple[Silence, ...] = ()
    path: str = ""
    memo: dict[object, tuple[object, object]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )  # what was computed from it already: see memo.py

    @property
    def reads(self) -> tuple[ReadPattern, ...]:
        return tuple(pattern for pattern in self.patterns if isinstance(pattern, ReadPattern))

    @property
    def writes(self) -> tuple[WritePattern, ...]:
        return tuple(pattern for pattern in self.patterns if isinstance(pattern, WritePattern))

    def entities_of(self, table: str) -> tuple[Entity, ...]:
        return tuple(entity for entity in self.entities.values() if entity.table == table)
