"""A model from its file: all sections, then what they say of each other, then every mistake at once."""

from collections.abc import Mapping
from pathlib import Path

from hashrange.modeling.model import Entity, Model, Table
from hashrange.modeling.problems import ModelErrors, Problem, Problems, did_you_mean, refused
from hashrange.modeling.reading import references, vocabulary
from hashrange.modeling.reading.curves import read_curves
from hashrange.modeling.reading.entities import read_entities
from hashrange.modeling.reading.members import Members
from hashrange.modeling.reading.nodes import FILE_BYTES_MAX, Node, parse
from hashrange.modeling.reading.pattern_references import PatternChecks
from hashrange.modeling.reading.patterns import read_patterns
from hashrange.modeling.reading.silences import read_silences
from hashrange.modeling.reading.tables import REGION, read_tables

VERSION = "1"
DEFAULT_REGION = "us-east-1"


def load(path: str | Path) -> Model:
    """The model of a file; raise `ModelErrors` if it cannot be read or has mistakes."""
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise ModelErrors(refused(f"cannot read it: {error.strerror}").problems, name) from error
    except UnicodeDecodeError as error:
        raise ModelErrors(
            refused("the file is not UTF-8", "save it in that encoding").problems, name
        ) from error
    return loads(text, name)


def loads(text: str, path: str = "model.yaml") -> Model:
    """The model of a text."""
    problems = Problems()
    try:
        node = parse(text, problems)
    except ModelErrors as errors:
        raise ModelErrors(errors.problems, path) from None
    model = _model(node, text, path, problems)
    problems.refuse(path)
    return model


def _model(node: Node, text: str, path: str, problems: Problems) -> Model:
    members = Members(node, "the file", vocabulary.MODEL, problems)
    _check_version(members)
    for name, remedy in (("tables", "a model has at least one"), ("entities", "say what the tables hold")):
        members.require(name, remedy)
    curves = read_curves(members.node("curves"), problems)
    tables = read_tables(members.node("tables"), problems)
    written = read_entities(members.node("entities"), tables, problems)
    tables, entities = _resolved(tables, written, problems)
    patterns = read_patterns(members.node("patterns"), curves, problems)
    return Model(
        members.text("name", Path(path).stem),
        tables,
        entities,
        PatternChecks(tables, entities, problems).checked(patterns),
        members.text("description"),
        _region(members),
        curves,
        read_silences(text, problems),
        path,
    )


def _check_version(members: Members) -> None:
    members.require("hashrange", "begin the file with hashrange: 1")
    version = members.scalar("hashrange")
    if version is not None and version.text != VERSION:
        members.wrong(
            "hashrange", f"version `{version.text}` of the model file", f"this program reads {VERSION}"
        )


def _region(members: Members) -> str:
    region = members.text("region", DEFAULT_REGION)
    if not REGION.fullmatch(region):
        members.wrong("region", f"`{region}` is no region", "write one such as eu-central-1")
    return region


def _resolved(
    tables: Mapping[str, Table], written: Mapping[str, Entity], problems: Problems
) -> tuple[dict[str, Table], dict[str, Entity]]:
    """Tables and entities with everything that follows from each other."""
    sound = references.check_parents(written, problems)
    entities = {
        name: references.completed(entity, sound, tables[entity.table], problems)
        if entity.table in tables
        else entity
        for name, entity in sound.items()
    }
    by_table: dict[str, list[Entity]] = {name: [] for name in tables}
    for entity in entities.values():
        if entity.table in by_table:
            by_table[entity.table].append(entity)
    typed = {}
    for name, table in tables.items():
        members = tuple(by_table[name])
        typed[name] = references.typed_table(table, members, problems)
        for entity in members:
            references.check_keys(entity, written[entity.name], typed[name], problems)
            references.check_types(entity, typed[name], problems)
            _check_refers(entity, entities, problems)
        references.check_same_keys(members, typed[name], problems)
        _check_named_attributes(table, members, problems)
    return typed, entities


def _check_refers(entity: Entity, entities: Mapping[str, Entity], problems: Problems) -> None:
    for attribute in entity.attributes.values():
        if attribute.refers is not None and attribute.refers not in entities:
            remedy = did_you_mean(attribute.refers, entities)
            problems.add(
                attribute.place,
                f"`{attribute.name}` refers to `{attribute.refers}`, which is no entity",
                remedy,
            )


def _check_named_attributes(table: Table, entities: tuple[Entity, ...], problems: Problems) -> None:
    """That somebody has the attributes that projections and TTL name."""
    if not entities and not problems:
        problems.add(table.place, f"table {table.name} has no entity", "say what is in it, or take it out")
    if not entities:
        return
    known = {name: attribute for entity in entities for name, attribute in entity.attributes.items()}
    keys = references.key_attributes(table)
    for index in table.indexes:
        for name in index.included:
            if name not in known and name not in keys:
                message = f"index {index.name} includes `{name}`, which no entity of {table.name} has"
                problems.add(index.place, message, did_you_mean(name, known))
    ttl = table.ttl_attribute
    if ttl is not None and ttl not in known:
        message = f"`{ttl}`, the TTL of table {table.name}, is an attribute of no entity"
        problems.add(table.place, message, f"add {ttl}: epoch to those that expire")
    elif ttl is not None and known[ttl].type != "N":
        problems.add(
            known[ttl].place, f"`{ttl}` is the TTL of table {table.name}, but no number", "write epoch"
        )


__all__ = ["ModelErrors", "Problem", "load", "loads"]
