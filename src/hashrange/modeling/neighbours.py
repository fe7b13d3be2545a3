"""Neighbours: entities whose items lie in the range of keys that a Query reads for another."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hashrange.modeling.key_shapes import Shape, fixed_start, may_meet, operand_shape, template_shape
from hashrange.modeling.memo import once_per_model
from hashrange.modeling.model import Entity, KeyAttribute, Literally, Model, Table, Template
from hashrange.modeling.plans import AccessPath, KeyCondition, template_of


def neighbours(
    model: Model,
    path: AccessPath,
    wanted: Sequence[Entity],
    partition: Sequence[KeyCondition],
    regions: Sequence[Shape],
) -> tuple[Entity, ...]:
    """Other entities whose items the same Query finds."""
    shapes = [*(operand_shape(condition.operands[0]) for condition in partition), *regions]
    keys = [(key, shape, fixed_start(shape)) for key, shape in zip(path.key, shapes, strict=False)]
    names = {entity.name for entity in wanted}
    texts = [(key, start) for key, _, start in keys if key.type == "S"]
    key, start = max(texts, key=lambda pair: len(pair[1]), default=(path.partition[0], ""))
    beginnings = _beginnings(model, path.table, key)
    return tuple(
        entity
        for entity in beginnings.candidates(start)
        if entity.name not in names and _lies_within(entity, keys)
    )


@dataclass(frozen=True, slots=True)
class _Beginnings:
    """The entities of a table by the fixed text that a key of theirs begins with: most never meet."""

    texts: tuple[str, ...]  # in order
    entities: dict[str, list[tuple[int, Entity]]]  # with their positions in the model

    def candidates(self, start: str) -> Iterator[Entity]:
        """Those whose text begins with `start`, or is a beginning of it, in the order of the model."""
        placed = [pair for length in range(len(start)) for pair in self.entities.get(start[:length], ())]
        for at in range(bisect_left(self.texts, start), len(self.texts)):
            if not self.texts[at].startswith(start):
                break
            placed += self.entities[self.texts[at]]
        return (entity for _, entity in sorted(placed, key=lambda pair: pair[0]))


@once_per_model
def _beginnings(model: Model, table: Table, key: KeyAttribute) -> _Beginnings:
    entities: dict[str, list[tuple[int, Entity]]] = {}
    for position, entity in enumerate(model.entities_of(table.name)):
        template = template_of(entity, key.name)
        if template is not None:
            entities.setdefault(_first_text(template), []).append((position, entity))
    return _Beginnings(tuple(sorted(entities)), entities)


def _first_text(template: Template) -> str:
    first = template.pieces[0] if template.pieces else None
    return first.text if isinstance(first, Literally) else ""


def _lies_within(entity: Entity, keys: Sequence[tuple[KeyAttribute, Shape, str]]) -> bool:
    """Whether items of an entity can have keys of these shapes. Fixed beginnings rule most of them out at once."""
    templates: list[tuple[Template, Shape]] = []
    for key, shape, start in keys:
        template = template_of(entity, key.name)
        if template is None:
            return False
        if key.type == "S":
            own = _first_text(template)
            if not own.startswith(start) and not start.startswith(own):
                return False
            templates.append((template, shape))
    return all(may_meet(template_shape(entity, template), shape) for template, shape in templates)
