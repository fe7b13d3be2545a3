"""examples/stream_consumer.py does what docs/streams.md says of it."""

import importlib.util
from types import ModuleType
from typing import Any

import pytest

from house import ROOT
from item_tables import make_table


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "stream_consumer_example", ROOT / "examples" / "stream_consumer.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_handles_every_change_once(example: ModuleType, client: Any, make_client: Any) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    name = make_table(client, "pk", StreamSpecification=stream)
    arn = client.describe_table(TableName=name)["Table"]["LatestStreamArn"]
    streams = make_client("dynamodbstreams")
    checkpoints: dict[str, str] = {}
    lines: list[str] = []

    def consume() -> int:
        return int(
            example.consume(streams, arn, checkpoints, lambda record: lines.append(example.describe(record)))
        )

    assert consume() == 0
    client.put_item(TableName=name, Item={"pk": {"S": "a"}})
    assert consume() == 1
    warm = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 8_000}
    client.update_table(TableName=name, WarmThroughput=warm)  # splits every shard
    client.put_item(TableName=name, Item={"pk": {"S": "a"}, "v": {"N": "1"}})
    client.delete_item(TableName=name, Key={"pk": {"S": "a"}})
    assert consume() == 2
    assert consume() == 0
    assert lines == ["INSERT pk=a", "MODIFY pk=a", "REMOVE pk=a"]
    assert list(checkpoints.values()).count("end") == 4
