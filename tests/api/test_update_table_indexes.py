"""UpdateTable: global indexes that come and go while the table is in use."""

from typing import Any

import pytest

from clocked import Clocked
from item_tables import definitions, index
from table_changes import ONLY_ONE, UNITS, WRONG, create, make, units, update, wrong


@pytest.fixture
def service() -> Clocked:
    return Clocked()


def fill(service: Clocked, count: int, *, first: int = 0) -> None:
    for at in range(first, first + count):
        service.call("PutItem", TableName="tab", Item={"p": {"S": f"{at}"}, "g": {"S": f"g{at % 3}"}})


def count_in(service: Clocked, name: str) -> int:
    return int(service.call("Scan", TableName="tab", IndexName=name, Select="COUNT")["Count"])


def the_index(service: Clocked, name: str) -> Any:
    found = service.describe("tab").get("GlobalSecondaryIndexes", [])
    return next((each for each in found if each["IndexName"] == name), None)


def begin_to_fill(service: Clocked) -> int:
    """Have the backfill write something; give how many entries there are then."""
    while not (count := int(the_index(service, "new")["ItemCount"])):
        service.backfill.step(service.clock.now())
    return count


def test_an_index_is_added_filled_and_kept_up_with_meanwhile(service: Clocked) -> None:
    make(service, "p")
    fill(service, 1200)
    service.call("PutItem", TableName="tab", Item={"p": {"S": "odd"}, "g": {"N": "1"}})
    changed = update(
        service,
        AttributeDefinitions=definitions(g="S", unused="N"),
        GlobalSecondaryIndexUpdates=[create("new", "g")],
    )
    assert changed["TableStatus"] == "UPDATING"
    assert changed["AttributeDefinitions"] == definitions(g="S", p="S")
    (new,) = changed["GlobalSecondaryIndexes"]
    assert (new["IndexStatus"], new["Backfilling"], new["ItemCount"]) == ("CREATING", False, 0)

    service.clock.advance(2)
    new = the_index(service, "new")
    assert service.describe("tab")["TableStatus"] == "ACTIVE"
    assert (new["IndexStatus"], new["Backfilling"]) == ("CREATING", True)
    assert service.refused("Scan", TableName="tab", IndexName="new")[0] == "ValidationException"

    assert 0 < begin_to_fill(service) < 1200
    for at in range(0, 1200, 7):
        service.call("DeleteItem", TableName="tab", Key={"p": {"S": f"{at}"}})
    for at in range(1, 1200, 7):
        service.call("PutItem", TableName="tab", Item={"p": {"S": f"{at}"}, "g": {"S": "moved"}})
    for at in range(2, 1200, 7):
        service.call("PutItem", TableName="tab", Item={"p": {"S": f"{at}"}})
    fill(service, 50, first=5000)
    service.run_jobs()

    new = the_index(service, "new")
    assert new["IndexStatus"] == "ACTIVE"
    assert "Backfilling" not in new
    table = service.call("Scan", TableName="tab")["Items"]
    entries = service.call("Scan", TableName="tab", IndexName="new")["Items"]
    wanted = [item for item in table if "S" in item.get("g", {})]
    by_key = sorted(wanted, key=lambda item: str(item["p"]))
    assert sorted(entries, key=lambda item: str(item["p"])) == by_key
    assert new["ItemCount"] == len(wanted)
    sizes = sum(1 + len(item["p"]["S"]) + 1 + len(item["g"]["S"]) for item in wanted)
    assert new["IndexSizeBytes"] == sizes


def test_a_backfill_goes_on_after_a_restart() -> None:
    before = Clocked()
    make(before, "p")
    fill(before, 1100)
    update(before, AttributeDefinitions=definitions(g="S"), GlobalSecondaryIndexUpdates=[create("new", "g")])
    before.clock.advance(2)
    assert 0 < begin_to_fill(before) < 1100
    after = Clocked(before.engine, now=before.clock.now())
    after.run_jobs()
    assert the_index(after, "new")["ItemCount"] == count_in(after, "new") == 1100


def test_an_index_that_is_being_filled_can_be_given_up(service: Clocked) -> None:
    make(service, "p")
    fill(service, 600)
    defined = definitions(g="S")
    update(service, AttributeDefinitions=defined, GlobalSecondaryIndexUpdates=[create("new", "g")])
    service.clock.advance(2)
    begin_to_fill(service)
    service.call("DeleteItem", TableName="tab", Key={"p": {"S": "1"}})
    update(service, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "new"}}])
    service.settle()
    assert the_index(service, "new") is None
    update(service, AttributeDefinitions=defined, GlobalSecondaryIndexUpdates=[create("new", "g")])
    service.settle()
    assert the_index(service, "new")["ItemCount"] == 599


