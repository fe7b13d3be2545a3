"""Requests are recorded with what they cost, and assertions name those that broke them."""

# ruff: noqa: PT012, SIM117 - the blocks are what is asserted about

from typing import Any

import pytest
from botocore.exceptions import ClientError

from hashrange.testing import Namespace, RequestLog, Server, assert_capacity, assert_no_scans, current
from hashrange.testing.request_log import Request

KEY = {"id": {"S": "1"}}


def test_a_request_is_recorded_with_its_table_and_its_cost(namespace: Namespace, client: Any) -> None:
    log = namespace.requests.since_now()
    client.put_item(TableName="orders", Item=KEY)
    client.get_item(TableName="orders", Key=KEY, ConsistentRead=True)
    put, get = log
    assert (put.operation, put.tables, put.write_units, put.read_units) == ("PutItem", ("orders",), 1.0, 0.0)
    assert (get.operation, get.read_units, get.account_id) == ("GetItem", 1.0, namespace.account_id)
    assert [str(request) for request in log] == ["PutItem of orders: 1 WCU", "GetItem of orders: 1 RCU"]
    assert len(log) == 2


def test_the_units_are_those_that_the_client_is_told(namespace: Namespace, client: Any) -> None:
    log = namespace.requests.since_now()
    items = [{"PutRequest": {"Item": {"id": {"S": str(n)}, "v": {"S": "x" * 3000}}}} for n in range(20)]
    answer = client.batch_write_item(RequestItems={"orders": items}, ReturnConsumedCapacity="TOTAL")
    page = client.scan(TableName="orders", ReturnConsumedCapacity="TOTAL")
    write, scan = log
    assert write.write_units == answer["ConsumedCapacity"][0]["CapacityUnits"] == 60
    assert scan.read_units == page["ConsumedCapacity"]["CapacityUnits"]
    assert scan.items == 20


def test_an_index_is_named(dynamodb_namespace: Namespace) -> None:
    keys = [{"AttributeName": "status", "KeyType": "HASH"}]
    dynamodb_namespace.create_tables(
        {
            "TableName": "orders",
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "S"} for name in ("id", "status")
            ],
            "BillingMode": "PAY_PER_REQUEST",
            "GlobalSecondaryIndexes": [
                {"IndexName": "by-status", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
            ],
        }
    )
    dynamodb_namespace.client().query(
        TableName="orders",
        IndexName="by-status",
        KeyConditionExpression="#s = :s",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":s": {"S": "open"}},
    )
    query = dynamodb_namespace.requests.all("Query")[0]
    assert str(query) == "Query of orders (by-status): 0 items, 0.5 RCU"


def test_errors_are_recorded_too(namespace: Namespace, client: Any) -> None:
    with pytest.raises(ClientError):
        client.get_item(TableName="missing", Key=KEY)
    assert [request.error for request in namespace.requests.all("GetItem")] == ["ResourceNotFoundException"]


def test_requests_of_other_namespaces_are_not_shown(dynamodb_server: Server, namespace: Namespace) -> None:
    everything, own = dynamodb_server.requests.since_now(), namespace.requests.since_now()
    dynamodb_server.own.call("ListTables", {})
    namespace.call("ListTables", {"Limit": 1})
    assert [request.account_id for request in own] == [namespace.account_id]
    assert [request.account_id for request in everything] == ["000000000000", namespace.account_id]


def test_more_requests_than_fit_one_answer_are_all_shown(namespace: Namespace) -> None:
    log = namespace.requests.since_now()
    for _ in range(1001):
        namespace.call("GetItem", {"TableName": "orders", "Key": KEY})
    numbers = [request.number for request in log]
    assert len(numbers) == 1001
    assert numbers == sorted(set(numbers))


SCANS = [
    ("scan", {"TableName": "orders"}),
    ("execute_statement", {"Statement": "SELECT * FROM orders"}),
    ("execute_statement", {"Statement": "SELECT * FROM orders WHERE id > 'a'"}),
]


@pytest.mark.parametrize(("operation", "request_"), SCANS)
def test_a_scan_breaks_the_assertion_by_name(client: Any, operation: str, request_: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match=r"no scans were expected:\n  \w+ of orders: 0 items"):
        with assert_no_scans():
            getattr(client, operation)(**request_)
    with assert_no_scans(allow=["orders"]):
        getattr(client, operation)(**request_)


def test_what_reads_by_a_key_is_no_scan(client: Any) -> None:
    with assert_no_scans() as log:
        client.execute_statement(Statement="SELECT * FROM orders WHERE id = '1'")
        client.get_item(TableName="orders", Key=KEY)
    assert len(log) == 2


def test_too_much_capacity_breaks_the_assertion_with_the_dearest_request_first(client: Any) -> None:
    client.put_item(TableName="orders", Item={**KEY, "v": {"S": "x" * 9000}})
    with assert_capacity(max_rcu=4, max_wcu=0):
        client.get_item(TableName="orders", Key=KEY, ConsistentRead=True)
    with pytest.raises(AssertionError) as failure:
        with assert_capacity(max_rcu=4):
            client.get_item(TableName="orders", Key=KEY)
            client.get_item(TableName="orders", Key=KEY, ConsistentRead=True)
    assert str(failure.value).splitlines() == [
        "4.5 RCU were consumed, at most 4 expected:",
        "  GetItem of orders: 3 RCU",
        "  GetItem of orders: 1.5 RCU",
    ]
    with pytest.raises(AssertionError, match="10 WCU were consumed, at most 1 expected"):
        with assert_capacity(max_wcu=1):
            client.put_item(TableName="orders", Item={**KEY, "v": {"S": "x" * 9300}})


def test_an_error_in_the_block_is_not_hidden(client: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        with assert_no_scans():
            client.scan(TableName="orders")
            _ = 1 / 0


def test_other_requests_than_the_tests_own_can_be_meant(dynamodb_server: Server, client: Any) -> None:
    with assert_no_scans(dynamodb_server.own.requests):
        client.scan(TableName="orders")
    with pytest.raises(AssertionError), assert_no_scans(dynamodb_server.requests):
        client.scan(TableName="orders")


def test_without_a_namespace_an_assertion_asks_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current, "_namespaces", [])
    with pytest.raises(RuntimeError, match="no test has a namespace"), assert_no_scans():
        pass


def test_a_long_message_is_cut() -> None:
    class Log(RequestLog):
        def all(self, operation: str | None = None) -> list[Request]:
            return [Request(n, 0.0, "", "", "Scan", ("orders",), scan=True) for n in range(30)]

    with pytest.raises(AssertionError) as failure:
        Log(None, None).assert_no_scans()  # type: ignore[arg-type]
    assert str(failure.value).splitlines()[-1] == "  and 10 more"
