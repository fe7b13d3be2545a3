"""Mistakes in tables, indexes and key templates."""

from collections.abc import Iterator
from dataclasses import replace

from hashrange.modeling.model import Comparison, Entity, Field, Literally, Piece, Template
from hashrange.modeling.model import Operator as ConditionOperator
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.population import ancestry
from modeling.mutants import (
    Mutant,
    Served,
    Subject,
    fields_of,
    pieces_of,
    with_entity,
    with_index,
    with_keys,
    with_table,
    with_template,
    without,
)


def _by_template(subject: Subject) -> Iterator[tuple[Served, Entity, str, bool]]:
    """Every template of a key that serves a pattern; whether it is the partition's."""
    for served in subject.served:
        for entity in served.entities:
            for key in served.path.key:
                if key.name in entity.keys:
                    yield served, entity, key.name, key in served.path.partition


def index_dropped(subject: Subject) -> Iterator[Mutant]:
    """A pattern that only this index serves has no key then."""
    for served in subject.served:
        if served.plan.index is not None:
            model = with_index(subject.model, served.plan.table, served.plan.index, None)
            yield Mutant("index dropped", served.plan.index.name, model)


def keys_swapped(subject: Subject) -> Iterator[Mutant]:
    """The partition key would be made of what the pattern does not know."""
    for served in subject.served:
        table, index = served.plan.table, served.plan.index
        unknown = [
            {field.attribute for field in fields_of(pieces_of(entity, key))} - served.equal
            for entity in served.entities
            for key in served.path.sort
        ]
        if not unknown or not all(unknown) or table.sort_key is None:
            continue
        if index is None:
            swapped = replace(table, partition_key=table.sort_key, sort_key=table.partition_key)
            yield Mutant("keys swapped", table.name, with_table(subject.model, swapped))
        elif index.sort_key and not index.local:
            other = replace(index, partition_key=index.sort_key, sort_key=index.partition_key)
            yield Mutant("keys swapped", index.name, with_index(subject.model, table, index, other))


def key_forgotten(subject: Subject) -> Iterator[Mutant]:
    """An item without the key of an index is not in it; the table refuses one without its key."""
    for _, entity, name, _ in _by_template(subject):
        if name in entity.attributes:
            continue  # it is the key as it is, with a template or without
        keys = {key: template for key, template in entity.keys.items() if key != name}
        yield Mutant("key forgotten", f"{entity.name}.{name}", with_keys(subject.model, entity, keys))


def key_misnamed(subject: Subject) -> Iterator[Mutant]:
    """The same under a name that no key has."""
    for _, entity, name, _ in _by_template(subject):
        keys = {f"{key}_" if key == name else key: template for key, template in entity.keys.items()}
        yield Mutant("key misnamed", f"{entity.name}.{name}", with_keys(subject.model, entity, keys))


def unknown_attribute(subject: Subject) -> Iterator[Mutant]:
    """A template of an attribute that there is none of."""
    for _, entity, name, _ in _by_template(subject):
        pieces = entity.keys[name].pieces
        for field in fields_of(pieces)[:1]:
            changed = _replaced(pieces, field, Field(f"{field.attribute}_typo", field.pad, field.cut))
            model = with_template(subject.model, entity, name, changed)
            yield Mutant("unknown attribute", f"{entity.name}.{name}", model)


def _replaced(pieces: tuple[Piece, ...], before: Piece, after: Piece) -> tuple[Piece, ...]:
    return tuple(after if piece == before else piece for piece in pieces)


def partition_of_another(subject: Subject) -> Iterator[Mutant]:
    """The partition key is made of an attribute whose value the pattern does not know."""
    for served, entity, name, is_partition in _by_template(subject):
        others = [other for other in subject.unkeyed(entity) if other not in served.asked]
        pieces = entity.keys[name].pieces
        for field in fields_of(pieces)[:1] if is_partition and others else ():
            model = with_template(subject.model, entity, name, _replaced(pieces, field, Field(others[0])))
            yield Mutant("partition of another", f"{entity.name}.{name} for {served.pattern.id}", model)


def partition_without_field(subject: Subject) -> Iterator[Mutant]:
    """All values share one partition key, and nothing else tells them apart."""
    for served, entity, name, is_partition in _by_template(subject):
        pieces = entity.keys[name].pieces
        behind = {field.attribute for key in served.path.sort for field in fields_of(pieces_of(entity, key))}
        for field in fields_of(pieces) if is_partition else ():
            rest = without(pieces, field)
            if field.attribute in served.equal - behind and _is_told(rest):
                model = with_template(subject.model, entity, name, rest)
                where = f"{entity.name}.{name} without {field.attribute}"
                yield Mutant("partition without field", where, model)


def _is_told(pieces: tuple[Piece, ...]) -> bool:
    """Whether something is left of a template."""
    return any(isinstance(piece, Literally) for piece in pieces)


