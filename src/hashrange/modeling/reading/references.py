"""What entities say of tables and of each other: parents, implied attributes and templates, types of keys."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from hashrange.modeling.conditions import attributes_of
from hashrange.modeling.model import (
    NOWHERE,
    Attribute,
    Entity,
    Field,
    Index,
    KeyAttribute,
    Literally,
    Piece,
    Shard,
    Table,
    Template,
)
from hashrange.modeling.problems import Problems, did_you_mean

ANCESTORS_MAX = 20


def key_attributes(table: Table) -> dict[str, KeyAttribute]:
    """Every attribute of a key of a table or of one of its indexes; a type that was said wins over the default."""
    keys: dict[str, KeyAttribute] = {}
    for key in (*primary_key(table), *(key for index in table.indexes for key in index_key(index))):
        if key.name not in keys or not keys[key.name].is_typed:
            keys[key.name] = key
    return keys


def primary_key(table: Table) -> tuple[KeyAttribute, ...]:
    return (table.partition_key,) if table.sort_key is None else (table.partition_key, table.sort_key)


def index_key(index: Index) -> tuple[KeyAttribute, ...]:
    return (*index.partition_key, *index.sort_key)


def check_parents(entities: Mapping[str, Entity], problems: Problems) -> dict[str, Entity]:
    """The entities, without parents that do not exist or lead back to the entity itself."""
    sound = {}
    for name, entity in entities.items():
        parent = entity.parent
        if parent is not None and parent not in entities:
            message = f"{name} is counted per `{parent}`, which is no entity"
            problems.add(entity.place, message, did_you_mean(parent, entities))
            parent = None
        elif parent is not None and not _ends(name, entities):
            message = f"{name} is counted per {parent}, in a circle"
            problems.add(entity.place, message, "one of them needs a count of its own")
            parent = None
        sound[name] = replace(entity, parent=parent)
    return sound


def _ends(name: str, entities: Mapping[str, Entity]) -> bool:
    for _ in range(ANCESTORS_MAX + 1):
        parent = entities[name].parent
        if parent is None or parent not in entities:
            return True
        name = parent
    return False


def _ancestors(entity: Entity, entities: Mapping[str, Entity]) -> Iterator[Entity]:
    for _ in range(ANCESTORS_MAX):
        if entity.parent is None or entity.parent not in entities:
            return
        entity = entities[entity.parent]
        yield entity


def completed(entity: Entity, entities: Mapping[str, Entity], table: Table, problems: Problems) -> Entity:
    """An entity with the attributes and templates that it need not spell out.

    An attribute of a template that the entity does not have is its parent's: an order that is counted per user has the
    user's id. A key attribute without a template that the entity has as an attribute is that attribute.
    """
    attributes = {name: _referring(attribute, entities) for name, attribute in entity.attributes.items()}
    for key, template in entity.keys.items():
        names = (*template.attributes, *(attributes_of(entity.only_if[key]) if key in entity.only_if else ()))
        for name in names:
            inherited = None if name in attributes else _inherited(name, entity, entities)
            if inherited is not None:
                attributes[name] = inherited
    keys = dict(entity.keys)
    for key in key_attributes(table):
        if key not in keys and key in attributes:
            keys[key] = Template(f"{{{key}}}", (Field(key),), attributes[key].place)
    _check_templates(entity, attributes, problems)
    return replace(entity, attributes=attributes, keys=keys)


def _referring(attribute: Attribute, entities: Mapping[str, Entity]) -> Attribute:
    """An attribute that refers to another entity looks like that one's attribute of its name, or like its only key."""
    entity = entities.get(attribute.refers or "")
    if entity is None or attribute.format or attribute.values or attribute.type != "S" or attribute.size:
        return attribute
    fields = {name for template in entity.keys.values() for name in template.attributes}
    name = attribute.name if attribute.name in entity.attributes else next(iter(fields), "")
    model = entity.attributes.get(name) if len(fields) == 1 or name == attribute.name else None
    if model is None:
        return attribute
    return replace(attribute, type=model.type, format=model.format, values=model.values, size=model.size)


def _inherited(name: str, entity: Entity, entities: Mapping[str, Entity]) -> Attribute | None:
    for ancestor in _ancestors(entity, entities):
        if name in ancestor.attributes:
            return replace(ancestor.attributes[name], refers=ancestor.name, optional=0.0)
    return None


def _check_templates(entity: Entity, attributes: Mapping[str, Attribute], problems: Problems) -> None:
    for key, template in entity.keys.items():
        for name in template.attributes:
            if name not in attributes:
                problems.add(
                    problems.spot(template.place, "template", name),
                    f"{entity.name} has no attribute `{name}`",
                    did_you_mean(name, attributes),
                )
        for name in attributes_of(entity.only_if[key]) if key in entity.only_if else ():
            if name not in attributes:
                problems.add(
                    problems.spot(template.place, "if", name),
                    f"{entity.name} has no attribute `{name}`",
                    did_you_mean(name, attributes),
                )


