"""Throttles of writes to plain tables, which go the short way."""

from typing import Any

import pytest

from clocked import Clocked
from counted_admission import CountedAdmission
from hashrange.api.errors import ApiError
from hashrange.api.throttling.gate import Gate
from new_tables import request as new_table

WRITES = [
    ("PutItem", {"Item": {"pk": {"S": "k"}}}),
    ("DeleteItem", {"Key": {"pk": {"S": "k"}}}),
]


@pytest.mark.parametrize(
    "stream", [{}, {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}]
)
@pytest.mark.parametrize(("mode", "tag"), [("enforce", None), ("meter", "enforce")])
@pytest.mark.parametrize(("operation", "members"), WRITES)
def test_a_plain_write_is_refused(
    operation: str, members: dict[str, Any], mode: str, tag: str | None, stream: dict[str, Any]
) -> None:
    service, model = Clocked(), CountedAdmission()
    service.context.gate = Gate(model, service.clock, mode)
    tags = None if tag is None else [{"Key": "hashrange:capacity", "Value": tag}]
    service.call("CreateTable", **new_table("pk", types=None, TableName="ttt", Tags=tags, **stream))
    service.settle()
    service.call(operation, TableName="ttt", **members)
    assert model.charged["ttt", None, True] == 1.0
    model.left["ttt", None, True] = 0.0
    with pytest.raises(ApiError) as raised:
        service.call(operation, TableName="ttt", **members)
    assert raised.value.code == "ProvisionedThroughputExceededException"
    assert model.charged["ttt", None, True] == 1.0
