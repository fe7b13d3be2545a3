"""Where the tables of a test come from: CreateTable requests, CloudFormation templates, model files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from hashrange.testing import cloudformation, models
from hashrange.testing.control import TestingFailed
from hashrange.testing.definitions import TableDefinition

TableSource = Union[str, Path, Mapping[str, Any], Sequence["TableSource"]]  # noqa: UP007 - a `|` cannot be recursive

_YAML_ENDINGS = frozenset({".yaml", ".yml", ".template"})


def definitions(*sources: TableSource) -> list[TableDefinition]:
    """The tables of sources: paths of files, requests as boto3 takes them, or lists of such."""
    return [definition for source in sources for definition in _definitions(source)]


def _definitions(source: TableSource) -> Iterator[TableDefinition]:
    if isinstance(source, str | Path):
        yield from _of_file(Path(source))
    elif not isinstance(source, Mapping):
        yield from definitions(*source)
    elif "Resources" in source:
        yield from cloudformation.definitions(source)
    elif "Tables" in source:
        yield from definitions(*source["Tables"])
    elif "TableName" in source:
        yield TableDefinition(str(source["TableName"]), dict(source))
    else:
        raise TestingFailed(
            "a source of tables has TableName (a CreateTable request), Tables (several of them) or Resources "
            "(a CloudFormation template)"
        )


def _of_file(path: Path) -> Iterator[TableDefinition]:
    try:
        text = path.read_text("utf-8")
        if path.suffix not in _YAML_ENDINGS:
            yield from definitions(json.loads(text))
        elif models.is_model(text):
            yield from models.definitions(text, path.name)
        else:
            yield from definitions(cloudformation.read_yaml(text))
    except (OSError, ValueError, TestingFailed) as error:
        raise TestingFailed(f"{path}: {error}") from error