def test_a_deleted_index_is_gone_with_its_definitions_and_rows(service: Clocked) -> None:
    make(
        service,
        "p",
        types={"g": "S", "h": "S"},
        GlobalSecondaryIndexes=[index("one", "g"), index("two", "g", "h")],
    )
    fill(service, 30)
    changed = update(service, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "two"}}])
    assert changed["TableStatus"] == "UPDATING"
    assert [each["IndexStatus"] for each in changed["GlobalSecondaryIndexes"]] == ["ACTIVE", "DELETING"]
    assert changed["AttributeDefinitions"] == definitions(g="S", h="S", p="S")
    assert service.refused("Scan", TableName="tab", IndexName="two")[0] == "ValidationException"
    service.clock.advance(2)
    described = service.describe("tab")
    assert described["TableStatus"] == "ACTIVE"
    assert described["AttributeDefinitions"] == definitions(g="S", p="S")
    assert [each["IndexName"] for each in described["GlobalSecondaryIndexes"]] == ["one"]
    service.run_jobs()
    assert service.describe("tab") == described
    assert the_index(service, "one")["ItemCount"] == 30
    service.call("PutItem", TableName="tab", Item={"p": {"S": "x"}, "h": {"N": "1"}})


def test_indexes_that_cannot_be_added(service: Clocked) -> None:
    make(
        service,
        "p",
        "s",
        types={"n": "N"},
        LocalSecondaryIndexes=[index("loc", "p", "s")],
        GlobalSecondaryIndexes=[index("glo", "n")],
    )

    def add(spec: dict[str, Any], **defined: str) -> str:
        return wrong(service, AttributeDefinitions=definitions(**defined), GlobalSecondaryIndexUpdates=[spec])

    for name in ("loc", "glo"):
        assert add(create(name, "q"), q="S") == "Attempting to create an index which already exists"
    assert wrong(service, GlobalSecondaryIndexUpdates=[create("new", "p")]) == (
        WRONG + "AttributeDefinitions is not specified for index: new"
    )
    assert add(create("new", "p", "q"), q="S") == (
        "Invalid KeySchema: Some index key attribute have no definition"
    )
    assert add(create("new", "m1"), pk="S") == (
        WRONG + "Some index key attributes are not defined in AttributeDefinitions. Keys: [m1], "
        "AttributeDefinitions: [pk]"
    )
    assert add(create("new", "n"), n="S") == (
        WRONG
        + "Attributes cannot be redefined. Please check that your attribute has the same type as previously "
        "defined. Existing schema: Schema:[SchemaElement: key{n:N:HASH}] New schema: Schema:[SchemaElement: "
        "key{n:S:HASH}]"
    )
    assert add(create("new", "q", ProvisionedThroughput=UNITS), q="S") == (
        WRONG + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: new when "
        "BillingMode is PAY_PER_REQUEST"
    )


def test_definitions_of_other_attributes_are_ignored(service: Clocked) -> None:
    make(service, "p")
    changed = update(
        service,
        AttributeDefinitions=definitions(p="N", g="S", stale="B"),
        GlobalSecondaryIndexUpdates=[create("new", "g")],
    )
    assert changed["AttributeDefinitions"] == definitions(g="S", p="S")


def test_the_twenty_first_index(service: Clocked) -> None:
    make(service, "p", GlobalSecondaryIndexes=[index(f"glo{at}", "p") for at in range(20)])
    refusal = service.refused(
        "UpdateTable",
        TableName="tab",
        AttributeDefinitions=definitions(p="S"),
        GlobalSecondaryIndexUpdates=[create("new", "p")],
    )
    assert refusal == (
        "LimitExceededException",
        "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20",
    )


def test_two_index_changes_in_one_request(service: Clocked) -> None:
    make(service, "p", GlobalSecondaryIndexes=[index("one", "p"), index("two", "p")])
    for updates in (
        [{"Delete": {"IndexName": "one"}}, {"Delete": {"IndexName": "two"}}],
        [{"Delete": {"IndexName": "one"}}, create("new", "p")],
        [create("new", "p"), create("newer", "p")],
        [{"Delete": {"IndexName": "x01"}}, {"Delete": {"IndexName": "x02"}}],
    ):
        refusal = service.refused(
            "UpdateTable",
            TableName="tab",
            AttributeDefinitions=definitions(p="S"),
            GlobalSecondaryIndexUpdates=updates,
        )
        assert refusal == ONLY_ONE


