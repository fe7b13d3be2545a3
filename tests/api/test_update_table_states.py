"""UpdateTable: what has to wait while something else is under way."""

import pytest

from clocked import Clocked
from item_tables import definitions, index, key_schema
from table_changes import ONLY_ONE, UNITS, busy, create, make, units, update


@pytest.fixture
def service() -> Clocked:
    return Clocked()


def test_a_table_that_is_being_created_cannot_be_changed(service: Clocked) -> None:
    service.call(
        "CreateTable",
        TableName="tab",
        KeySchema=key_schema("p"),
        AttributeDefinitions=definitions(p="S"),
        BillingMode="PAY_PER_REQUEST",
    )
    assert busy(service, DeletionProtectionEnabled=True) == "Table is being created: tab"


def test_what_waits_for_a_change_of_capacity(service: Clocked) -> None:
    make(service, "p", ProvisionedThroughput=UNITS)
    update(service, ProvisionedThroughput=units(6, 6))
    iops = "Table IOPS are currently being updated. Table: tab"
    assert busy(service, ProvisionedThroughput=units(7, 7)) == iops
    assert busy(service, BillingMode="PAY_PER_REQUEST") == iops
    view = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert busy(service, StreamSpecification=view) == (
        "Can't enable or disable stream while table IOPS are being updated. Table: tab"
    )
    new = create("new", "p", ProvisionedThroughput=UNITS)
    assert busy(service, AttributeDefinitions=definitions(p="S"), GlobalSecondaryIndexUpdates=[new]) == (
        "Can't create or delete indexes while table IOPS are being updated. Table: tab"
    )
    assert busy(service, "DeleteTable") == "Table: tab is in the process of being updated."
    assert update(service, DeletionProtectionEnabled=False)["TableStatus"] == "UPDATING"


def test_what_waits_for_a_new_index(service: Clocked) -> None:
    make(service, "p", types={"g": "S"}, GlobalSecondaryIndexes=[index("old", "g")])
    both = definitions(g="S")
    update(service, AttributeDefinitions=both, GlobalSecondaryIndexUpdates=[create("new", "g")])
    assert busy(service, BillingMode="PROVISIONED", ProvisionedThroughput=UNITS) == (
        "Can't change table IOPS when an index is being created. Table: tab Indexes: [new]"
    )
    view = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert busy(service, StreamSpecification=view) == (
        "Can't change stream status when an index is being created. Table: tab Indexes: [new]"
    )
    assert busy(service, OnDemandThroughput={"MaxReadRequestUnits": 1}) == (
        "OnDemandThroughput cannot be updated while index creation is in progress for indexes: [new]"
    )
    ceiling = {"OnDemandThroughput": {"MaxReadRequestUnits": 1}}
    assert busy(service, GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "new", **ceiling}}]) == (
        "Index is being created but is not backfilling yet.  Table: tab Index: new"
    )
    assert busy(service, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "new"}}]) == (
        "Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the "
        "index is active. Table: tab Index: new"
    )
    for other in ({"Delete": {"IndexName": "old"}}, create("third", "g")):
        refusal = service.refused(
            "UpdateTable", TableName="tab", AttributeDefinitions=both, GlobalSecondaryIndexUpdates=[other]
        )
        assert refusal == ONLY_ONE
    changed = update(service, GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "old", **ceiling}}])
    assert [each["IndexStatus"] for each in changed["GlobalSecondaryIndexes"]] == ["UPDATING", "CREATING"]
    assert busy(service, GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "old", **ceiling}}]) == (
        "Index is being updated. Table: tab Index: old"
    )
    assert busy(service, "DeleteTable") == (
        "Cannot delete table while indexes are being created, updated, or deleted."
    )
