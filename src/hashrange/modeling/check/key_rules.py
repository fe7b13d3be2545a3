"""HR2xx: keys."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.core import limits
from hashrange.modeling.check.facts import Facts, partition_templates, shard_count, sort_templates
from hashrange.modeling.check.finding import Hit, first_place, rule
from hashrange.modeling.check.heat import Heat, read_heats, write_heats
from hashrange.modeling.columns import amount
from hashrange.modeling.model import Entity, Field, KeyAttribute, Literally, Place, Shard, Template
from hashrange.modeling.plans import AccessPath, template_of
from hashrange.modeling.population import Group
from hashrange.modeling.sizes import key_size
from hashrange.modeling.value_texts import value_texts

FEW_KEYS = 100
KEY_ITEMS_MAX = 10_000  # below that, a partition key with few values does no harm
STATUS_ITEMS_MAX = 1_000
_TIMES = ("timestamp", "date", "epoch")
_STATUS_WORDS = ("status", "state", "stage", "phase")


def _fields(templates: list[Template]) -> list[Field]:
    return [piece for template in templates for piece in template.pieces if isinstance(piece, Field)]


def _place(entity: Entity, path: AccessPath) -> Place:
    template = entity.keys.get(path.partition[0].name)
    return entity.place if template is None else first_place(template.place, entity.place)


def _unsharded(facts: Facts) -> Iterator[tuple[AccessPath, Group, list[Field]]]:
    """Every partition key that is not spread over shards, and the fields that it is made of."""
    for path in facts.paths:
        if path.index is not None and path.index.local:
            continue
        for group in facts.groups(path):
            templates = partition_templates(group.entity, path)
            if shard_count(templates) == 1:
                yield path, group, _fields(templates)


def _is_time(entity: Entity, field: Field) -> bool:
    attribute = entity.attributes.get(field.attribute)
    return attribute is not None and attribute.format in _TIMES


def _is_status(facts: Facts, entity: Entity, field: Field) -> bool:
    """An attribute of few values that changes in the life of an item."""
    attribute = entity.attributes.get(field.attribute)
    if attribute is None or not (attribute.values or attribute.type == "BOOL"):
        return False
    return field.attribute in facts.updated.get(entity.name, ()) or field.attribute.endswith(_STATUS_WORDS)


@rule("HR201", "warning", "A partition key with few values")
def few_values(facts: Facts) -> Iterator[Hit]:
    for path, group, fields in _unsharded(facts):
        entity = group.entity
        if any(_is_status(facts, entity, field) or _is_time(entity, field) for field in fields):
            continue
        if group.partitions < FEW_KEYS and group.mean > KEY_ITEMS_MAX:
            yield Hit(
                _place(entity, path),
                f"{entity.name} in {path.title}",
                f"{group.partition} has {amount(group.partitions)} values for {amount(group.mean)} items each: "
                "a partition key takes 3,000 read and 1,000 write units per second, whatever the table has",
                "add an attribute with many values, or a shard: …#{shard(id, 10)}",
            )


@rule("HR202", "warning", "A partition key made of a time")
def time_key(facts: Facts) -> Iterator[Hit]:
    for path, group, fields in _unsharded(facts):
        if fields and all(_is_time(group.entity, field) for field in fields):
            yield Hit(
                _place(group.entity, path),
                f"{group.entity.name} in {path.title}",
                f"{group.partition} is a time: all that is written now has the same partition key",
                "put whose it is into the partition key and the time into the sort key, or add a shard",
            )


@rule("HR203", "warning", "A status as partition key")
def status_key(facts: Facts) -> Iterator[Hit]:
    for path, group, fields in _unsharded(facts):
        if not fields or not all(_is_status(facts, group.entity, field) for field in fields):
            continue
        if group.mean > STATUS_ITEMS_MAX:
            yield Hit(
                _place(group.entity, path),
                f"{group.entity.name} in {path.title}",
                f"{group.partition} is a status: most items share one value, and each change moves an item",
                "make the index sparse, with the few items that are looked for, and shard it",
            )


@rule("HR204", "error", "A primary key made of an attribute that changes")
def changing_key(facts: Facts) -> Iterator[Hit]:
    for entity in facts.model.entities.values():
        changed = facts.updated.get(entity.name, set())
        for key in AccessPath(facts.model.tables[entity.table]).key:
            template = template_of(entity, key.name)
            names = [] if template is None else [name for name in template.attributes if name in changed]
            if template is not None and names:
                yield Hit(
                    first_place(template.place, entity.place),
                    f"{entity.name}.{key.name}",
                    f"an update changes {names[0]}, but the key of an item stays: {key.name} says something else",
                    f"make the key of what never changes; put {names[0]} into an index",
                )


def _hot(heat: Heat, units_max: int, kind: str, remedy: str) -> Hit:
    names = ", ".join(pattern.id for pattern in heat.patterns[:10])
    message = (
        f"the busiest key {heat.partition} of {heat.path.title} takes {amount(heat.units)} {kind} units per second "
        f"at the peak ({names}); a partition key has {units_max:,}"
    )
    return Hit(heat.patterns[0].place, names, message, remedy)


@rule("HR205", "warning", "A key that is read too often")
def hot_reads(facts: Facts) -> Iterator[Hit]:
    for heat in read_heats(facts):
        if heat.units > limits.PARTITION_READ_UNITS:
            remedy = "cache it (DAX), read less of it, or keep copies of busy items under several keys"
            yield _hot(heat, limits.PARTITION_READ_UNITS, "read", remedy)


@rule("HR206", "warning", "A key that is written too often")
def hot_writes(facts: Facts) -> Iterator[Hit]:
    for heat in write_heats(facts):
        if heat.path.index is None and heat.units > limits.PARTITION_WRITE_UNITS:
            remedy = (
                "spread its items over shards: …#{shard(id, 10)}, or add up changes before they are written"
            )
            yield _hot(heat, limits.PARTITION_WRITE_UNITS, "write", remedy)


@rule("HR207", "warning", "Numbers in a sort key that do not sort")
def unpadded(facts: Facts) -> Iterator[Hit]:
    seen: set[tuple[str, str]] = set()
    for path in facts.paths:
        for entity in facts.model.entities_of(path.table.name):
            for key in path.sort:
                template = template_of(entity, key.name)
                if template is None or key.type != "S" or (entity.name, key.name) in seen:
                    continue
                seen.add((entity.name, key.name))
                yield from _unpadded(entity, key, template)


def _unpadded(entity: Entity, key: KeyAttribute, template: Template) -> Iterator[Hit]:
    for field in _fields([template]):
        attribute = entity.attributes.get(field.attribute)
        if attribute is not None and attribute.type == "N" and not value_texts(attribute, field).sorts:
            name = field.attribute
            yield Hit(
                first_place(template.place, entity.place),
                f"{entity.name}.{key.name}",
                f"{name} is a number without leading zeros: as text, 10 sorts before 9",
                f"pad it to as many digits as it may have: {{{name}:010}}",
            )


@rule("HR208", "warning", "Entities that mix in one item collection")
def mixed_collection(facts: Facts) -> Iterator[Hit]:
    for table in facts.model.tables.values():
        collections: dict[str, list[Entity]] = {}
        for group in facts.groups(AccessPath(table)):
            collections.setdefault(group.partition, []).append(group.entity)
        for entities in collections.values():
            for entity in entities if len(entities) > 1 and table.sort_key is not None else ():
                template = sort_templates(entity, AccessPath(table))[0]
                if not isinstance(template.pieces[0], Literally):
                    other = next(one for one in entities if one is not entity)
                    yield Hit(
                        first_place(template.place, entity.place),
                        entity.name,
                        f"its sort key {template.text} begins with no text of its own, beside those of {other.name}: "
                        "no range reads one without the other",
                        f"begin it with {entity.name.upper()}#",
                    )


@rule("HR209", "error", "A key that may be too long")
def long_key(facts: Facts) -> Iterator[Hit]:
    seen: set[tuple[str, str]] = set()
    for path in facts.paths:
        for entity in facts.model.entities_of(path.table.name):
            for at, key in enumerate(path.key):
                template = template_of(entity, key.name)
                if template is None or (entity.name, key.name) in seen:
                    continue
                seen.add((entity.name, key.name))
                is_partition = at < len(path.partition)
                most = limits.PARTITION_KEY_BYTES_MAX if is_partition else limits.SORT_KEY_BYTES_MAX
                size = key_size(entity, template, key).maximum
                if size > most:
                    yield Hit(
                        first_place(template.place, entity.place),
                        f"{entity.name}.{key.name}",
                        f"may have {amount(size)} bytes; DynamoDB refuses more than {most:,}",
                        "make it of an id, a hash, or the first characters: {title:.100}",
                    )


@rule("HR210", "warning", "A random shard that nobody can find again")
def lost_shard(facts: Facts) -> Iterator[Hit]:
    addressed = {
        step.entity
        for pattern in facts.model.writes
        for step in pattern.steps
        if step.action != "put" or step.condition is not None
    }
    for entity in facts.model.entities.values():
        for key in AccessPath(facts.model.tables[entity.table]).key if entity.name in addressed else ():
            template = template_of(entity, key.name)
            pieces = () if template is None else template.pieces
            if template is not None and any(isinstance(p, Shard) and p.attribute is None for p in pieces):
                yield Hit(
                    first_place(template.place, entity.place),
                    f"{entity.name}.{key.name}",
                    "its shard is drawn at random, so a change or a condition misses the item",
                    "let the shard follow from an attribute: {shard(id, 10)}",
                )


RULES = (
    few_values,
    time_key,
    status_key,
    changing_key,
    hot_reads,
    hot_writes,
    unpadded,
    mixed_collection,
    long_key,
    lost_shard,
)
