"""Models of NoSQL Workbench: a facet is an entity, sample items show how keys are made."""

from collections.abc import Iterator
from dataclasses import replace

from hashrange.modeling.exchange.descriptions import converted
from hashrange.modeling.exchange.inference import entities_of
from hashrange.modeling.exchange.placeholders import entity_name, placeholder, table_name
from hashrange.modeling.exchange.trees import json_tree
from hashrange.modeling.exchange.workbench_file import (
    AutoScaling,
    Capacity,
    DataModel,
    Facet,
    Keys,
    WorkbenchModel,
)
from hashrange.modeling.model import Attribute, Entity, Index, KeyAttribute, Model, Scaling, Table, Template
from hashrange.modeling.problems import refused
from hashrange.modeling.reading.references import key_attributes, primary_key
from hashrange.modeling.templates import parse_template
from hashrange.modeling.texts import TextInvalid


def read(text: str, name: str = "imported") -> Model:
    """A model with an entity for each facet, or for each kind of sample items."""
    file = converted(json_tree(text), WorkbenchModel, "the Workbench model")
    if not file.data_model:
        raise refused("there is no DataModel in it", "this is no model of NoSQL Workbench")
    tables = [_table(part) for part in file.data_model]
    entities: dict[str, Entity] = {}
    for part, table in zip(file.data_model, tables, strict=True):
        for entity in _entities(part, table):
            unique = entity.name if entity.name not in entities else f"{entity_name(table.name)}{entity.name}"
            entities.setdefault(unique, replace(entity, name=unique))
    return Model(
        file.model_name or name,
        {table.name: table for table in tables},
        entities,
        (),
        description=file.model_metadata.description,
    )


def _table(part: DataModel) -> Table:
    partition, sort = _keys(part.key_attributes)
    capacity = part.provisioned_capacity_settings or Capacity()
    units = capacity.provisioned_throughput
    return Table(
        table_name(part.table_name),
        partition,
        sort,
        tuple(
            Index(
                index.index_name,
                (_keys(index.key_attributes)[0],),
                tuple(key for key in _keys(index.key_attributes)[1:] if key is not None),
                projection=index.projection.projection_type,
                included=tuple(index.projection.non_key_attributes),
            )
            for index in part.global_secondary_indexes
        ),
        part.billing_mode,
        read_scaling=_scaling(capacity.auto_scaling_read, units.read_capacity_units),
        write_scaling=_scaling(capacity.auto_scaling_write, units.write_capacity_units),
    )


def _keys(keys: Keys) -> tuple[KeyAttribute, KeyAttribute | None]:
    sort = keys.sort_key
    return (
        KeyAttribute(keys.partition_key.attribute_name, keys.partition_key.attribute_type),
        None if sort is None else KeyAttribute(sort.attribute_name, sort.attribute_type),
    )


def _scaling(scaling: AutoScaling | None, units: int) -> Scaling:
    if scaling is None:
        return Scaling(max(1, units)) if units > 1 else Scaling()
    bounds = scaling.scalable_target_request
    least = max(1, bounds.min_capacity)
    target = min(90.0, max(20.0, scaling.scaling_policy_configuration.target_value))
    return Scaling(least, max(least, bounds.max_capacity), target)


def _entities(part: DataModel, table: Table) -> Iterator[Entity]:
    """Facets with templates for aliases (as we write them) or sample items; else kinds of the table's sample items."""
    named = [entity for facet in part.table_facets if (entity := _of_facet(facet, part, table)) is not None]
    if named and len(named) == len(part.table_facets):
        yield from named
        return
    samples = part.table_data or [item for facet in part.table_facets for item in facet.table_data]
    if samples:
        yield from entities_of(table, samples)
    else:
        yield placeholder(table)


def _of_facet(facet: Facet, part: DataModel, table: Table) -> Entity | None:
    """The entity of a facet whose aliases are templates of ours."""
    aliases = facet.key_attribute_alias
    keys: dict[str, Template] = {}
    for key, alias in zip(
        primary_key(table), (aliases.partition_key_alias, aliases.sort_key_alias), strict=False
    ):
        template = _template(alias)
        if template is None:
            return None
        keys[key.name] = template
    types = {attribute.attribute_name: attribute.attribute_type for attribute in part.non_key_attributes}
    names = dict.fromkeys(
        [*(name for template in keys.values() for name in template.attributes), *facet.non_key_attributes]
    )
    attributes = {
        name: Attribute(name, types.get(name, "S")) for name in names if name not in key_attributes(table)
    }
    return Entity(entity_name(facet.facet_name), table.name, keys, attributes)


def _template(alias: str) -> Template | None:
    try:
        template = parse_template(alias)
    except TextInvalid:
        return None
    return template if template.attributes or alias.isupper() else None
