"""Streams are switched on and off with their table; each has a life of its own."""

import re
from typing import Any

import pytest

from clocked import Clocked
from hashrange.core.schema import changed
from hashrange.storage import catalogue
from new_tables import WRONG
from new_tables import request as new_table
from stream_consumer import read_all
from stream_tables import ONE_SHARD, VIEW_TYPES, Streamed, stream

DAY = 24 * 3600


def test_a_stream_has_the_time_of_the_request_in_its_name() -> None:
    service = Clocked()
    service.clock.advance(0.5)
    made = service.call("CreateTable", **new_table("pk", "sk", TableName="tab", StreamSpecification=stream()))
    table = made["TableDescription"]
    assert table["LatestStreamLabel"] == "2023-11-14T00:00:00.500"
    assert table["LatestStreamArn"] == f"{table['TableArn']}/stream/{table['LatestStreamLabel']}"
    assert table["StreamSpecification"] == stream()
    answer = service.call("DescribeStream", StreamArn=table["LatestStreamArn"])["StreamDescription"]
    assert len(answer.pop("Shards")) == 4
    assert answer == {
        "StreamArn": table["LatestStreamArn"],
        "StreamLabel": table["LatestStreamLabel"],
        "StreamStatus": "ENABLING",
        "StreamViewType": "NEW_AND_OLD_IMAGES",
        "CreationRequestDateTime": service.clock.now(),
        "TableName": "tab",
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    }


@pytest.mark.parametrize("view_type", VIEW_TYPES)
def test_a_table_gets_a_stream_and_loses_it(view_type: str) -> None:
    table = Streamed(view_type)
    assert table.describe()["StreamStatus"] == "ENABLED"
    assert table.describe()["StreamViewType"] == view_type
    off = table.call("UpdateTable", TableName="tab", StreamSpecification={"StreamEnabled": False})
    assert off["TableDescription"]["TableStatus"] == "UPDATING"
    assert table.describe()["StreamStatus"] == "DISABLING"
    table.service.settle()
    assert table.describe()["StreamStatus"] == "DISABLED"
    assert all("EndingSequenceNumber" in shard["SequenceNumberRange"] for shard in table.shards())
    described = table.service.describe("tab")
    assert "StreamSpecification" not in described
    assert described["LatestStreamArn"] == table.arn


def test_every_stream_of_a_table_has_its_own_name_and_records() -> None:
    table = Streamed(**ONE_SHARD)
    arns = [table.arn]
    for round_number in range(2):
        table.put("a", v={"N": str(round_number)})
        table.switch(None)
        table.put("unseen", v={"N": str(round_number)})
        table.switch("KEYS_ONLY")
        arns.append(table.arn)
    table.put("b")
    assert len(set(arns)) == 3
    assert [len(read_all(table.call, arn)) for arn in arns] == [1, 1, 1]
    states = [table.call("DescribeStream", StreamArn=arn)["StreamDescription"] for arn in arns]
    assert [one["StreamStatus"] for one in states] == ["DISABLED", "DISABLED", "ENABLED"]
    listed = table.call("ListStreams", TableName="tab")["Streams"]
    assert [one["StreamArn"] for one in listed] == arns


def test_streams_of_one_moment_have_different_names() -> None:
    service = Clocked(transition_ms=0)
    request = new_table("pk", TableName="tab", StreamSpecification=stream())
    for _ in range(3):
        service.call("CreateTable", **request)
        service.call("UpdateTable", TableName="tab", StreamSpecification={"StreamEnabled": False})
        service.call("UpdateTable", TableName="tab", StreamSpecification=stream())
        service.call("DeleteTable", TableName="tab")
    listed = service.call("ListStreams")["Streams"]
    labels = [one["StreamLabel"] for one in listed]
    assert len(set(labels)) == 6
    assert all(re.fullmatch(r"2023-11-14T00:00:00\.00\d", label) for label in labels)


def test_the_stream_of_a_deleted_table_can_be_read_for_a_day() -> None:
    table = Streamed(**ONE_SHARD)
    table.put("a")
    arn = table.arn
    table.call("DeleteTable", TableName="tab")
    shown = table.call("DescribeStream", StreamArn=arn)["StreamDescription"]
    assert shown["StreamStatus"] == "DISABLING"
    table.service.settle()
    again = Streamed("KEYS_ONLY", service=table.service, **ONE_SHARD)
    again.put("b")
    assert table.call("DescribeStream", StreamArn=arn)["StreamDescription"]["StreamStatus"] == "DISABLED"
    assert len(read_all(table.call, arn)) == 1
    assert again.events() == [("INSERT", "b")]
    assert [one["StreamArn"] for one in table.call("ListStreams", TableName="tab")["Streams"]] == [
        arn,
        again.arn,
    ]
    table.clock.advance(DAY)
    for _ in range(2):
        assert table.service.refused("DescribeStream", StreamArn=arn) == (
            "ResourceNotFoundException",
            f"Requested resource not found: Stream: {arn} not found",
        )
        listed = table.call("ListStreams")["Streams"]
        assert [one["StreamArn"] for one in listed] == [again.arn]
        table.clock.advance(120)
        table.service.run_jobs()  # forgets it


