"""Settling: a status that is over is stored as over, so that no clock can bring it back."""

from typing import Any

import pytest

from clocked import Clocked
from hashrange.core.schema import Table
from item_tables import definitions, index
from new_tables import request as new_table

UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
MORE_UNITS = {"ReadCapacityUnits": 9, "WriteCapacityUnits": 9}
GLOBAL = {
    "types": {"g": "S"},
    "GlobalSecondaryIndexes": [index("glo", "g")],
}
PROVISIONED = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}


@pytest.fixture
def service() -> Clocked:
    return Clocked()


def create(service: Clocked, **options: Any) -> None:
    service.call("CreateTable", **new_table("pk", TableName="tab", **options))


def record(service: Clocked) -> Table:
    table = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert table is not None
    return table


def statuses(service: Clocked) -> tuple[str, dict[str, str]]:
    table = service.describe("tab")
    indexes = table.get("GlobalSecondaryIndexes", [])
    return table["TableStatus"], {index["IndexName"]: index["IndexStatus"] for index in indexes}


def set_back(service: Clocked, seconds: float = 100) -> None:
    service.clock.advance(-seconds)


def test_without_the_job_a_clock_that_is_set_back_brings_a_status_back(service: Clocked) -> None:
    """Which is what the job is for."""
    create(service)
    service.clock.advance(2)
    assert statuses(service) == ("ACTIVE", {})
    set_back(service)
    assert statuses(service) == ("CREATING", {})


def test_a_table_that_was_made_stays_active(service: Clocked) -> None:
    create(service, **GLOBAL)
    assert statuses(service) == ("CREATING", {"glo": "CREATING"})
    service.settle()
    set_back(service)
    assert statuses(service) == ("ACTIVE", {"glo": "ACTIVE"})
    service.call("PutItem", TableName="tab", Item={"pk": {"S": "a"}, "g": {"S": "a"}})
    query = {"KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": {"S": "a"}}}
    assert service.call("Query", TableName="tab", IndexName="glo", **query)["Count"] == 1


