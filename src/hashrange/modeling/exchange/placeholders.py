"""A model of tables of which nothing but the keys is known: an entity for each, to be filled in."""

import re
from collections.abc import Iterable

from hashrange.modeling.loading import DEFAULT_REGION
from hashrange.modeling.model import Attribute, Entity, Field, Model, Table, Template
from hashrange.modeling.problems import refused
from hashrange.modeling.reading.references import key_attributes
from hashrange.modeling.reading.tables import REGION


def model_of(tables: Iterable[Table], name: str, region: str = DEFAULT_REGION) -> Model:
    """A model with a placeholder entity for each table."""
    by_name = {table.name: table for table in tables}
    if not by_name:
        raise refused("there is no table in it", "see docs/model-file.md for what is read")
    entities = {entity_name(table.name): placeholder(table) for table in by_name.values()}
    return Model(name, by_name, entities, (), region=region if REGION.fullmatch(region) else DEFAULT_REGION)


def placeholder(table: Table) -> Entity:
    """An entity whose attributes are the table's keys."""
    attributes = {key.name: Attribute(key.name, key.type) for key in key_attributes(table).values()}
    if table.ttl_attribute is not None:
        attributes.setdefault(table.ttl_attribute, Attribute(table.ttl_attribute, "N", format="epoch"))
    for index in table.indexes:
        for included in index.included:
            attributes.setdefault(included, Attribute(included))
    keys = {name: Template(f"{{{name}}}", (Field(name),)) for name in key_attributes(table)}
    return Entity(entity_name(table.name), table.name, keys, attributes)


def entity_name(name: str) -> str:
    """A name for an entity: `order-items` is OrderItems."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "".join(word[:1].upper() + word[1:] for word in words) or "Item"


def table_name(name: str) -> str:
    """A name that a table can have, made of a text that is one only when a template is deployed."""
    cleaned = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-")[:255]
    return cleaned if len(cleaned) >= 3 else f"{cleaned}-table".strip("-")