def test_indexes_there_are_not(service: Clocked) -> None:
    make(service, "p", "s", LocalSecondaryIndexes=[index("loc", "p", "s")])
    for action in ("Delete", "Update"):
        asked = [{action: {"IndexName": "ghost", "OnDemandThroughput": {"MaxReadRequestUnits": 1}}}]
        assert service.refused("UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=asked) == (
            "ResourceNotFoundException",
            "Requested resource not found: Index ghost for table tab",
        )
        asked[0][action]["IndexName"] = "loc"
        assert wrong(service, GlobalSecondaryIndexUpdates=asked) == (
            f"Cannot {action.lower()} an index that is not a GlobalSecondaryIndex: loc"
        )


def test_capacity_of_an_index(service: Clocked) -> None:
    make(
        service,
        "p",
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[index("glo", "p") | {"ProvisionedThroughput": units(2, 2)}],
    )

    def to(reads: int, writes: int) -> list[dict[str, Any]]:
        return [{"Update": {"IndexName": "glo", "ProvisionedThroughput": units(reads, writes)}}]

    changed = update(service, GlobalSecondaryIndexUpdates=to(3, 1))
    (glo,) = changed["GlobalSecondaryIndexes"]
    assert (changed["TableStatus"], glo["IndexStatus"]) == ("ACTIVE", "UPDATING")
    assert glo["ProvisionedThroughput"]["ReadCapacityUnits"] == 2
    service.settle()
    glo = the_index(service, "glo")
    assert glo["IndexStatus"] == "ACTIVE"
    assert glo["ProvisionedThroughput"]["ReadCapacityUnits"] == 3
    assert glo["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1
    assert wrong(service, GlobalSecondaryIndexUpdates=to(3, 1)).startswith(
        "The provisioned throughput for the index glo will not change. The requested value equals the current "
        "value. Current ReadCapacityUnits provisioned for index glo: 3."
    )
    assert service.refused("UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=to(40_001, 1)) == (
        "LimitExceededException",
        (
            "The requested ReadCapacityUnits for index glo, 40001, is above the per index maximum for the account in "
            "us-east-1. Per index maximum: 40000. Refer to the Amazon DynamoDB Developer Guide for current limits and "
            "how to request higher limits."
        ),
    )


def test_updates_of_an_index_on_demand(service: Clocked) -> None:
    make(service, "p", GlobalSecondaryIndexes=[index("glo", "p")])
    for members in ({}, {"ProvisionedThroughput": UNITS}, {"OnDemandThroughput": {}}):
        asked = [{"Update": {"IndexName": "glo", **members}}]
        assert wrong(service, GlobalSecondaryIndexUpdates=asked) == (
            WRONG + "The only Updates for index: glo when TableThroughputMode is PAY_PER_REQUEST can be to "
            "OnDemandThroughput, WarmThroughput"
        )
    warm = [{"Update": {"IndexName": "glo", "WarmThroughput": {"WriteUnitsPerSecond": 5000}}}]
    changed = update(service, GlobalSecondaryIndexUpdates=warm)
    (glo,) = changed["GlobalSecondaryIndexes"]
    assert (glo["IndexStatus"], glo["WarmThroughput"]["Status"]) == ("ACTIVE", "UPDATING")
    service.settle()
    assert the_index(service, "glo")["WarmThroughput"]["WriteUnitsPerSecond"] == 5000


def test_a_failed_update_changes_nothing(service: Clocked) -> None:
    make(service, "p", ProvisionedThroughput=UNITS)
    before = service.describe("tab")
    code, _ = service.refused(
        "UpdateTable",
        TableName="tab",
        ProvisionedThroughput=units(9, 9),
        GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "ghost", "ProvisionedThroughput": UNITS}}],
    )
    assert code == "ResourceNotFoundException"
    assert service.describe("tab") == before


def test_a_new_index_may_come_with_a_switch_to_on_demand(service: Clocked) -> None:
    make(service, "p", ProvisionedThroughput=UNITS)
    fill(service, 10)
    changed = update(
        service,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=definitions(g="S"),
        GlobalSecondaryIndexUpdates=[create("new", "g")],
    )
    assert changed["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    service.settle()
    assert the_index(service, "new")["ItemCount"] == 10
