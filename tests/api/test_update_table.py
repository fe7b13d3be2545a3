"""UpdateTable: one concern at a time, and limits on how often."""

from typing import Any
from uuid import UUID

import pytest

from clocked import Clocked
from hashrange.storage import key_rows
from hashrange.storage.key_rows import KmsKey
from hashrange.storage.setting_rows import Place
from item_tables import definitions, index, key_schema
from table_changes import UNITS, WRONG, busy, create, make, units, update, wrong


@pytest.fixture
def service() -> Clocked:
    return Clocked()


# What a request may ask for


def test_nothing_asked(service: Clocked) -> None:
    message = (
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
        "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, "
        "MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is "
        "required"
    )
    assert wrong(service) == message
    assert wrong(service, GlobalSecondaryIndexUpdates=[]) == message
    assert wrong(service, AttributeDefinitions=definitions(p="S")) == message


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            {"SSESpecification": {"Enabled": True}, "TableClass": "STANDARD"},
            "Server-Side Encryption modification must be the only operation in the request",
        ),
        (
            {"TableClass": "STANDARD", "DeletionProtectionEnabled": True},
            "TableClass modification must be the only operation in the request",
        ),
        (
            {"DeletionProtectionEnabled": True, "WarmThroughput": {"ReadUnitsPerSecond": 1}},
            "DeletionProtection modification must be the only operation in the request",
        ),
        (
            {"BillingMode": "PAY_PER_REQUEST", "WarmThroughput": {"ReadUnitsPerSecond": 1}},
            "WarmThroughput must be the only operation in the request",
        ),
        (
            {
                "OnDemandThroughput": {"MaxReadRequestUnits": 1},
                "StreamSpecification": {"StreamEnabled": False},
            },
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        ),
        (
            {"ProvisionedThroughput": UNITS, "StreamSpecification": {"StreamEnabled": False}},
            "You cannot modify stream status while updating table IOPS",
        ),
        (
            {
                "ProvisionedThroughput": UNITS,
                "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "abc"}}],
            },
            "You cannot create or delete index while updating table IOPS",
        ),
        (
            {
                "StreamSpecification": {"StreamEnabled": False},
                "GlobalSecondaryIndexUpdates": [create("abc", "p")],
            },
            "You cannot create or delete index while changing stream status",
        ),
        (
            {
                "WarmThroughput": {"ReadUnitsPerSecond": 1},
                "GlobalSecondaryIndexUpdates": [create("abc", "p")],
            },
            "Create global secondary index cannot be specified when updating WarmThroughput",
        ),
        (
            {"DeletionProtectionEnabled": True, "GlobalSecondaryIndexUpdates": []},
            "List of GlobalSecondaryIndexUpdates is empty",
        ),
        (
            {"BillingMode": "PROVISIONED"},
            "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
        ),
        (
            {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": UNITS},
            "ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"StreamSpecification": {"StreamEnabled": True}},
            "If stream is being enabled then UpdateViewType is required",
        ),
        (
            {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}},
            "If stream is being disabled, then UpdateViewType must not be specified",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{}]},
            (
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            ),
        ),
        (
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Delete": {"IndexName": "abc"}, "Update": {"IndexName": "abc"}}
                ]
            },
            "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
        ),
        (
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Delete": {"IndexName": "abc"}},
                    {"Delete": {"IndexName": "abc"}},
                ]
            },
            "Only one global secondary index update per index is allowed simultaneously. Index: abc",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "abc", "WarmThroughput": {}}}]},
            (
                "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for "
                "index: abc"
            ),
        ),
    ],
)
def test_what_does_not_go_together_is_refused_before_the_table_is_looked_for(
    service: Clocked, request_: dict[str, Any], message: str
) -> None:
    assert wrong(service, **request_) == WRONG + message


def test_a_table_there_is_not(service: Clocked) -> None:
    assert service.refused("UpdateTable", TableName="tab", ProvisionedThroughput=UNITS) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: tab not found",
    )


def test_empty_structures_beside_a_change_are_ignored(service: Clocked) -> None:
    make(service, "p")
    assert update(service, WarmThroughput={}, DeletionProtectionEnabled=True)["DeletionProtectionEnabled"]


# Capacity and billing mode