def check_keys(entity: Entity, written: Entity, table: Table, problems: Problems) -> None:
    """That a complete entity has the keys of its table, and nothing else in `keys`. `written` is what the file says."""
    keys = key_attributes(table)
    for name, template in written.keys.items():
        if name not in keys:
            problems.add(
                template.place, f"`{name}` is in no key of table {table.name}", did_you_mean(name, keys)
            )
        elif name in written.only_if and name in {key.name for key in primary_key(table)}:
            problems.add(
                template.place, f"`{name}` is in the primary key, which every item has", "leave `if` out"
            )
    for key in primary_key(table):
        if key.name not in entity.keys:
            problems.add(
                entity.place,
                f"{entity.name} has no template for `{key.name}`, a key of table {table.name}",
                f"add it to `keys`, such as {key.name}: {entity.name.upper()}#{{id}}",
            )
    own = {key.name for key in primary_key(table)}
    for index in table.indexes:
        _check_whole(entity, written, index, own, problems)


def _check_whole(entity: Entity, written: Entity, index: Index, own: set[str], problems: Problems) -> None:
    """An index holds items that have all of its key: a template for a part of it does nothing."""
    names = [key.name for key in index_key(index)]
    started = [name for name in names if name in written.keys and name not in own]
    missing = [name for name in names if name not in entity.keys]
    if started and missing:
        problems.add(
            written.keys[started[0]].place,
            f"{entity.name} has `{started[0]}`, but not `{missing[0]}`: it is not in index {index.name}",
            f"add `{missing[0]}`, or take `{started[0]}` out",
        )


def typed_table(table: Table, entities: tuple[Entity, ...], problems: Problems) -> Table:
    """The table with one type for each key attribute: as said anywhere, else as the attribute of that name has it."""
    types: dict[str, Literal["S", "N", "B"]] = {}
    for name, key in key_attributes(table).items():
        types[name] = key.type if key.is_typed else _implied(name, entities)
    for key in (*primary_key(table), *(key for index in table.indexes for key in index_key(index))):
        if key.is_typed and key.type != types[key.name]:
            problems.add(
                table.place if key.typed_at == NOWHERE else key.typed_at,
                f"`{key.name}` is {types[key.name]} in one key and {key.type} in another",
                "an attribute has one type in all keys of a table",
            )
    return replace(
        table,
        partition_key=_typed(table.partition_key, types),
        sort_key=None if table.sort_key is None else _typed(table.sort_key, types),
        indexes=tuple(
            replace(
                index,
                partition_key=tuple(_typed(key, types) for key in index.partition_key),
                sort_key=tuple(_typed(key, types) for key in index.sort_key),
            )
            for index in table.indexes
        ),
    )


def _typed(key: KeyAttribute, types: Mapping[str, Literal["S", "N", "B"]]) -> KeyAttribute:
    return replace(key, type=types[key.name])


def _implied(name: str, entities: tuple[Entity, ...]) -> Literal["S", "N", "B"]:
    kinds = {_made(entity.keys[name], entity) for entity in entities if name in entity.keys}
    if kinds == {"N"}:
        return "N"
    return "B" if kinds == {"B"} else "S"


def _made(template: Template, entity: Entity) -> str:
    """The type that a template makes."""
    match template.pieces:
        case (Field(attribute=name, pad=0, cut=0),) if name in entity.attributes:
            return entity.attributes[name].type
    return "S"


def check_types(entity: Entity, table: Table, problems: Problems) -> None:
    """That templates make what the keys are."""
    for name, key in key_attributes(table).items():
        template = entity.keys.get(name)
        if template is None or any(field not in entity.attributes for field in template.attributes):
            continue
        made = _made(template, entity)
        if made != key.type:
            problems.add(
                template.place,
                f"`{name}` is of type {key.type}, but `{template.text}` of {entity.name} makes {made}",
                f'write "{{attribute}}" with one of type {key.type}'
                if key.type != "S"
                else "put text around it or change the type of the key",
            )


def check_same_keys(entities: tuple[Entity, ...], table: Table, problems: Problems) -> None:
    """That no two entities of a table overwrite each other's items."""
    names = [key.name for key in primary_key(table)]
    first: dict[tuple[tuple[str, ...], ...], Entity] = {}
    for entity in entities:
        if not all(name in entity.keys for name in names):
            continue
        shape = tuple(tuple(_shape(piece) for piece in entity.keys[name].pieces) for name in names)
        other = first.setdefault(shape, entity)
        if other is not entity:
            keys = " and ".join(f"`{entity.keys[name].text}`" for name in names)
            problems.add(
                entity.keys[names[-1]].place,
                f"{entity.name} and {other.name} make the same key {keys}: they overwrite each other",
                f"begin one with a text of its own, such as {entity.name.upper()}#",
            )


def _shape(piece: Piece) -> str:
    match piece:
        case Literally():
            return f"={piece.text}"
        case Field():
            return f"{{{piece.attribute}:{piece.pad}:{piece.cut}}}"
        case Shard():
            return f"shard {piece.attribute} {piece.shards}"
