"""What patterns say of tables and entities: that it is there, and that parameters have one meaning."""

from collections.abc import Mapping
from dataclasses import replace

from hashrange.modeling.conditions import ITSELF, attributes_of, comparisons
from hashrange.modeling.model import (
    All,
    AnyOf,
    Assignment,
    Comparison,
    Condition,
    Entity,
    Name,
    Not,
    Parameter,
    Pattern,
    Place,
    ReadPattern,
    Table,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.problems import Problems, did_you_mean
from hashrange.modeling.reading.bounds import check_bounds
from hashrange.modeling.reading.references import key_attributes, primary_key


class PatternChecks:
    """Checks patterns against tables and entities that are complete."""

    def __init__(
        self, tables: Mapping[str, Table], entities: Mapping[str, Entity], problems: Problems
    ) -> None:
        self._tables = tables
        self._entities = entities
        self._problems = problems
        self._keys = {name: key_attributes(table) for name, table in tables.items()}

    def checked(self, patterns: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
        """The patterns, with `not exists` put in terms of the table's key."""
        seen: dict[str, Pattern] = {}
        for pattern in patterns:
            if pattern.id and seen.setdefault(pattern.id, pattern) is not pattern:
                line = seen[pattern.id].place.line
                place = self._problems.spot(pattern.place, "id", pattern.id)
                self._problems.add(
                    place, f"`{pattern.id}` is also the id of the pattern on line {line}", "choose another"
                )
        return tuple(
            self._read(item) if isinstance(item, ReadPattern) else self._write(item) for item in patterns
        )

    def _entity(self, name: str, section: Place, member: str) -> Entity | None:
        if name and name not in self._entities:
            place = self._problems.spot(section, member, name)
            self._problems.add(place, f"there is no entity `{name}`", did_you_mean(name, self._entities))
        return self._entities.get(name)

    def _read(self, pattern: ReadPattern) -> ReadPattern:
        member = "entity" if len(pattern.entities) == 1 else "entities"
        entities = [
            entity
            for name in pattern.entities
            if (entity := self._entity(name, pattern.place, member)) is not None
        ]
        if not entities or len(entities) < len(pattern.entities):
            return pattern
        tables = dict.fromkeys(entity.table for entity in entities)
        if len(tables) > 1:
            message = f"{pattern.id} reads from several tables: {', '.join(tables)}"
            self._problems.add(pattern.place, message, "one request reads one; make it two patterns")
        table = self._tables.get(entities[0].table)
        if table is None:
            return pattern
        self._check_index(pattern, table)
        self._check_read_attributes(pattern, entities)
        self._check_parameters(pattern.place, "where", (pattern.where, pattern.filter), entities)
        check_bounds(pattern.where, pattern.place, "where", self._problems)
        check_bounds(pattern.filter, pattern.place, "filter", self._problems)
        key = table.partition_key.name
        return replace(pattern, where=_keyed(pattern.where, key), filter=_keyed(pattern.filter, key))

    def _check_index(self, pattern: ReadPattern, table: Table) -> None:
        if pattern.index is not None and table.index(pattern.index) is None:
            place = self._problems.spot(pattern.place, "index", pattern.index)
            names = [index.name for index in table.indexes]
            message = f"table {table.name} has no index `{pattern.index}`"
            self._problems.add(place, message, did_you_mean(pattern.index, names))

    def _check_read_attributes(self, pattern: ReadPattern, entities: list[Entity]) -> None:
        """`where` and `order` are about every entity, `filter` and `project` about any."""
        place = pattern.place
        order = () if pattern.order is None else (pattern.order,)
        for entity in entities:
            self._check_names(attributes_of(pattern.where), entity, place, "where")
        for names, member in (
            (order, "order"),
            (attributes_of(pattern.filter), "filter"),
            (pattern.project, "project"),
        ):
            for name in names:
                if not any(self._has(entity, name) for entity in entities):
                    self._check_names((name,), entities[0], place, member)

    def _has(self, entity: Entity, name: str) -> bool:
        return name == ITSELF or name in entity.attributes or name in self._keys.get(entity.table, {})

    def _check_names(self, names: tuple[str, ...], entity: Entity, section: Place, member: str) -> None:
        for name in names:
            if not self._has(entity, name):
                known = [*entity.attributes, *self._keys.get(entity.table, {})]
                self._problems.add(
                    self._problems.spot(section, member, name),
                    f"{entity.name} has no attribute `{name}`",
                    did_you_mean(name, known),
                )

    def _check_parameters(
        self, section: Place, member: str, conditions: tuple[Condition | None, ...], entities: list[Entity]
    ) -> None:
        """A parameter has one value, so it cannot be compared with a text here and with a number there."""
        types: dict[str, str] = {}
        for condition in conditions:
            for comparison in comparisons(condition):
                kind = self._type(comparison.attribute, entities)
                for operand in comparison.operands:
                    if (
                        not isinstance(operand, Parameter)
                        or kind is None
                        or comparison.operator == "contains"
                    ):
                        continue
                    if types.setdefault(operand.name, kind) != kind:
                        self._problems.add(
                            self._problems.spot(section, member, f"?{operand.name}"),
                            f"`?{operand.name}` is compared with attributes of types {types[operand.name]} and {kind}",
                            "use two parameters",
                        )

    def _type(self, attribute: str, entities: list[Entity]) -> str | None:
        for entity in entities:
            if attribute in entity.attributes:
                return entity.attributes[attribute].type
        return None

    def _write(self, pattern: WritePattern) -> WritePattern:
        return replace(pattern, steps=tuple(self._step(step) for step in pattern.steps))

    def _step(self, step: WriteStep) -> WriteStep:
        entity = self._entity(step.entity, step.place, step.action)
        table = None if entity is None else self._tables.get(entity.table)
        if entity is None or table is None:
            return step
        self._check_names(attributes_of(step.condition), entity, step.place, "if")
        self._check_parameters(step.place, "if", (step.condition,), [entity])
        check_bounds(step.condition, step.place, "if", self._problems)
        keys = {key.name for key in primary_key(table)}
        for assignment in step.assignments:
            operand = assignment.operand
            names = (
                (assignment.attribute, operand.attribute)
                if isinstance(operand, Name)
                else (assignment.attribute,)
            )
            self._check_names(names, entity, step.place, _MEMBERS[assignment.action])
            self._check_number(assignment, entity, step.place)
            if assignment.attribute in keys:
                place = self._problems.spot(step.place, _MEMBERS[assignment.action], assignment.attribute)
                message = f"`{assignment.attribute}` is in the primary key, which an update cannot change"
                self._problems.add(place, message, "delete the item and put it anew, in a transaction")
        return replace(step, condition=_keyed(step.condition, table.partition_key.name))

    def _check_number(self, assignment: Assignment, entity: Entity, section: Place) -> None:
        """That what is counted up or down is a number: the service refuses it of anything else but sets."""
        attribute = entity.attributes.get(assignment.attribute)
        numeric = {"add": ("N", "SS", "NS", "BS"), "subtract": ("N",)}.get(assignment.action)
        if attribute is None or numeric is None or attribute.type in numeric:
            return
        self._problems.add(
            self._problems.spot(section, _MEMBERS[assignment.action], assignment.attribute),
            f"`{assignment.attribute}` of {entity.name} is of type {attribute.type}, which nothing can be added to",
            "make it an integer or a decimal",
        )


# `set: n = n + 1` adds as well.
_MEMBERS = {
    "set": "set",
    "add": "set|add",
    "subtract": "set|subtract",
    "append": "append",
    "remove": "remove",
}


def _keyed(condition: Condition | None, key: str) -> Condition | None:
    """A condition in which `exists` alone asks for the item's key."""
    return None if condition is None else _renamed(condition, key)


def _renamed(condition: Condition, key: str) -> Condition:
    match condition:
        case Comparison(attribute=""):
            return replace(condition, attribute=key)
        case Comparison():
            return condition
        case All():
            return All(tuple(_renamed(part, key) for part in condition.parts))
        case AnyOf():
            return AnyOf(tuple(_renamed(part, key) for part in condition.parts))
        case Not():
            return Not(_renamed(condition.part, key))
