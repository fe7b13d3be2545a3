"""Mutants of a model: the same model with one mistake in it.

A mutant must mean something else than the model, or nothing could find it. The harness knows that without asking the
commands about the mutant: each kind of mistake is made only where a property of the *good* model says that it matters.
Most often that is a pattern which exactly one key serves: whatever keeps this key from serving it leaves none.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from hashrange.modeling.conditions import attributes_of, conjuncts
from hashrange.modeling.model import (
    Comparison,
    Entity,
    Field,
    Index,
    KeyAttribute,
    Literally,
    Model,
    Name,
    Pattern,
    Piece,
    ReadPattern,
    Shard,
    Table,
    Template,
)
from hashrange.modeling.planning import plans
from hashrange.modeling.plans import AccessPath, ReadPlan, template_of


@dataclass(frozen=True)
class Mutant:
    """A model with a mistake: of which kind, and where."""

    kind: str
    where: str
    model: Model

    @property
    def name(self) -> str:
        return f"{self.kind}: {self.where}"


@dataclass(frozen=True)
class Served:
    """A read pattern that one key serves, and no other."""

    pattern: ReadPattern
    plan: ReadPlan
    entities: tuple[Entity, ...]

    @property
    def path(self) -> AccessPath:
        return self.plan.path

    @property
    def equal(self) -> set[str]:
        """The attributes of which the pattern knows the value."""
        parts = [part for part in conjuncts(self.pattern.where) if isinstance(part, Comparison)]
        return {
            part.attribute
            for part in parts
            if part.operator == "=" and not isinstance(part.operands[0], Name)
        }

    @property
    def asked(self) -> set[str]:
        """All that the pattern says something about."""
        names = {*attributes_of(self.pattern.where), *attributes_of(self.pattern.filter)}
        return names | ({self.pattern.order} if self.pattern.order else set())

    @property
    def is_range(self) -> bool:
        """Whether it reads a part of an item collection, and not one item by its whole key."""
        return self.plan.operation.value == "Query" and not (
            self.plan.sort and all(condition.operator == "=" for condition in self.plan.sort)
        )


class Subject:
    """A good model, and what is known about it."""

    def __init__(self, model: Model) -> None:
        self.model = model

    @cached_property
    def served(self) -> list[Served]:
        return [
            Served(plan.pattern, plan, tuple(self.model.entities[name] for name in plan.pattern.entities))
            for plan in plans(self.model).values()
            if sum(not considered.problems for considered in plan.considered) == 1
        ]

    def unkeyed(self, entity: Entity) -> list[str]:
        """Attributes that no key is made of."""
        table = self.model.tables[entity.table]
        keys = {key.name for index in (None, *table.indexes) for key in AccessPath(table, index).key}
        used = {name for template in entity.keys.values() for name in template.attributes}
        return [name for name in entity.attributes if name not in used | keys]


Operator = Callable[[Subject], Iterator[Mutant]]


def with_table(model: Model, table: Table) -> Model:
    return replace(model, tables={**model.tables, table.name: table})


def with_index(model: Model, table: Table, before: Index, after: Index | None) -> Model:
    indexes = (after if index is before else index for index in table.indexes)
    return with_table(model, replace(table, indexes=tuple(index for index in indexes if index is not None)))


def with_entity(model: Model, entity: Entity) -> Model:
    return replace(model, entities={**model.entities, entity.name: entity})


def with_pattern(model: Model, before: Pattern, after: Pattern) -> Model:
    return replace(
        model, patterns=tuple(after if pattern is before else pattern for pattern in model.patterns)
    )


def with_keys(model: Model, entity: Entity, keys: Mapping[str, Template]) -> Model:
    only_if = {name: condition for name, condition in entity.only_if.items() if name in keys}
    return with_entity(model, replace(entity, keys=dict(keys), only_if=only_if))


def with_template(model: Model, entity: Entity, key: str, pieces: tuple[Piece, ...]) -> Model:
    return with_keys(model, entity, {**entity.keys, key: Template(text_of_pieces(pieces), pieces)})


def text_of_pieces(pieces: tuple[Piece, ...]) -> str:
    """A template as a file has it."""
    texts = []
    for piece in pieces:
        match piece:
            case Literally(text):
                texts.append(text.replace("{", "{{").replace("}", "}}"))
            case Shard(attribute, shards):
                texts.append(f"{{shard({attribute or 'random'}, {shards})}}")
            case Field(attribute, pad, cut):
                form = f":0{pad}" if pad else f":.{cut}" if cut else ""
                texts.append(f"{{{attribute}{form}}}")
    return "".join(texts)


def pieces_of(entity: Entity, key: KeyAttribute) -> tuple[Piece, ...]:
    template = template_of(entity, key.name)
    return () if template is None else template.pieces


def fields_of(pieces: tuple[Piece, ...]) -> list[Field]:
    return [piece for piece in pieces if isinstance(piece, Field)]


def without(pieces: tuple[Piece, ...], field: Piece) -> tuple[Piece, ...]:
    return tuple(piece for piece in pieces if piece != field)