def sort_without_field(subject: Subject) -> Iterator[Mutant]:
    """What the pattern compares or orders by is not in the sort key any more."""
    for served, entity, name, is_partition in _by_template(subject):
        pieces = entity.keys[name].pieces
        for field in () if is_partition else fields_of(pieces):
            rest = without(pieces, field)
            if field.attribute in served.asked and rest and _is_needed(served, field):
                model = with_template(subject.model, entity, name, rest)
                yield Mutant("sort without field", f"{entity.name}.{name} without {field.attribute}", model)


def _is_needed(served: Served, field: Field) -> bool:
    """Not so if the partition key has it as well."""
    partition = (piece for key in served.path.partition for entity in served.entities
                 for piece in fields_of(pieces_of(entity, key)))  # fmt: skip
    return field.attribute not in {piece.attribute for piece in partition}


def id_forgotten(subject: Subject) -> Iterator[Mutant]:
    """Without the identifier that is made for each item, two of them have the same key."""
    for entity in subject.model.entities.values():
        inherited = {name for parent in ancestry(subject.model, entity)[1:] for name in parent.attributes}
        for key in AccessPath(subject.model.tables[entity.table]).key:
            pieces = pieces_of(entity, key)
            for field in fields_of(pieces):
                attribute = entity.attributes[field.attribute]
                is_own = attribute.refers is None and attribute.name not in inherited
                rest = without(pieces, field)
                if (
                    attribute.format in ("uuid", "ulid")
                    and is_own
                    and rest
                    and not _is_twice(subject, entity, field)
                ):
                    model = with_template(subject.model, entity, key.name, rest)
                    yield Mutant("id forgotten", f"{entity.name}.{key.name}", model)


def _is_twice(subject: Subject, entity: Entity, field: Field) -> bool:
    keys = AccessPath(subject.model.tables[entity.table]).key
    names = [
        piece.attribute
        for key in keys
        for piece in pieces_of(entity, key)
        if not isinstance(piece, Literally)
    ]
    return names.count(field.attribute) > 1


def sort_reordered(subject: Subject) -> Iterator[Mutant]:
    """Keys sort by another attribute first than the pattern does."""
    for served, entity, name, is_partition in _by_template(subject):
        pieces = entity.keys[name].pieces
        fields = fields_of(pieces)
        if is_partition or len(fields) < 2 or fields[0].attribute not in served.asked - served.equal:
            continue
        first, second = fields[:2]
        changed = tuple(second if piece == first else first if piece == second else piece for piece in pieces)
        model = with_template(subject.model, entity, name, changed)
        yield Mutant("sort reordered", f"{entity.name}.{name}", model)


def pad_dropped(subject: Subject) -> Iterator[Mutant]:
    """As text, 10 sorts before 9."""
    for entity in subject.model.entities.values():
        for name, template in entity.keys.items():
            for field in fields_of(template.pieces):
                maximum = entity.attributes[field.attribute].maximum
                if field.pad > 1 and (maximum is None or maximum >= 10):
                    changed = _replaced(template.pieces, field, Field(field.attribute))
                    model = with_template(subject.model, entity, name, changed)
                    yield Mutant("pad dropped", f"{entity.name}.{name}", model)


def prefix_taken(subject: Subject) -> Iterator[Mutant]:
    """Items of another entity lie in the range that the pattern reads."""
    for served, entity, name, is_partition in _by_template(subject):
        first = entity.keys[name].pieces[0]
        is_prefix = [condition.operator for condition in served.plan.sort] == ["begins_with"]
        if is_partition or not is_prefix or served.pattern.filter or not isinstance(first, Literally):
            continue
        for other in subject.model.entities_of(entity.table):
            theirs = other.keys.get(name)
            if other.name in served.pattern.entities or theirs is None:
                continue
            if _shares_partition(served, entity, other) and isinstance(theirs.pieces[0], Literally):
                rest = theirs.pieces[1:] or (Literally("1"),)
                model = with_template(subject.model, other, name, (first, *rest))
                yield Mutant("prefix taken", f"{other.name}.{name} of {entity.name}", model)


def _shares_partition(served: Served, entity: Entity, other: Entity) -> bool:
    names = [key.name for key in served.path.partition]
    texts = [[one.keys[name].text for name in names if name in one.keys] for one in (entity, other)]
    return texts[0] == texts[1] and bool(texts[0])


