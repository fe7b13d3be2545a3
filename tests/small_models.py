"""Models in a few lines, for tests of what follows from them."""

from dataclasses import replace
from typing import Any

from hashrange.modeling.conditions import parse_condition
from hashrange.modeling.model import (
    Attribute,
    Distribution,
    Entity,
    Growth,
    Index,
    KeyAttribute,
    Model,
    ReadOperation,
    ReadPattern,
    Table,
    WritePattern,
)
from hashrange.modeling.templates import parse_template

FORMATS = {"uuid", "ulid", "email", "timestamp", "date", "text"}
EVEN, NONE = Distribution(), Growth()
NUMBERS = {"epoch", "integer", "decimal"}


def attribute(name: str, kind: str | Attribute) -> Attribute:
    """`uuid`, `integer`, a type such as `S` or `BOOL`, or `A|B` for a list of values."""
    if isinstance(kind, Attribute):
        return kind
    if "|" in kind:
        return Attribute(name, values=tuple(kind.split("|")))
    if kind in FORMATS:
        return Attribute(name, format=kind)  # type: ignore[arg-type]
    if kind in NUMBERS:
        return Attribute(name, "N", format=kind)  # type: ignore[arg-type]
    return Attribute(name, kind)  # type: ignore[arg-type]


def entity(
    name: str,
    keys: dict[str, str],
    /,
    *,
    only_if: str | None = None,
    count: float = 1000,
    parent: str | None = None,
    count_max: float | None = None,
    spread: Distribution = EVEN,
    growth: Growth = NONE,
    retention_days: float | None = None,
    **attributes: str | Attribute,
) -> Entity:
    """`only_if` is about every key of an index, whose names begin with GSI here."""
    condition = None if only_if is None else parse_condition(only_if)
    return Entity(
        name,
        "shop",
        {key: parse_template(text) for key, text in keys.items()},
        {key: attribute(key, kind) for key, kind in attributes.items()},
        count=count,
        parent=parent,
        count_max=count_max,
        spread=spread,
        growth=growth,
        retention_days=retention_days,
        only_if={} if condition is None else {key: condition for key in keys if key.startswith("GSI")},
    )


def index(name: str, *keys: str, partitions: int = 1, **members: Any) -> Index:
    attributes = tuple(KeyAttribute(*key.split(":")) for key in keys)  # type: ignore[arg-type]
    return Index(name, attributes[:partitions], attributes[partitions:], **members)


def table(*indexes: Index, sort: str | None = "SK") -> Table:
    key = None if sort is None else KeyAttribute(*sort.split(":"))  # type: ignore[arg-type]
    return Table("shop", KeyAttribute("PK"), key, indexes)


def model(shop: Table, *entities: Entity, patterns: tuple[ReadPattern | WritePattern, ...] = ()) -> Model:
    return Model("test", {"shop": shop}, {entity.name: entity for entity in entities}, patterns)


def renamed(shop: Model, name: str) -> Model:
    """The same model with another name for its table, on a server that has many."""
    entities = {key: replace(entity, table=name) for key, entity in shop.entities.items()}
    return replace(shop, tables={name: replace(shop.tables["shop"], name=name)}, entities=entities)


def read(
    *entities: str,
    where: str | None = None,
    filter: str | None = None,  # noqa: A002  # the pattern's own word
    order: str | None = None,
    operation: ReadOperation | None = None,
    **members: Any,
) -> ReadPattern:
    return ReadPattern(
        "R1",
        entities,
        where=None if where is None else parse_condition(where),
        filter=None if filter is None else parse_condition(filter),
        order=None if order is None else order.split()[0],
        descending=order is not None and order.endswith(" desc"),
        operation=operation,
        **members,
    )


USER = entity("User", {"PK": "USER#{user_id}", "SK": "PROFILE"}, user_id="uuid", email="email", name="text")
ORDER = entity(
    "Order",
    {"PK": "USER#{user_id}", "SK": "ORDER#{placed_at}#{order_id}"},
    user_id="uuid",
    order_id="ulid",
    placed_at="timestamp",
    status="OPEN|PAID|SHIPPED",
    total="decimal",
    parent="User",
    count=20,
)