def test_a_change_of_capacity_is_seen_when_it_is_done(service: Clocked) -> None:
    make(service, "p", ProvisionedThroughput=UNITS)
    now = service.clock.now()
    changed = update(service, ProvisionedThroughput=units(7, 4))
    assert changed["TableStatus"] == "UPDATING"
    assert changed["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "LastIncreaseDateTime": now,
        "LastDecreaseDateTime": now,
        **UNITS,
    }
    service.settle()
    described = service.describe("tab")
    assert described["TableStatus"] == "ACTIVE"
    done = described["ProvisionedThroughput"].pop("LastIncreaseDateTime")
    assert now < done <= service.clock.now()
    assert described["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 1,
        "LastDecreaseDateTime": done,
        **units(7, 4),
    }
    assert described["WarmThroughput"] == {
        "ReadUnitsPerSecond": 7,
        "WriteUnitsPerSecond": 5,
        "Status": "ACTIVE",
    }


def test_the_same_capacity_again_is_refused(service: Clocked) -> None:
    make(service, "p", ProvisionedThroughput=UNITS)
    for mode in ({}, {"BillingMode": "PROVISIONED"}):
        assert wrong(service, ProvisionedThroughput=UNITS, **mode) == (
            "The provisioned throughput for the table will not change. The requested value equals the current "
            "value. Current ReadCapacityUnits provisioned for the table: 5. Requested ReadCapacityUnits: 5. "
            "Current WriteCapacityUnits provisioned for the table: 5. Requested WriteCapacityUnits: 5. Refer to "
            "the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
        )


def decrease(service: Clocked, to: int) -> tuple[str, str | None] | None:
    """Lower the capacity; give the refusal, if any."""
    try:
        update(service, ProvisionedThroughput=units(to, 1))
    except Exception:  # noqa: BLE001 - asked again for its code and message
        return service.refused("UpdateTable", TableName="tab", ProvisionedThroughput=units(to, 1))
    service.settle()
    return None


