"""Mistakes in patterns: questions that no key answers, and changes that cannot be made."""

from collections.abc import Iterator
from dataclasses import replace

from hashrange.modeling.conditions import conjuncts
from hashrange.modeling.model import (
    All,
    Assignment,
    Comparison,
    Condition,
    Parameter,
    ReadOperation,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.plans import AccessPath, template_of
from hashrange.modeling.population import identity
from modeling.mutants import Mutant, Served, Subject, with_entity, with_pattern


def strong_read(subject: Subject) -> Iterator[Mutant]:
    """A global index gives no strongly consistent reads."""
    for served in subject.served:
        if served.path.is_global:
            pattern = replace(served.pattern, consistent=True)
            yield Mutant("strong read", pattern.id, with_pattern(subject.model, served.pattern, pattern))


def _strange(subject: Subject, served: Served) -> str | None:
    """An attribute that all entities of a pattern have, no key is made of, and the pattern does not mention."""
    names = [set(subject.unkeyed(entity)) - served.asked for entity in served.entities]
    common = set.intersection(*names)
    types = served.entities[0].attributes
    return next((name for name in types if name in common and types[name].type in ("S", "N")), None)


def asked_by_another(subject: Subject) -> Iterator[Mutant]:
    """Nothing but a Scan finds items by an attribute that is in no key."""
    for served in subject.served:
        parts = list(conjuncts(served.pattern.where))
        name = _strange(subject, served)
        at = next(
            (at for at, part in enumerate(parts) if isinstance(part, Comparison) and part.operator == "="),
            None,
        )
        if name is None or at is None:
            continue
        parts[at] = Comparison(name, "=", (Parameter("other"),))
        pattern = replace(served.pattern, where=_all(parts))
        yield Mutant(
            "asked by another",
            f"{pattern.id} by {name}",
            with_pattern(subject.model, served.pattern, pattern),
        )


def _all(parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def unknown_attribute_asked(subject: Subject) -> Iterator[Mutant]:
    """A condition on an attribute that there is none of."""
    for served in subject.served:
        parts = [*conjuncts(served.pattern.where), Comparison("typo_", "=", (Parameter("typo"),))]
        pattern = replace(served.pattern, where=_all(parts))
        yield Mutant(
            "unknown attribute asked", pattern.id, with_pattern(subject.model, served.pattern, pattern)
        )


def ordered_by_another(subject: Subject) -> Iterator[Mutant]:
    """No key gives an order by an attribute that is in none."""
    for served in subject.served:
        name = _strange(subject, served)
        if served.is_range and name is not None:
            pattern = replace(served.pattern, order=name)
            where = f"{pattern.id} by {name}"
            yield Mutant("ordered by another", where, with_pattern(subject.model, served.pattern, pattern))


def asked_for_more(subject: Subject) -> Iterator[Mutant]:
    """The key does not take care of a further condition."""
    for served in subject.served:
        name = _strange(subject, served)
        if name is not None:
            parts = [*conjuncts(served.pattern.where), Comparison(name, "=", (Parameter("more"),))]
            pattern = replace(served.pattern, where=_all(parts))
            where = f"{pattern.id} by {name} too"
            yield Mutant("asked for more", where, with_pattern(subject.model, served.pattern, pattern))


def got_by_half_a_key(subject: Subject) -> Iterator[Mutant]:
    """GetItem needs the whole key."""
    for served in subject.served:
        if served.is_range:
            pattern = replace(served.pattern, operation=ReadOperation.GET_ITEM)
            where = pattern.id
            yield Mutant("got by half a key", where, with_pattern(subject.model, served.pattern, pattern))


def batch_too_large(subject: Subject) -> Iterator[Mutant]:
    """BatchGetItem takes a hundred keys."""
    for served in subject.served:
        if served.plan.operation is ReadOperation.GET_ITEM:
            pattern = replace(served.pattern, operation=ReadOperation.BATCH_GET_ITEM, batch=101)
            yield Mutant("batch too large", pattern.id, with_pattern(subject.model, served.pattern, pattern))


def filtered_to_nothing(subject: Subject) -> Iterator[Mutant]:
    """A filter that no item passes."""
    for served in subject.served:
        numbers = [
            attribute
            for attribute in served.entities[0].attributes.values()
            if attribute.type == "N" and attribute.maximum is not None and served.is_range
            and attribute.name in subject.unkeyed(served.entities[0])
        ]  # fmt: skip
        if numbers and len(served.entities) == 1 and served.pattern.filter is None:
            impossible = Comparison(numbers[0].name, ">", (int(numbers[0].maximum or 0) + 1,))
            pattern = replace(served.pattern, filter=impossible)
            where = pattern.id
            yield Mutant("filtered to nothing", where, with_pattern(subject.model, served.pattern, pattern))


def _steps(subject: Subject) -> Iterator[tuple[WritePattern, WriteStep]]:
    for pattern in subject.model.writes:
        for step in pattern.steps:
            yield pattern, step


def _changed(
    subject: Subject, pattern: WritePattern, before: WriteStep, after: WriteStep, kind: str
) -> Mutant:
    steps = tuple(after if step is before else step for step in pattern.steps)
    model = with_pattern(subject.model, pattern, replace(pattern, steps=steps))
    return Mutant(kind, f"{pattern.id} {before.action} {before.entity}", model)


def key_updated(subject: Subject) -> Iterator[Mutant]:
    """An update cannot change the key of an item."""
    for pattern, step in _steps(subject):
        entity = subject.model.entities[step.entity]
        names = sorted(identity(subject.model, entity))
        if step.action == "update" and names:
            change = Assignment("set", names[0], Parameter("changed"))
            yield _changed(
                subject, pattern, step, replace(step, assignments=(*step.assignments, change)), "key updated"
            )


def text_counted(subject: Subject) -> Iterator[Mutant]:
    """One is not added to a text."""
    for pattern, step in _steps(subject):
        entity = subject.model.entities[step.entity]
        texts = [name for name in subject.unkeyed(entity) if entity.attributes[name].type == "S"]
        if step.action == "update" and texts:
            change = Assignment("add", texts[0], 1)
            yield _changed(subject, pattern, step, replace(step, assignments=(change,)), "text counted")


def token_forgotten(subject: Subject) -> Iterator[Mutant]:
    """A transaction that is sent again after a timeout is made twice."""
    for pattern in subject.model.writes:
        if pattern.transaction and pattern.idempotency_token:
            other = replace(pattern, idempotency_token=False)
            yield Mutant("token forgotten", pattern.id, with_pattern(subject.model, pattern, other))


def too_many_items(subject: Subject) -> Iterator[Mutant]:
    """More than a request takes."""
    for pattern, step in _steps(subject):
        count = 101 if pattern.transaction else 26
        yield _changed(subject, pattern, step, replace(step, count=count), "too many items")


def never_allowed(subject: Subject) -> Iterator[Mutant]:
    """A condition that no item meets."""
    for pattern, step in _steps(subject):
        for attribute in subject.model.entities[step.entity].attributes.values():
            if step.action != "put" and attribute.type == "N" and attribute.maximum is not None:
                impossible = Comparison(attribute.name, ">", (int(attribute.maximum) + 1,))
                condition = impossible if step.condition is None else All((step.condition, impossible))
                yield _changed(subject, pattern, step, replace(step, condition=condition), "never allowed")
                break


def overwritten(subject: Subject) -> Iterator[Mutant]:
    """A put without its condition, of an item whose key somebody else may have chosen too."""
    for pattern, step in _steps(subject):
        entity = subject.model.entities[step.entity]
        generated = any(
            entity.attributes[name].format in ("uuid", "ulid") for name in identity(subject.model, entity)
        )
        is_alone = pattern.transaction or (len(pattern.steps) == 1 and step.count == 1)
        if step.action == "put" and step.condition is not None and is_alone and not generated:
            yield _changed(subject, pattern, step, replace(step, condition=None), "overwritten")


def item_too_large(subject: Subject) -> Iterator[Mutant]:
    """DynamoDB refuses items of more than 400 KB."""
    for entity in subject.model.entities.values():
        for name in subject.unkeyed(entity):
            attribute = entity.attributes[name]
            if (
                attribute.type == "S"
                and attribute.format is None
                and not attribute.values
                and not attribute.optional
            ):
                large = replace(attribute, size=450 * 1024, size_max=None, distinct=None)
                changed = replace(entity, attributes={**entity.attributes, name: large})
                model = with_entity(subject.model, changed)
                yield Mutant("item too large", f"{entity.name}.{name}", model)
                break


def key_too_long(subject: Subject) -> Iterator[Mutant]:
    """A partition key has 2,048 bytes at most."""
    for entity in subject.model.entities.values():
        key = AccessPath(subject.model.tables[entity.table]).partition[0]
        template = template_of(entity, key.name)
        for name in () if template is None else template.attributes[:1]:
            attribute = entity.attributes[name]
            if attribute.type == "S" and attribute.refers is None:
                long = replace(attribute, format=None, size=3000, size_max=3000)
                changed = replace(entity, attributes={**entity.attributes, name: long})
                yield Mutant("key too long", f"{entity.name}.{key.name}", with_entity(subject.model, changed))


OPERATORS = (
    strong_read,
    asked_by_another,
    unknown_attribute_asked,
    ordered_by_another,
    asked_for_more,
    got_by_half_a_key,
    batch_too_large,
    filtered_to_nothing,
    key_updated,
    text_counted,
    token_forgotten,
    too_many_items,
    never_allowed,
    overwritten,
    item_too_large,
    key_too_long,
)