def made_sparse(subject: Subject) -> Iterator[Mutant]:
    """The index lacks items that the pattern asks for."""
    for served, entity, name, _ in _by_template(subject):
        if served.plan.index is None or name in entity.only_if or name in _table_keys(subject, entity):
            continue
        for attribute in entity.attributes.values():
            if attribute.values and len(attribute.values) > 1 and attribute.name not in served.asked:
                condition = Comparison(attribute.name, "=", (attribute.values[0],))
            elif (
                attribute.type == "N" and attribute.maximum is not None and attribute.name not in served.asked
            ):
                condition = Comparison(attribute.name, "<", (int(attribute.maximum),))
            else:
                continue
            changed = replace(entity, only_if={**entity.only_if, name: condition})
            yield Mutant("made sparse", f"{entity.name}.{name}", with_entity(subject.model, changed))
            break


_TURNED: dict[ConditionOperator, ConditionOperator] = {"=": "<>", "<>": "=", "exists": "not_exists"}


def condition_turned(subject: Subject) -> Iterator[Mutant]:
    """A sparse key has the items that the pattern does not ask for."""
    for _, entity, name, _ in _by_template(subject):
        condition = entity.only_if.get(name)
        if isinstance(condition, Comparison) and condition.operator in _TURNED:
            other = replace(condition, operator=_TURNED[condition.operator])
            changed = replace(entity, only_if={**entity.only_if, name: other})
            yield Mutant("condition turned", f"{entity.name}.{name}", with_entity(subject.model, changed))


def _table_keys(subject: Subject, entity: Entity) -> set[str]:
    return {key.name for key in AccessPath(subject.model.tables[entity.table]).key}


def optional_key(subject: Subject) -> Iterator[Mutant]:
    """Half of the items lack what a key is made of: they are not in the index, or not storable at all."""
    for served, entity, name, _ in _by_template(subject):
        for field in fields_of(entity.keys[name].pieces):
            attribute = entity.attributes[field.attribute]
            in_table = any(field in pieces_of(entity, key) for key in AccessPath(served.plan.table).key)
            if attribute.optional or attribute.refers or (not in_table and field.attribute in served.asked):
                continue
            attributes = {**entity.attributes, attribute.name: replace(attribute, optional=0.5)}
            model = with_entity(subject.model, replace(entity, attributes=attributes))
            yield Mutant("optional key", f"{entity.name}.{attribute.name} in {name}", model)


def projection_narrowed(subject: Subject) -> Iterator[Mutant]:
    """A global index does not have what the pattern wants to see."""
    for served in subject.served:
        index, table = served.plan.index, served.plan.table
        if index is None or index.local:
            continue
        keys = {key.name for path in (AccessPath(table), served.path) for key in path.key}
        wanted = set(served.pattern.project) or {
            name for entity in served.entities for name in entity.attributes
        }
        for name in sorted(wanted - keys) if index.projection == "INCLUDE" else ():
            included = tuple(other for other in index.included if other != name)
            narrow = replace(index, included=included, projection="INCLUDE" if included else "KEYS_ONLY")
            model = with_index(subject.model, table, index, narrow)
            yield Mutant("projection narrowed", f"{index.name} without {name}", model)
        if wanted - keys:
            narrow = replace(index, included=(), projection="KEYS_ONLY")
            model = with_index(subject.model, table, index, narrow)
            yield Mutant("projection narrowed", f"{index.name} to its keys", model)


def key_of_numbers(subject: Subject) -> Iterator[Mutant]:
    """A key of type N refuses text."""
    for table in subject.model.tables.values():
        entities = subject.model.entities_of(table.name)
        pieces = [pieces_of(entity, table.partition_key) for entity in entities]
        is_text = any(
            isinstance(piece, Literally) or entity.attributes[piece.attribute or ""].type == "S"
            for entity, parts in zip(entities, pieces, strict=True)
            for piece in parts
        )
        if is_text and table.partition_key.type == "S":
            changed = replace(table, partition_key=replace(table.partition_key, type="N"))
            yield Mutant("key of numbers", table.name, with_table(subject.model, changed))


def same_key(subject: Subject) -> Iterator[Mutant]:
    """Two entities make the same key of the same attributes."""
    for entity in subject.model.entities.values():
        for other in subject.model.entities_of(entity.table):
            names = _table_keys(subject, entity)
            templates = {name: entity.keys[name] for name in names if name in entity.keys}
            needed = {name for template in templates.values() for name in template.attributes}
            if other is not entity and templates.keys() == names and needed <= other.attributes.keys():
                keys: dict[str, Template] = {**other.keys, **templates}
                yield Mutant(
                    "same key", f"{other.name} as {entity.name}", with_keys(subject.model, other, keys)
                )


OPERATORS = (
    index_dropped,
    keys_swapped,
    key_forgotten,
    key_misnamed,
    unknown_attribute,
    partition_of_another,
    partition_without_field,
    sort_without_field,
    id_forgotten,
    sort_reordered,
    pad_dropped,
    prefix_taken,
    made_sparse,
    condition_turned,
    optional_key,
    projection_narrowed,
    key_of_numbers,
    same_key,
)