def test_nothing_of_a_stream_is_left_in_the_end() -> None:
    table = Streamed()
    for number in range(30):
        table.put(f"k{number}")
    table.call("DeleteTable", TableName="tab")
    table.service.settle()
    table.clock.advance(DAY + 120)
    table.service.run_jobs()
    rows = table.service.engine.read(lambda reader: [key for key, _ in reader.scan(b"\x10", b"\x16")])
    assert rows == []


@pytest.mark.parametrize(
    ("operation", "specification", "message"),
    [
        (
            "CreateTable",
            {"StreamEnabled": True},
            f"{WRONG}Table is being created with a stream enabled, UpdateViewType is required",
        ),
        (
            "CreateTable",
            {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"},
            f"{WRONG}Table is being created with a stream disabled, UpdateViewType should not be specified",
        ),
        (
            "UpdateTable",
            {"StreamEnabled": True},
            f"{WRONG}If stream is being enabled then UpdateViewType is required",
        ),
        (
            "UpdateTable",
            {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"},
            f"{WRONG}If stream is being disabled, then UpdateViewType must not be specified",
        ),
        ("UpdateTable", stream(), "Table already has an enabled stream: TableName: tab"),
        ("UpdateTable", stream("KEYS_ONLY"), "Table already has an enabled stream: TableName: tab"),
    ],
)
def test_what_cannot_be_asked_for(operation: str, specification: Any, message: str) -> None:
    table = Streamed(**ONE_SHARD)
    request = new_table("pk", TableName="new") if operation == "CreateTable" else {"TableName": "tab"}
    refusal = table.service.refused(operation, **request, StreamSpecification=specification)
    assert refusal == ("ValidationException", message)


def test_a_stream_that_is_off_cannot_be_switched_off() -> None:
    table = Streamed(**ONE_SHARD)
    table.switch(None)
    off = {"StreamEnabled": False}
    assert table.service.refused("UpdateTable", TableName="tab", StreamSpecification=off) == (
        "ValidationException",
        "Table has no stream to disable: TableName: tab",
    )


IN_USE = "Attempt to change a resource which is still in use: "


def test_nothing_else_can_be_changed_while_a_stream_is_switched() -> None:
    table = Streamed(**ONE_SHARD)
    table.call("UpdateTable", TableName="tab", StreamSpecification={"StreamEnabled": False})
    label = table.service.describe("tab")["LatestStreamLabel"]
    which = f"Table: tab Stream: {label} Operation: DISABLE"
    units = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 7}
    for change, complaint in (
        ({"StreamSpecification": stream()}, f"A stream status change is currently in progress. {which}"),
        (
            {"ProvisionedThroughput": units},
            f"Can't change table IOPS when stream status is being updated. {which}",
        ),
    ):
        refusal = table.service.refused("UpdateTable", TableName="tab", **change)
        assert refusal == ("ResourceInUseException", IN_USE + complaint)
    assert table.service.refused("DeleteTable", TableName="tab") == (
        "ResourceInUseException",
        f"{IN_USE}Cannot delete table while stream is being enabled/disabled.",
    )


def test_a_switch_to_on_demand_may_come_with_a_stream() -> None:
    table = Streamed(**ONE_SHARD)
    table.switch(None)
    table.call(
        "UpdateTable", TableName="tab", BillingMode="PAY_PER_REQUEST", StreamSpecification=stream("NEW_IMAGE")
    )
    table.service.settle()
    assert table.describe()["StreamStatus"] == "ENABLED"
    assert len(table.shards()) == 4


def test_other_changes_keep_the_stream() -> None:
    table = Streamed()
    arn = table.arn
    table.call("UpdateTable", TableName="tab", DeletionProtectionEnabled=True)
    table.call(
        "TagResource",
        ResourceArn=table.service.describe("tab")["TableArn"],
        Tags=[{"Key": "a", "Value": "b"}],
    )
    table.service.settle()
    assert table.arn == arn
    assert len(table.shards()) == 4


def test_view_types_hide_what_the_log_keeps_for_others() -> None:
    table = Streamed("KEYS_ONLY", **ONE_SHARD)
    stored = table.service.catalogue.find("000000000000", "us-east-1", "tab")
    assert stored is not None
    now = table.clock.now()
    recovered = changed(stored, pitr_since=now, version=stored.version + 1)
    table.service.engine.write(lambda tx: catalogue.save(tx, recovered, now))
    table.service.catalogue.refresh(*catalogue.address(stored))
    table.put("a", v={"N": "1"})
    table.put("a", v={"N": "2"})
    for record in table.records():
        assert record["dynamodb"].keys().isdisjoint({"NewImage", "OldImage"})
        assert record["dynamodb"]["SizeBytes"] == 3
    # The log keeps them for longer than a stream may show them.
    table.clock.advance(DAY + 120)
    table.service.run_jobs()
    assert table.records() == []
    logged = table.service.engine.read(lambda reader: list(reader.scan(b"\x11", b"\x12")))
    assert len(logged) == 2
