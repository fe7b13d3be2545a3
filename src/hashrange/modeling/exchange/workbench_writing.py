"""A model of NoSQL Workbench from ours.

Workbench knows no local indexes, no multi-attribute keys, and no access patterns in a form that others could write:
they are left out, and `omissions` says so.
"""

import json

import msgspec

from hashrange.modeling.exchange.workbench_file import (
    Aliases,
    AttributeDescription,
    AutoScaling,
    Bounds,
    Capacity,
    DataModel,
    Facet,
    IndexProjection,
    KeyDescription,
    Keys,
    Metadata,
    TargetValue,
    Units,
    WorkbenchIndex,
    WorkbenchModel,
)
from hashrange.modeling.model import Entity, Index, KeyAttribute, Model, Scaling, Table
from hashrange.modeling.reading.references import index_key, key_attributes, primary_key

_VERSION = "3.0"


def write(model: Model) -> str:
    """The file's text."""
    file = WorkbenchModel(
        model_name=model.name,
        model_metadata=Metadata(description=model.description, version=_VERSION),
        data_model=[_table(table, model) for table in model.tables.values()],
    )
    return json.dumps(msgspec.to_builtins(file), indent=2)


def omissions(model: Model) -> list[str]:
    """What of a model cannot be said in such a file."""
    left = [
        f"index {index.name} of {table.name}"
        for table in model.tables.values()
        for index in table.indexes
        if not _is_known(index)
    ]
    return [*left, f"{len(model.patterns)} patterns"] if model.patterns else left


def _is_known(index: Index) -> bool:
    return not index.local and len(index.partition_key) == 1 and len(index.sort_key) <= 1


def _table(table: Table, model: Model) -> DataModel:
    indexes = [index for index in table.indexes if _is_known(index)]
    entities = model.entities_of(table.name)
    return DataModel(
        table_name=table.name,
        key_attributes=_keys(table.partition_key, table.sort_key),
        non_key_attributes=_attributes(table, indexes, entities),
        table_facets=[_facet(entity, table) for entity in entities],
        global_secondary_indexes=[
            WorkbenchIndex(
                index_name=index.name,
                key_attributes=_keys(index.partition_key[0], index.sort_key[0] if index.sort_key else None),
                projection=IndexProjection(
                    projection_type=index.projection, non_key_attributes=list(index.included)
                ),
            )
            for index in indexes
        ],
        billing_mode=table.billing,
        provisioned_capacity_settings=_capacity(table),
    )


def _keys(partition: KeyAttribute, sort: KeyAttribute | None) -> Keys:
    return Keys(
        partition_key=KeyDescription(attribute_name=partition.name, attribute_type=partition.type),
        sort_key=None if sort is None else KeyDescription(attribute_name=sort.name, attribute_type=sort.type),
    )


def _attributes(
    table: Table, indexes: list[Index], entities: tuple[Entity, ...]
) -> list[AttributeDescription]:
    """Keys of indexes first, as Workbench lists them, then what entities hold."""
    own = {key.name for key in primary_key(table)}
    types: dict[str, AttributeDescription] = {}
    for index in indexes:
        for key in index_key(index):
            types[key.name] = AttributeDescription(attribute_name=key.name, attribute_type=key.type)
    for entity in entities:
        for attribute in entity.attributes.values():
            types.setdefault(
                attribute.name,
                AttributeDescription(attribute_name=attribute.name, attribute_type=attribute.type),
            )
    return [attribute for name, attribute in types.items() if name not in own]


def _facet(entity: Entity, table: Table) -> Facet:
    """An entity; its templates stand where Workbench has names for the keys."""
    texts = [entity.keys[key.name].text if key.name in entity.keys else "" for key in primary_key(table)]
    own = {key.name for key in primary_key(table)}
    names = [*(key for key in key_attributes(table) if key in entity.keys), *entity.attributes]
    return Facet(
        facet_name=entity.name,
        key_attribute_alias=Aliases(
            partition_key_alias=texts[0], sort_key_alias=texts[1] if len(texts) > 1 else ""
        ),
        non_key_attributes=[name for name in dict.fromkeys(names) if name not in own],
    )


def _capacity(table: Table) -> Capacity | None:
    if table.billing == "PAY_PER_REQUEST":
        return None
    return Capacity(
        provisioned_throughput=Units(
            read_capacity_units=table.read_scaling.minimum, write_capacity_units=table.write_scaling.minimum
        ),
        auto_scaling_read=_scaling(table.read_scaling),
        auto_scaling_write=_scaling(table.write_scaling),
    )


def _scaling(scaling: Scaling) -> AutoScaling:
    return AutoScaling(
        scalable_target_request=Bounds(min_capacity=scaling.minimum, max_capacity=scaling.maximum),
        scaling_policy_configuration=TargetValue(target_value=scaling.target_percent),
    )
