"""Ways round a policy that must lead nowhere, and the words of a refusal."""

from dataclasses import replace
from typing import Any

import pytest

from hashrange.audit.events import Origin
from hashrange.auth.principals import Principal
from permissions.callers import OTHERS, OURS, Guarded, allow, deny, document, user

KEY = {"owner": {"S": "alice"}, "id": {"S": "1"}}
ORDERS = f"arn:aws:dynamodb:us-east-1:{OURS}:table/orders"
EVE = f"arn:aws:iam::{OTHERS}:user/eve"


@pytest.fixture
def server() -> Guarded:
    server = Guarded()
    server.table()
    return server


def test_the_words_of_a_refusal(server: Guarded) -> None:
    error = server.error(user(), "GetItem", TableName="orders", Key=KEY)
    assert error is not None
    assert error.status == 400
    assert error.message == (
        f"User: arn:aws:iam::{OURS}:user/alice is not authorized to perform: dynamodb:GetItem on resource: {ORDERS} "
        "because no identity-based policy allows the dynamodb:GetItem action"
    )
    error = server.error(user(allow("*"), deny("Query")), "Query", **_city_query())
    assert error is not None
    assert error.message == (
        f"User: arn:aws:iam::{OURS}:user/alice is not authorized to perform: dynamodb:Query on resource: "
        f"{ORDERS}/index/by-city with an explicit deny in an identity-based policy"
    )


def _city_query() -> dict[str, Any]:
    return {
        "TableName": "orders",
        "IndexName": "by-city",
        "KeyConditionExpression": "city = :c",
        "ExpressionAttributeValues": {":c": {"S": "Rome"}},
    }


def test_an_index_is_a_resource_of_its_own(server: Guarded) -> None:
    table_only, index_only = (
        user(allow("Query", "Scan", resource=arn)) for arn in (ORDERS, f"{ORDERS}/index/*")
    )
    assert server.denies(table_only, "Query", **_city_query())
    assert not server.denies(index_only, "Query", **_city_query())
    assert server.denies(index_only, "Scan", TableName="orders")
    assert server.denies(table_only, "Scan", TableName="orders", IndexName="by-city")


@pytest.mark.parametrize("name", ["orders", ORDERS, ORDERS.replace("arn:aws:", "arn:aws-cn:")])
def test_a_table_is_denied_under_every_name(server: Guarded, name: str) -> None:
    principal = user(allow("*"), deny("*", resource=ORDERS))
    assert server.denies(principal, "GetItem", TableName=name, Key=KEY)
    assert server.denies(principal, "DescribeTable", TableName=name)
    assert server.denies(principal, "BatchGetItem", RequestItems={name: {"Keys": [KEY]}})
    assert server.denies(principal, "ExecuteStatement", Statement=f'SELECT * FROM "{name}"')


def test_a_backup_is_denied_in_every_region(server: Guarded) -> None:
    """DescribeBackup and DeleteBackup do not look at the region of an ARN."""
    backup = server.call("CreateBackup", TableName="orders", BackupName="first")["BackupDetails"]["BackupArn"]
    principal = user(allow("*"), deny("DeleteBackup", resource=f"{ORDERS}/backup/*"))
    for arn in (backup, backup.replace("us-east-1", "eu-west-1"), backup.replace("arn:aws:", "arn:aws-cn:")):
        error = server.error(principal, "DeleteBackup", BackupArn=arn)
        assert error is not None
        assert error.code in {"AccessDeniedException", "ValidationException"}


def test_the_case_of_a_table_counts(server: Guarded) -> None:
    assert server.denies(
        user(allow("*", resource=ORDERS.replace("orders", "Orders"))), "Scan", TableName="orders"
    )
    assert not server.denies(user(allow("DYNAMODB:SCAN", resource=ORDERS)), "Scan", TableName="orders")


def test_a_denial_of_single_items_does_not_reach_batches(server: Guarded) -> None:
    """As on the service, whose batches are actions of their own."""
    principal = user(allow("*"), deny("GetItem"))
    assert not server.denies(principal, "BatchGetItem", RequestItems={"orders": {"Keys": [KEY]}})
    get = {"Get": {"TableName": "orders", "Key": KEY}}
    assert server.denies(principal, "TransactGetItems", TransactItems=[get])