def test_a_table_that_was_changed_stays_active(service: Clocked) -> None:
    create(service, **PROVISIONED)
    service.settle()
    service.call("UpdateTable", TableName="tab", ProvisionedThroughput=MORE_UNITS)
    assert statuses(service) == ("UPDATING", {})
    assert service.describe("tab")["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    service.settle()
    set_back(service)
    assert statuses(service) == ("ACTIVE", {})
    assert service.describe("tab")["ProvisionedThroughput"]["ReadCapacityUnits"] == 9


def test_an_index_that_was_changed_stays_active(service: Clocked) -> None:
    indexes = [{**index("glo", "g"), "ProvisionedThroughput": UNITS}]
    create(service, **PROVISIONED, **(GLOBAL | {"GlobalSecondaryIndexes": indexes}))
    service.settle()
    update = {"Update": {"IndexName": "glo", "ProvisionedThroughput": MORE_UNITS}}
    service.call("UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=[update])
    assert statuses(service)[1] == {"glo": "UPDATING"}
    service.settle()
    set_back(service)
    assert statuses(service) == ("ACTIVE", {"glo": "ACTIVE"})
    (shown,) = service.describe("tab")["GlobalSecondaryIndexes"]
    assert shown["ProvisionedThroughput"]["ReadCapacityUnits"] == 9


def test_an_index_that_was_added_stays_active(service: Clocked) -> None:
    create(service)
    service.settle()
    service.call("PutItem", TableName="tab", Item={"pk": {"S": "a"}, "g": {"S": "a"}})
    added = {"Create": index("late", "g")}
    types = definitions(pk="S", g="S")
    service.call(
        "UpdateTable", TableName="tab", AttributeDefinitions=types, GlobalSecondaryIndexUpdates=[added]
    )
    assert statuses(service) == ("UPDATING", {"late": "CREATING"})
    service.settle()
    service.run_jobs()
    set_back(service)
    assert statuses(service) == ("ACTIVE", {"late": "ACTIVE"})


def test_another_key_stays_in_use(service: Clocked) -> None:
    create(service)
    service.settle()
    service.call("UpdateTable", TableName="tab", SSESpecification={"Enabled": True, "SSEType": "KMS"})
    assert service.describe("tab")["SSEDescription"]["Status"] == "UPDATING"
    service.settle()
    set_back(service)
    assert service.describe("tab")["SSEDescription"]["Status"] == "ENABLED"
    service.call("UpdateTable", TableName="tab", SSESpecification={"Enabled": False})
    service.settle()
    set_back(service)
    assert "SSEDescription" not in service.describe("tab")


def test_warm_throughput_that_was_raised_stays_raised(service: Clocked) -> None:
    create(service, **GLOBAL)
    service.settle()
    warm = {"ReadUnitsPerSecond": 20000, "WriteUnitsPerSecond": 9000}
    more = {"Update": {"IndexName": "glo", "WarmThroughput": warm}}
    service.call("UpdateTable", TableName="tab", WarmThroughput=warm)
    assert service.describe("tab")["WarmThroughput"]["Status"] == "UPDATING"
    assert service.settling.step(service.clock.now()) == pytest.approx(1.0)
    service.settle()
    service.call("UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=[more])
    assert service.describe("tab")["GlobalSecondaryIndexes"][0]["WarmThroughput"]["Status"] == "UPDATING"
    service.settle()
    set_back(service)
    after = service.describe("tab")
    shown = [after["WarmThroughput"], after["GlobalSecondaryIndexes"][0]["WarmThroughput"]]
    assert shown == [{**warm, "Status": "ACTIVE"}] * 2


def test_a_deleted_table_or_index_stays_away(service: Clocked) -> None:
    create(service, **GLOBAL)
    service.settle()
    gone = {"Delete": {"IndexName": "glo"}}
    service.call("UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=[gone])
    service.settle()
    set_back(service)
    assert statuses(service) == ("ACTIVE", {})
    assert [shown["AttributeName"] for shown in service.describe("tab")["AttributeDefinitions"]] == ["pk"]
    service.clock.advance(200)
    service.call("DeleteTable", TableName="tab")
    service.settle()
    set_back(service)
    assert service.refused("DescribeTable", TableName="tab")[0] == "ResourceNotFoundException"


def test_the_job_waits_until_a_status_is_over(service: Clocked) -> None:
    create(service)
    now = service.clock.now()
    version = record(service).version
    assert service.settling.step(now) == pytest.approx(1.0)
    assert record(service).version == version
    service.clock.advance(0.4)
    assert service.settling.step(service.clock.now()) == pytest.approx(0.6)
    service.clock.advance(0.6)
    assert service.settling.step(service.clock.now()) == 0.0
    assert (record(service).status, record(service).version) == ("ACTIVE", version + 1)
    assert service.settling.step(service.clock.now()) == pytest.approx(60.0)
    assert record(service).version == version + 1


def test_the_job_leaves_a_table_that_was_changed_meanwhile(service: Clocked) -> None:
    create(service, **PROVISIONED)
    service.clock.advance(2)
    other = Clocked(service.engine, now=service.clock.now())
    other.call("UpdateTable", TableName="tab", ProvisionedThroughput=MORE_UNITS)
    service.settling.step(service.clock.now())
    assert other.catalogue.refresh("000000000000", "us-east-1", "tab") is not None
    assert statuses(other) == ("UPDATING", {})


def test_requests_see_a_settled_table_by_its_new_version(service: Clocked) -> None:
    create(service)
    service.clock.advance(2)
    planned = record(service)
    service.settling.step(service.clock.now())
    assert record(service) is not planned
    service.call("PutItem", TableName="tab", Item={"pk": {"S": "a"}})
    assert service.call("GetItem", TableName="tab", Key={"pk": {"S": "a"}})["Item"]
