"""Faults, throttles, delays and lag are those of one namespace, and end when they should."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from hashrange.testing import Clock, Namespace, Server
from testing.conftest import ONCE, ORDERS

KEY = {"id": {"S": "1"}}


def test_a_fault_strikes_as_often_as_it_was_told_to(namespace: Namespace, client: Any) -> None:
    namespace.faults.fail(operation="PutItem", times=2)
    for _ in range(2):
        with pytest.raises(client.exceptions.InternalServerError):
            client.put_item(TableName="orders", Item=KEY)
    client.put_item(TableName="orders", Item=KEY)
    assert [request.error for request in namespace.requests.all("PutItem")] == [
        "InternalServerError",
        "InternalServerError",
        None,
    ]


def test_a_fault_is_of_one_namespace(dynamodb_server: Server, namespace: Namespace, client: Any) -> None:
    with dynamodb_server.namespace() as other:
        other.create_tables(ORDERS)
        other.faults.fail()
        client.put_item(TableName="orders", Item=KEY)
        with pytest.raises(ClientError, match="InternalServerError"):
            other.client(config=ONCE).put_item(TableName="orders", Item=KEY)


def test_a_fault_of_the_server_is_of_all_namespaces(dynamodb_server: Server, client: Any) -> None:
    with dynamodb_server.faults.fail(table="orders"), pytest.raises(ClientError, match="InternalServerError"):
        client.get_item(TableName="orders", Key=KEY)
    client.get_item(TableName="orders", Key=KEY)


def test_clearing_faults_leaves_those_of_others(
    dynamodb_server: Server, namespace: Namespace, client: Any
) -> None:
    with dynamodb_server.faults.fail(operation="Query"):
        namespace.faults.fail(operation="PutItem")
        namespace.faults.throttle(operation="GetItem")
        namespace.faults.clear()
        client.put_item(TableName="orders", Item=KEY)
        client.get_item(TableName="orders", Key=KEY)
        with pytest.raises(ClientError, match="InternalServerError"):
            client.query(
                TableName="orders",
                KeyConditionExpression="id = :id",
                ExpressionAttributeValues={":id": {"S": "1"}},
            )


def test_faults_end_with_their_namespace(dynamodb_server: Server) -> None:
    namespace = dynamodb_server.namespace()
    namespace.faults.fail()
    namespace.clear()
    namespace.create_tables(ORDERS)
    namespace.call("PutItem", {"TableName": "orders", "Item": KEY})
    namespace.clear()


def test_throttles_are_the_services_own(namespace: Namespace, client: Any) -> None:
    namespace.throttle("orders", times=1)
    with pytest.raises(client.exceptions.ThrottlingException):
        client.put_item(TableName="orders", Item=KEY)
    client.put_item(TableName="orders", Item=KEY)


def test_a_write_is_carried_out_though_it_fails(namespace: Namespace, client: Any) -> None:
    with namespace.faults.fail(operation=["PutItem"], after=True), pytest.raises(ClientError):
        client.put_item(TableName="orders", Item=KEY)
    assert client.get_item(TableName="orders", Key=KEY)["Item"] == KEY


def test_a_delay_passes(namespace: Namespace, client: Any) -> None:
    with namespace.faults.delay("1ms", table=["orders"]):
        client.put_item(TableName="orders", Item=KEY)


def test_what_cannot_fail_is_refused_in_words(namespace: Namespace) -> None:
    with pytest.raises(Exception, match="there is no operation PutItems"):
        namespace.faults.fail(operation="PutItems")
    with pytest.raises(Exception, match="times"):
        namespace.faults.fail(times=0)


def test_reads_lag_until_time_has_passed(namespace: Namespace, client: Any, dynamodb_clock: Clock) -> None:
    client.put_item(TableName="orders", Item=KEY)
    namespace.lag("30s")
    client.delete_item(TableName="orders", Key=KEY)
    assert "Item" in client.get_item(TableName="orders", Key=KEY)
    assert "Item" not in client.get_item(TableName="orders", Key=KEY, ConsistentRead=True)
    dynamodb_clock.move("31s")
    assert "Item" not in client.get_item(TableName="orders", Key=KEY)


def test_lag_is_of_one_namespace_and_can_be_taken_back(
    dynamodb_server: Server, namespace: Namespace, client: Any
) -> None:
    with dynamodb_server.namespace() as other:
        other.lag(60)
        client.put_item(TableName="orders", Item=KEY)
        assert "Item" in client.get_item(TableName="orders", Key=KEY)
    namespace.lag(60)
    client.put_item(TableName="orders", Item={"id": {"S": "2"}})
    assert client.scan(TableName="orders")["Count"] == 1
    namespace.lag(0)
    assert client.scan(TableName="orders")["Count"] == 2


def test_a_lag_of_more_than_a_minute_is_refused(namespace: Namespace) -> None:
    with pytest.raises(Exception, match="<= 60000"):
        namespace.lag("61s")
