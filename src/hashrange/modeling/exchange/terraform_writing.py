"""A Terraform configuration from tables."""

import json
import re

from hashrange.modeling.model import Index, KeyAttribute, Model, Table
from hashrange.modeling.reading.references import key_attributes

_Value = str | int | bool | list[str]


def write(model: Model) -> str:
    """A configuration that makes a model's tables. Auto scaling begins at its minimum."""
    return "\n".join(_resource(table) for table in model.tables.values())


def _resource(table: Table) -> str:
    lines = [f'resource "aws_dynamodb_table" "{re.sub("[^A-Za-z0-9_]", "_", table.name)}" {{']
    lines += _arguments(_table_arguments(table), "  ")
    for key in sorted(key_attributes(table).values(), key=lambda key: key.name):
        lines += _block("attribute", {"name": key.name, "type": key.type})
    for index in table.indexes:
        lines += _index(table, index)
    if table.ttl_attribute is not None:
        lines += _block("ttl", {"attribute_name": table.ttl_attribute, "enabled": True})
    if table.point_in_time_recovery:
        lines += _block("point_in_time_recovery", {"enabled": True})
    for region in table.replicas:
        lines += _block("replica", {"region_name": region})
    return "\n".join([*lines, "}", ""])


def _table_arguments(table: Table) -> dict[str, _Value]:
    arguments: dict[str, _Value] = {"name": table.name, "billing_mode": table.billing}
    arguments |= _units(table)
    arguments["hash_key"] = table.partition_key.name
    if table.sort_key is not None:
        arguments["range_key"] = table.sort_key.name
    if table.table_class != "STANDARD":
        arguments["table_class"] = table.table_class
    # Global tables are copied by their streams.
    stream = table.stream or ("NEW_AND_OLD_IMAGES" if table.replicas else None)
    if stream is not None:
        arguments |= {"stream_enabled": True, "stream_view_type": stream}
    return arguments


def _units(table: Table) -> dict[str, _Value]:
    if table.billing == "PAY_PER_REQUEST":
        return {}
    return {"read_capacity": table.read_scaling.minimum, "write_capacity": table.write_scaling.minimum}


def _index(table: Table, index: Index) -> list[str]:
    kind = "local_secondary_index" if index.local else "global_secondary_index"
    arguments: dict[str, _Value] = {"name": index.name}
    inner: list[str] = []
    if index.local:
        arguments["range_key"] = index.sort_key[0].name
    elif len(index.partition_key) == 1 and len(index.sort_key) <= 1:
        arguments["hash_key"] = index.partition_key[0].name
        if index.sort_key:
            arguments["range_key"] = index.sort_key[0].name
    else:
        inner = [*_schema(index.partition_key, "HASH"), *_schema(index.sort_key, "RANGE")]
    arguments["projection_type"] = index.projection
    if index.projection == "INCLUDE":
        arguments["non_key_attributes"] = list(index.included)
    if not index.local:
        arguments |= _units(table)
    return _block(kind, arguments, inner)


def _schema(keys: tuple[KeyAttribute, ...], kind: str) -> list[str]:
    return [
        line
        for key in keys
        for line in _block("key_schema", {"attribute_name": key.name, "key_type": kind}, indent="    ")
    ]


def _block(
    name: str, arguments: dict[str, _Value], inner: list[str] | None = None, indent: str = "  "
) -> list[str]:
    return ["", f"{indent}{name} {{", *_arguments(arguments, f"{indent}  "), *(inner or []), f"{indent}}}"]


def _arguments(arguments: dict[str, _Value], indent: str) -> list[str]:
    """Arguments with their equals signs in one column, as `terraform fmt` has them."""
    width = max(map(len, arguments), default=0)
    return [f"{indent}{name:<{width}} = {_literal(value)}" for name, value in arguments.items()]


def _literal(value: _Value) -> str:
    return json.dumps(value).replace("${", "$${").replace("%{", "%%{")