def test_transactions_only(server: Guarded) -> None:
    enclosed = {"StringEquals": {"dynamodb:EnclosingOperation": ["TransactWriteItems", "TransactGetItems"]}}
    principal = user(allow("PutItem", "GetItem", Condition=enclosed))
    assert server.denies(principal, "PutItem", TableName="orders", Item=KEY)
    put = {"Put": {"TableName": "orders", "Item": KEY}}
    assert not server.denies(principal, "TransactWriteItems", TransactItems=[put])


def test_a_full_scan_is_one_of_partiql_only(server: Guarded) -> None:
    scans = {"Bool": {"dynamodb:FullTableScan": "true"}}
    principal = user(allow("*"), deny("PartiQLSelect", "Scan", Condition=scans))
    assert server.denies(principal, "ExecuteStatement", Statement="SELECT * FROM orders")
    assert server.denies(principal, "ExecuteStatement", Statement='SELECT * FROM orders."by-city"')
    keyed = "SELECT * FROM orders WHERE owner = 'alice'"
    assert not server.denies(principal, "ExecuteStatement", Statement=keyed)
    assert not server.denies(principal, "Scan", TableName="orders")


def test_tags_of_tables_and_requests(server: Guarded) -> None:
    by_tag = {"StringEquals": {"aws:ResourceTag/Team": "${aws:PrincipalTag/Team}"}}
    principal = user(allow("Scan", Condition=by_tag), tags={"Team": "blue"})
    assert server.denies(principal, "Scan", TableName="orders")
    only_blue = user(
        allow("TagResource", Condition={"StringEquals": {"aws:RequestTag/team": "blue"}}),
        deny("TagResource", Condition={"ForAnyValue:StringNotEquals": {"aws:TagKeys": ["Team"]}}),
    )
    red, blue, more = (
        [{"Key": key, "Value": value}] for key, value in (("Team", "red"), ("Team", "blue"), ("a", "b"))
    )
    assert server.denies(only_blue, "TagResource", ResourceArn=ORDERS, Tags=red)
    assert server.denies(only_blue, "TagResource", ResourceArn=ORDERS, Tags=blue + more)
    assert not server.denies(only_blue, "TagResource", ResourceArn=ORDERS, Tags=blue)
    assert not server.denies(principal, "Scan", TableName="orders")


def test_where_a_request_comes_from(server: Guarded) -> None:
    principal = user(
        allow(
            "Scan",
            Condition={
                "IpAddress": {"aws:SourceIp": "10.0.0.0/8"},
                "Bool": {"aws:SecureTransport": "true"},
                "DateLessThan": {"aws:CurrentTime": "2100-01-01T00:00:00Z"},
                "StringEquals": {"aws:RequestedRegion": "us-east-1", "aws:ResourceAccount": OURS},
            },
        )
    )
    assert server.denies(principal, "Scan", TableName="orders")
    server.origin = Origin("10.1.2.3")
    assert server.denies(principal, "Scan", TableName="orders")
    server.origin = Origin("11.1.2.3", tls_version="TLSv1.3")
    assert server.denies(principal, "Scan", TableName="orders")
    server.origin = Origin("10.1.2.3", tls_version="TLSv1.3")
    assert not server.denies(principal, "Scan", TableName="orders")


def test_what_was_allowed_is_not_remembered_for_too_long(server: Guarded) -> None:
    """Neither for another caller, nor past a change of the resource's policy, nor where a condition decides."""
    request = {"TableName": "orders", "Key": KEY}
    principal = user(allow("GetItem"))
    for _ in range(2):
        assert not server.denies(principal, "GetItem", **request)
        assert server.denies(user(), "GetItem", **request)
        assert server.denies(user(allow("GetItem"), deny("GetItem")), "GetItem", **request)
    denial = document(deny("GetItem", resource="*", Principal={"AWS": f"arn:aws:iam::{OURS}:user/alice"}))
    server.call("PutResourcePolicy", ResourceArn=ORDERS, Policy=denial)
    assert server.denies(principal, "GetItem", **request)
    server.call("DeleteResourcePolicy", ResourceArn=ORDERS)
    assert not server.denies(principal, "GetItem", **request)
    timed = user(
        allow("GetItem", Condition={"NumericLessThan": {"aws:EpochTime": int(server.clock.now()) + 5}})
    )
    assert not server.denies(timed, "GetItem", **request)
    server.clock.advance(10)
    assert server.denies(timed, "GetItem", **request)


def test_what_is_wrong_with_the_shape_of_a_request_is_told_first(server: Guarded) -> None:
    error = server.error(user(), "GetItem", TableName="o r", Key=KEY)
    assert error is not None
    assert error.code == "ValidationException"


