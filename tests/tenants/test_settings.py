"""Tenants of a shared table do nothing with it as a whole: not by any operation, and not by the server's pages."""

import json
from typing import Any

import pytest

from permissions.test_needs import AUTO_SCALING, CLOUDWATCH, DYNAMODB, IDENTITIES
from tenants.shared_house import CANARY, TABLE, TABLES, House, allow, item_of, key_of
from tenants.signed_callers import SignedCaller

DENIED = "AccessDeniedException"
STREAMS = {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"}
# What tenants have, on their own keys.
ITEMS = {
    *("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "BatchGetItem", "BatchWriteItem"),
    *("TransactGetItems", "TransactWriteItems"),
    *("ExecuteStatement", "ExecuteTransaction", "BatchExecuteStatement"),
}


@pytest.fixture(scope="module", autouse=True)
def items(house: House) -> None:
    house.must("PutItem", TableName=TABLE, Item=item_of("bob"))


@pytest.fixture(scope="module", params=["alice", "alice's session"])
def alice(house: House, request: pytest.FixtureRequest) -> SignedCaller:
    return house.people[request.param]


@pytest.mark.parametrize("service", ["dynamodb", "monitoring", "application-autoscaling"])
def test_every_other_operation_is_denied(alice: SignedCaller, service: str) -> None:
    rows = {"dynamodb": DYNAMODB, "monitoring": CLOUDWATCH, "application-autoscaling": AUTO_SCALING}[service]
    for name, (request, needs) in rows.items():
        if service == "dynamodb" and (name in ITEMS or not needs):
            continue
        prefix = "streams" if service == "dynamodb" and name in STREAMS else service
        reply = alice.ask(name, request, service=prefix)
        code = reply.body["__type"].rpartition("#")[2]
        assert (name, code) in {(name, DENIED), (name, "AccessDenied")}, reply.raw
        assert CANARY.encode() not in reply.raw


def test_identities_are_not_to_be_seen_or_changed(alice: SignedCaller) -> None:
    iam = alice.client("iam")
    for name, (request, _) in IDENTITIES.items():
        error = _error(iam, name, request)
        assert (name, error["Code"]) == (name, "AccessDenied")
        assert f"is not authorized to perform: iam:{name}" in error["Message"]


def _error(client: Any, operation: str, request: dict[str, Any]) -> dict[str, str]:
    name = client.meta.method_to_api_mapping
    (method,) = (python for python, api in name.items() if api == operation)
    with pytest.raises(client.exceptions.ClientError) as caught:
        getattr(client, method)(**request)
    error: dict[str, str] = caught.value.response["Error"]
    return error


def test_the_stream_shows_nothing(house: House, alice: SignedCaller) -> None:
    arn = house.must("DescribeTable", TableName=TABLE)["Table"]["LatestStreamArn"]
    described = house.admin.ask("DescribeStream", {"StreamArn": arn}, service="streams").body
    shard = described["StreamDescription"]["Shards"][0]["ShardId"]
    asked = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = house.admin.ask("GetShardIterator", asked, service="streams").body["ShardIterator"]
    for operation, request in (
        ("DescribeStream", {"StreamArn": arn}),
        ("GetShardIterator", asked),
        ("GetRecords", {"ShardIterator": iterator}),
        ("GetRecords", {"ShardIterator": iterator.replace("orders", "ORDERS")}),
        ("GetRecords", {"ShardIterator": f"{TABLES}/orders|" + iterator.partition("|")[2]}),
    ):
        reply = alice.ask(operation, request, service="streams")
        assert reply.error == DENIED, reply.raw
        assert CANARY.encode() not in reply.raw


@pytest.mark.parametrize(
    "path",
    [
        "/metrics",
        f"/_hashrange/heat?table={TABLE}",
        f"/_hashrange/insights?table={TABLE}",
        f"/_hashrange/bill?table={TABLE}",
        "/_hashrange/clock",
        "/_hashrange/chaos",
    ],
)
def test_the_servers_own_pages_are_closed(alice: SignedCaller, path: str) -> None:
    reply = alice.look_at(path)
    assert (reply.status, reply.error) == (403, DENIED) or reply.status == 404
    assert CANARY.encode() not in reply.raw


def test_pages_about_a_table_are_opened_by_its_arn(house: House) -> None:
    watcher = house.user("watcher", allow("hashrange:GetHeat", resource=f"{TABLES}/{TABLE}"))
    heat = "/_hashrange/heat?table="
    assert watcher.look_at(f"{heat}{TABLE}").status == 200
    assert watcher.look_at(f"{heat}{TABLE}&index=by-city").status == 200
    for path in (
        f"{heat}{TABLE}s",
        f"{heat}{TABLE}&region=eu-west-1",
        f"{heat}{TABLE}s&table={TABLE}",
        f"{heat}x%2F{TABLE}",
        f"{heat}%2A",
        "/_hashrange/heat",
        f"/_hashrange/insights?table={TABLE}",
        "/metrics",
    ):
        reply = watcher.look_at(path)
        assert (reply.status, reply.error) == (403, DENIED), path


def test_a_resource_policy_is_not_put_on_ones_own_behalf(alice: SignedCaller) -> None:
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": "000000000000"},
        "Action": "dynamodb:*",
        "Resource": "*",
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    arn = f"{TABLES}/{TABLE}"
    for operation, request in (
        (
            "PutResourcePolicy",
            {"ResourceArn": arn, "Policy": policy, "ConfirmRemoveSelfResourceAccess": True},
        ),
        ("PutResourcePolicy", {"ResourceArn": arn, "Policy": "x" * 30_000}),
        ("GetResourcePolicy", {"ResourceArn": arn}),
        ("DeleteResourcePolicy", {"ResourceArn": arn}),
    ):
        assert alice.ask(operation, request).error == DENIED


def test_nothing_of_it_all_has_changed_anything(house: House, alice: SignedCaller) -> None:
    del alice  # the tests above have run for both
    table = house.must("DescribeTable", TableName=TABLE)["Table"]
    assert table["TableStatus"] == "ACTIVE"
    assert len(table["GlobalSecondaryIndexes"]) == 2
    assert house.must("ListTagsOfResource", ResourceArn=table["TableArn"])["Tags"] == []
    assert house.must("GetItem", TableName=TABLE, Key=key_of("bob"))["Item"] == item_of("bob")