def test_four_decreases_a_day_then_one_an_hour(service: Clocked) -> None:
    make(service, "p", ProvisionedThroughput=units(20, 1))
    service.clock.advance(12 * 3600)
    for to in (19, 18, 17, 16):
        assert decrease(service, to) is None
    last = service.clock.now() - 2
    refusal = decrease(service, 15)
    assert refusal == (
        "LimitExceededException",
        (
            "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. After "
            "the first 4 decreases, each subsequent decrease in the same UTC day can be performed at most once every "
            "3600 seconds. Number of decreases today: 4. Last decrease at Tuesday, November 14, 2023 at 12:00:08 PM "
            "Coordinated Universal Time. Next decrease can be made at Tuesday, November 14, 2023 at 1:00:08 PM "
            "Coordinated Universal Time."
        ),
    )
    assert service.describe("tab")["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 4
    service.clock.advance(last + 3599 - service.clock.now())
    assert decrease(service, 15) is not None
    service.clock.advance(1)
    assert decrease(service, 15) is None
    assert decrease(service, 14) is not None
    service.clock.advance(12 * 3600)
    assert service.describe("tab")["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0
    assert decrease(service, 14) is None


def test_increases_are_not_limited(service: Clocked) -> None:
    make(service, "p", ProvisionedThroughput=units(1, 1))
    for to in range(2, 12):
        update(service, ProvisionedThroughput=units(to, 1))
        service.settle()
    assert service.describe("tab")["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0


def test_there_and_back_between_billing_modes(service: Clocked) -> None:
    make(
        service,
        "p",
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[index("glo", "p") | {"ProvisionedThroughput": UNITS}],
    )
    changed = update(service, BillingMode="PAY_PER_REQUEST")
    assert changed["TableStatus"] == "UPDATING"
    assert changed["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    assert changed["TableThroughputModeSummary"] == {"TableThroughputMode": "PAY_PER_REQUEST"}
    assert changed["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **units(0, 0)}
    service.settle()
    described = service.describe("tab")
    assert "LastUpdateToPayPerRequestDateTime" in described["BillingModeSummary"]
    assert described["WarmThroughput"]["ReadUnitsPerSecond"] == 12000
    (glo,) = described["GlobalSecondaryIndexes"]
    assert glo["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    assert glo["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1
    assert glo["WarmThroughput"]["WriteUnitsPerSecond"] == 4000
    assert (
        wrong(service, ProvisionedThroughput=UNITS)
        == WRONG
        + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
    )
    assert wrong(service, BillingMode="PROVISIONED", ProvisionedThroughput=UNITS) == (
        WRONG + "ProvisionedThroughput must be specified for index: glo"
    )
    changed = update(
        service,
        BillingMode="PROVISIONED",
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "glo", "ProvisionedThroughput": units(2, 3)}}],
    )
    assert changed["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    service.settle()
    described = service.describe("tab")
    assert described["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert described["WarmThroughput"]["ReadUnitsPerSecond"] == 12000
    assert described["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["WriteCapacityUnits"] == 3


def test_the_same_billing_mode_again_changes_nothing(service: Clocked) -> None:
    make(service, "p")
    assert update(service, BillingMode="PAY_PER_REQUEST")["TableStatus"] == "UPDATING"
    assert service.describe("tab")["TableStatus"] == "ACTIVE"


def test_four_switches_to_on_demand_a_day(service: Clocked) -> None:
    make(service, "p", ProvisionedThroughput=UNITS)
    for _ in range(4):
        update(service, BillingMode="PAY_PER_REQUEST")
        service.settle()
        update(service, BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
        service.settle()
    code, _ = service.refused("UpdateTable", TableName="tab", BillingMode="PAY_PER_REQUEST")
    assert code == "LimitExceededException"
    service.clock.advance(24 * 3600)
    update(service, BillingMode="PAY_PER_REQUEST")


def test_on_demand_ceilings_are_merged_and_taken_away(service: Clocked) -> None:
    make(service, "p")
    both = {"MaxReadRequestUnits": 1000, "MaxWriteRequestUnits": 500}
    changed = update(service, OnDemandThroughput=both)
    assert (changed["TableStatus"], changed["OnDemandThroughput"]) == ("ACTIVE", both)
    update(service, OnDemandThroughput={"MaxReadRequestUnits": 2000})
    assert service.describe("tab")["OnDemandThroughput"] == {**both, "MaxReadRequestUnits": 2000}
    changed = update(service, OnDemandThroughput={"MaxReadRequestUnits": -1})
    assert changed["OnDemandThroughput"] == {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 500}
    assert service.describe("tab")["OnDemandThroughput"] == {"MaxWriteRequestUnits": 500}
    update(service, OnDemandThroughput={"MaxWriteRequestUnits": -1})
    assert "OnDemandThroughput" not in service.describe("tab")
    for units_ in (0, -2):
        assert wrong(service, OnDemandThroughput={"MaxReadRequestUnits": units_}) == (
            WRONG + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"
        )


def test_on_demand_ceilings_end_with_the_mode(service: Clocked) -> None:
    make(service, "p", OnDemandThroughput={"MaxReadRequestUnits": 5})
    update(service, BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    service.settle()
    assert "OnDemandThroughput" not in service.describe("tab")
    assert wrong(service, OnDemandThroughput={"MaxReadRequestUnits": 5}) == (
        WRONG
        + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is "
        "PROVISIONED"
    )


def test_warm_throughput_rises_and_never_falls(service: Clocked) -> None:
    make(service, "p")
    default = {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000}
    changed = update(service, WarmThroughput={"ReadUnitsPerSecond": 13000})
    assert changed["TableStatus"] == "ACTIVE"
    assert changed["WarmThroughput"] == {**default, "Status": "UPDATING"}
    service.settle()
    raised = {**default, "ReadUnitsPerSecond": 13000}
    assert service.describe("tab")["WarmThroughput"] == {**raised, "Status": "ACTIVE"}
    update(service, WarmThroughput=raised)
    service.settle()
    assert wrong(service, WarmThroughput={"ReadUnitsPerSecond": 12999}) == (
        WRONG
        + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, "
        "decreasing WarmThroughput is not supported"
    )


# Settings


def test_a_stream_is_switched_on_and_off(service: Clocked) -> None:
    make(service, "p")
    view = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    assert wrong(service, StreamSpecification={"StreamEnabled": False}) == (
        "Table has no stream to disable: TableName: tab"
    )
    changed = update(service, StreamSpecification=view)
    assert (changed["TableStatus"], changed["StreamSpecification"]) == ("UPDATING", view)
    first = changed["LatestStreamArn"]
    service.settle()
    assert wrong(service, StreamSpecification=view) == "Table already has an enabled stream: TableName: tab"
    changed = update(service, StreamSpecification={"StreamEnabled": False})
    assert "StreamSpecification" not in changed
    assert changed["LatestStreamArn"] == first
    service.settle()
    assert update(service, StreamSpecification=view)["LatestStreamArn"] != first


def test_encryption_is_changed_and_the_old_key_is_shown_until_then(service: Clocked) -> None:
    make(service, "p")
    assert (
        wrong(service, SSESpecification={"Enabled": False}) == WRONG + "Table is already encrypted by default"
    )
    changed = update(service, SSESpecification={"Enabled": True})
    assert (changed["TableStatus"], changed["SSEDescription"]["Status"]) == ("ACTIVE", "UPDATING")
    assert (
        busy(service, SSESpecification={"Enabled": False}) == "Server-Side Encryption is still being updated"
    )
    service.settle()
    default = service.describe("tab")["SSEDescription"]
    assert default["Status"] == "ENABLED"
    key = KmsKey(id=str(UUID(int=1)), created_at=0.0, policy="", materials=())
    place = Place("000000000000", "us-east-1")
    service.engine.write(lambda tx: key_rows.save_key(tx, place, key))
    own = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key_rows.key_arn(place, key.id)}
    assert update(service, SSESpecification=own)["SSEDescription"] == {**default, "Status": "UPDATING"}
    service.settle()
    assert service.describe("tab")["SSEDescription"]["KMSMasterKeyArn"] == own["KMSMasterKeyId"]
    assert wrong(service, SSESpecification=own) == (
        WRONG
        + "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want "
        "to change Master Key"
    )
    update(service, SSESpecification={"Enabled": False})
    service.settle()
    assert "SSEDescription" not in service.describe("tab")


def test_four_changes_of_encryption_a_day_then_one_in_six_hours(service: Clocked) -> None:
    make(service, "p")
    for at in range(4):
        update(service, SSESpecification={"Enabled": at % 2 == 0})
        service.settle()
    code, message = service.refused("UpdateTable", TableName="tab", SSESpecification={"Enabled": True})
    assert code == "LimitExceededException"
    assert message is not None
    assert message.startswith(
        "Subscriber limit exceeded: Encryption mode changes are limited in the 24h window"
    )
    service.clock.advance(6 * 3600)
    update(service, SSESpecification={"Enabled": True})


def test_two_changes_of_table_class_a_month(service: Clocked) -> None:
    make(service, "p")
    assert update(service, TableClass="STANDARD")["TableStatus"] == "UPDATING"
    assert "TableClassSummary" not in service.describe("tab")
    changed = update(service, TableClass="STANDARD_INFREQUENT_ACCESS")
    assert changed["TableStatus"] == "UPDATING"
    assert "TableClassSummary" not in changed
    service.settle()
    summary = service.describe("tab")["TableClassSummary"]
    assert summary["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert "LastUpdateDateTime" in summary
    update(service, TableClass="STANDARD")
    service.settle()
    for name in ("STANDARD", "STANDARD_INFREQUENT_ACCESS"):
        assert service.refused("UpdateTable", TableName="tab", TableClass=name) == (
            "LimitExceededException",
            "Subscriber limit exceeded: Updates to TableClass are limited to 2 times in 30 day(s).",
        )
    service.clock.advance(30 * 86400)
    update(service, TableClass="STANDARD_INFREQUENT_ACCESS")


def test_deletion_protection_changes_at_once(service: Clocked) -> None:
    make(service, "p")
    for wanted in (True, True, False):
        changed = update(service, DeletionProtectionEnabled=wanted)
        assert (changed["TableStatus"], changed["DeletionProtectionEnabled"]) == ("ACTIVE", wanted)


def test_a_stream_may_come_with_a_switch_to_on_demand(service: Clocked) -> None:
    make(service, "p", ProvisionedThroughput=UNITS)
    view = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    changed = update(service, BillingMode="PAY_PER_REQUEST", StreamSpecification=view)
    assert changed["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert changed["StreamSpecification"] == view


def test_without_transitions_everything_is_done_at_once() -> None:
    service = Clocked(transition_ms=0)
    service.call(
        "CreateTable",
        TableName="tab",
        KeySchema=key_schema("p"),
        AttributeDefinitions=definitions(p="S"),
        ProvisionedThroughput=UNITS,
    )
    assert service.describe("tab")["TableStatus"] == "ACTIVE"
    assert update(service, ProvisionedThroughput=units(6, 6))["TableStatus"] == "UPDATING"
    assert service.describe("tab")["ProvisionedThroughput"]["ReadCapacityUnits"] == 6
    service.call("DeleteTable", TableName="tab")
    assert service.refused("DescribeTable", TableName="tab")[0] == "ResourceNotFoundException"