def test_a_request_that_is_read_slowly_is_judged_all_the_same(server: Guarded) -> None:
    """Nulls and words for booleans are read by another way, which must not lead past the judge."""
    request = {"TableName": "orders", "Key": KEY, "ConsistentRead": "true", "AttributesToGet": None}
    assert server.denies(user(), "GetItem", **request)
    assert not server.denies(user(allow("GetItem")), "GetItem", **request)


def stranger(*statements: dict[str, Any]) -> Principal:
    return user(*statements, name="eve", account_id=OTHERS)


def test_a_table_of_another_account_needs_both_sides(server: Guarded) -> None:
    request = {"TableName": ORDERS, "Key": KEY}
    allowed, poor = stranger(allow("*")), stranger()
    assert server.denies(allowed, "GetItem", **request)
    grant = document(allow("GetItem", "Query", "DescribeTable", resource="*", Principal={"AWS": OTHERS}))
    server.call("PutResourcePolicy", ResourceArn=ORDERS, Policy=grant)
    server.call("PutItem", TableName="orders", Item=KEY)
    assert server.ask(allowed, "GetItem", **request)["Item"] == KEY
    assert server.ask(allowed, "DescribeTable", TableName=ORDERS)["Table"]["TableArn"] == ORDERS
    assert server.denies(poor, "GetItem", **request)
    assert server.denies(allowed, "PutItem", TableName=ORDERS, Item=KEY)
    error = server.error(allowed, "PutItem", TableName=ORDERS, Item=KEY)
    assert error is not None
    assert str(error.message).endswith("because no resource-based policy allows the dynamodb:PutItem action")


def test_some_operations_stay_within_an_account(server: Guarded) -> None:
    grant = document(allow("dynamodb:*", resource="*", Principal={"AWS": EVE}))
    server.call("PutResourcePolicy", ResourceArn=ORDERS, Policy=grant)
    everything = stranger(allow("*"))
    assert not server.denies(everything, "Scan", TableName=ORDERS)
    assert server.denies(everything, "ExecuteStatement", Statement=f'SELECT * FROM "{ORDERS}"')
    assert server.denies(everything, "DescribeTimeToLive", TableName=ORDERS)
    assert server.denies(everything, "CreateBackup", TableName=ORDERS, BackupName="mine")
    assert server.denies(everything, "DescribeContributorInsights", TableName=ORDERS)


def test_one_table_of_another_account_opens_no_other(server: Guarded) -> None:
    server.table("closed")
    closed = ORDERS.replace("orders", "closed")
    grant = document(allow("BatchGetItem", "GetItem", resource="*", Principal={"AWS": EVE}))
    server.call("PutResourcePolicy", ResourceArn=ORDERS, Policy=grant)
    both = {name: {"Keys": [KEY]} for name in (ORDERS, closed)}
    assert not server.denies(stranger(allow("*")), "BatchGetItem", RequestItems={ORDERS: {"Keys": [KEY]}})
    assert server.denies(stranger(allow("*")), "BatchGetItem", RequestItems=both)
    gets = [{"Get": {"TableName": name, "Key": KEY}} for name in both]
    assert server.denies(stranger(allow("*")), "TransactGetItems", TransactItems=gets)


def test_the_tags_of_a_table_of_another_account(server: Guarded) -> None:
    grant = document(allow("TagResource", "ListTagsOfResource", resource="*", Principal={"AWS": EVE}))
    server.call("PutResourcePolicy", ResourceArn=ORDERS, Policy=grant)
    eve = stranger(allow("*"))
    server.ask(eve, "TagResource", ResourceArn=ORDERS, Tags=[{"Key": "k", "Value": "v"}])
    assert server.ask(eve, "ListTagsOfResource", ResourceArn=ORDERS)["Tags"] == [{"Key": "k", "Value": "v"}]
    assert server.call("ListTagsOfResource", ResourceArn=ORDERS)["Tags"] == [{"Key": "k", "Value": "v"}]


def test_what_get_session_token_gives_is_not_for_iam(server: Guarded) -> None:
    """As on the service without a second factor: a stolen session must not make itself a lasting key."""
    session = replace(user(allow("*")), issued_at=1.0)
    error = server.error(session, "iam:CreateAccessKey")
    assert error is not None
    assert error.code == "UnrecognizedClientException"
    assert not server.denies(session, "Scan", TableName="orders")
