"""Models from files of other programs: which program's it is, and its reader."""

from collections.abc import Callable, Mapping
from typing import Literal, get_args

import msgspec

from hashrange.modeling.exchange import cloudformation, terraform, workbench
from hashrange.modeling.exchange.descriptions import TableDescription, converted, table_of
from hashrange.modeling.exchange.placeholders import model_of, table_name
from hashrange.modeling.exchange.trees import json_tree
from hashrange.modeling.model import Model
from hashrange.modeling.problems import refused

Format = Literal["workbench", "cloudformation", "terraform", "create-table"]
FORMATS: tuple[Format, ...] = get_args(Format)


def read(text: str, name: str, form: Format | None = None) -> Model:
    """The model of a file, in a format that is named or recognised."""
    chosen = form or recognised(text)
    if chosen is None:
        raise refused("this is in no known format", f"name it with --format: {', '.join(FORMATS)}")
    return READERS[chosen](text, name)


def recognised(text: str) -> Format | None:
    """What a file seems to be."""
    if not text.lstrip().startswith(("{", "[")):
        if '"aws_dynamodb_table"' in text:
            return "terraform"
        return "cloudformation" if "AWS::DynamoDB::" in text else None
    tree = json_tree(text)
    if isinstance(tree, list):
        return "create-table"
    members: dict[str, Format] = {
        "DataModel": "workbench",
        "Resources": "cloudformation",
        "planned_values": "terraform",
        "values": "terraform",
        "KeySchema": "create-table",
        "Table": "create-table",
    }
    return next((form for name, form in members.items() if isinstance(tree, dict) and name in tree), None)


class _Answer(msgspec.Struct, frozen=True, rename="pascal"):
    """What DescribeTable gives."""

    table: TableDescription


def _read_requests(text: str, name: str) -> Model:
    """CreateTable requests, one or a list of them, or an answer of DescribeTable."""
    tree = json_tree(text)
    trees = tree if isinstance(tree, list) else [tree]
    described = [
        converted(part, _Answer, "the answer").table
        if isinstance(part, dict) and "Table" in part
        else converted(part, TableDescription, "the request")
        for part in trees[:100]
    ]
    return model_of([table_of(table, table_name(table.table_name)) for table in described], name)


READERS: Mapping[Format, Callable[[str, str], Model]] = {
    "workbench": workbench.read,
    "cloudformation": cloudformation.read,
    "terraform": terraform.read,
    "create-table": _read_requests,
}
