"""The tables of a model file, the one that `hashrange model` checks and proves."""

import re
from collections.abc import Iterator
from typing import Any

from hashrange.testing.control import TestingFailed
from hashrange.testing.definitions import TableDefinition

_ENTITIES = re.compile(r"^entities[ \t]*:", re.MULTILINE)


def is_model(text: str) -> bool:
    """Whether a YAML file is a model; they have a reader of their own, so it is not read to find out."""
    return _ENTITIES.search(text) is not None


def definitions(text: str, path: str) -> Iterator[TableDefinition]:
    """The tables of a model, with its indexes, TTL, streams and point-in-time recovery."""
    # Most suites have no model, and reading one takes many modules.
    from hashrange.modeling.loading import loads  # noqa: PLC0415
    from hashrange.modeling.problems import ModelErrors  # noqa: PLC0415
    from hashrange.modeling.table_requests import create_table  # noqa: PLC0415

    try:
        model = loads(text, path)
    except ModelErrors as errors:
        raise TestingFailed(f"it is no model:\n{errors}") from None
    for table in model.tables.values():
        create: dict[str, Any] = create_table(table, model).members()
        yield TableDefinition(table.name, create, table.ttl_attribute, table.point_in_time_recovery)
