"""boto3's resource interface: Table objects, Decimals and sets, batch writers, paginators, waiters."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import uuid4

import boto3
import pytest
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.exceptions import ClientError

from serving import Serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def resource(server: Serving) -> Any:
    return boto3.resource(
        "dynamodb",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


@pytest.fixture(scope="module")
def orders(resource: Any) -> Iterator[Any]:
    """A table of orders: by customer, with a local index by total and a global one by state."""
    table = resource.create_table(
        TableName=f"orders-{uuid4().hex}",
        KeySchema=[
            {"AttributeName": "customer", "KeyType": "HASH"},
            {"AttributeName": "placed", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "customer", "AttributeType": "S"},
            {"AttributeName": "placed", "AttributeType": "S"},
            {"AttributeName": "state", "AttributeType": "S"},
            {"AttributeName": "total", "AttributeType": "N"},
        ],
        LocalSecondaryIndexes=[
            {
                "IndexName": "by-total",
                "KeySchema": [
                    {"AttributeName": "customer", "KeyType": "HASH"},
                    {"AttributeName": "total", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-state",
                "KeySchema": [
                    {"AttributeName": "state", "KeyType": "HASH"},
                    {"AttributeName": "placed", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    table.wait_until_exists()
    with table.batch_writer(overwrite_by_pkeys=["customer", "placed"]) as batch:
        for number in range(120):
            batch.put_item(Item=_order(number))
    yield table
    table.delete()
    table.wait_until_not_exists()


def _order(number: int) -> dict[str, Any]:
    return {
        "customer": f"c{number % 3}",
        "placed": f"2026-01-{number:03}",
        "state": "open" if number % 4 else "done",
        "total": Decimal(number) / 4,
        "lines": [{"sku": f"s{number}", "count": number}],
        "padding": "x" * 10_000,
    }


def test_every_python_type_comes_back_as_it_went(orders: Any) -> None:
    item = {
        "customer": "types",
        "placed": "now",
        "decimal": Decimal("12345678901234567890.123456789012345678"),
        "small": Decimal("1E-130"),
        "bytes": Binary(b"\x00\xff"),
        "none": None,
        "yes": True,
        "texts": {"a", "b"},
        "numbers": {Decimal(1), Decimal("2.5")},
        "blobs": {Binary(b"1"), Binary(b"2")},
        "nested": {"list": [1, "two", {"three": None}], "empty": {}, "none": []},
        "unicode": "ünï©ødé 🐍",
    }
    orders.put_item(Item=item)
    assert orders.get_item(Key={"customer": "types", "placed": "now"}, ConsistentRead=True)["Item"] == item
    orders.delete_item(Key={"customer": "types", "placed": "now"})


def test_query_pages_follow_the_start_key(orders: Any) -> None:
    found: list[Any] = []
    page = orders.query(KeyConditionExpression=Key("customer").eq("c0"), Limit=7)
    while "LastEvaluatedKey" in page:
        found += page["Items"]
        page = orders.query(
            KeyConditionExpression=Key("customer").eq("c0"),
            Limit=7,
            ExclusiveStartKey=page["LastEvaluatedKey"],
        )
    found += page["Items"]
    assert [item["placed"] for item in found] == [f"2026-01-{number:03}" for number in range(0, 120, 3)]


def test_scan_paginator_sees_each_item_once_across_megabyte_pages(orders: Any) -> None:
    pages = list(orders.meta.client.get_paginator("scan").paginate(TableName=orders.name))
    keys = [(item["customer"], item["placed"]) for page in pages for item in page["Items"]]
    assert len(pages) > 1
    assert len(keys) == len(set(keys)) == 120


def test_conditions_built_from_objects_work_on_both_indexes(orders: Any) -> None:
    dear = orders.query(
        IndexName="by-total",
        KeyConditionExpression=Key("customer").eq("c1") & Key("total").between(10, 20),
        ScanIndexForward=False,
    )["Items"]
    totals = [item["total"] for item in dear]
    assert totals == sorted(totals, reverse=True)
    assert set(dear[0]) == {"customer", "placed", "total"}
    recent = orders.query(
        IndexName="by-state",
        KeyConditionExpression=Key("state").eq("open") & Key("placed").begins_with("2026-01-1"),
        FilterExpression=Attr("lines[0].count").gt(110) & Attr("missing").not_exists(),
        ProjectionExpression="placed, #lines[0].sku",
        ExpressionAttributeNames={"#lines": "lines"},
    )["Items"]
    assert recent
    assert all(item["placed"] > "2026-01-110" and item["lines"][0]["sku"] for item in recent)


def test_update_returns_what_it_changed_and_conditions_raise_their_class(orders: Any, resource: Any) -> None:
    key = {"customer": "c9", "placed": "once"}
    changed = orders.update_item(
        Key=key,
        UpdateExpression="SET #n = if_not_exists(#n, :zero) + :one ADD tags :tags",
        ExpressionAttributeNames={"#n": "count"},
        ExpressionAttributeValues={":zero": 0, ":one": 1, ":tags": {"a"}},
        ReturnValues="UPDATED_NEW",
    )["Attributes"]
    assert changed == {"count": 1, "tags": {"a"}}
    with pytest.raises(resource.meta.client.exceptions.ConditionalCheckFailedException) as raised:
        orders.put_item(
            Item=key,
            ConditionExpression=Attr("customer").not_exists(),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    # boto3 reads the items of errors no further than the wire has them.
    assert raised.value.response["Item"]["count"] == {"N": "1"}
    gone = orders.delete_item(Key=key, ReturnValues="ALL_OLD")["Attributes"]
    assert gone["tags"] == {"a"}


def test_batch_get_and_transactions_through_the_resource_client(orders: Any, resource: Any) -> None:
    client = resource.meta.client
    keys = [{"customer": f"c{n % 3}", "placed": f"2026-01-{n:03}"} for n in range(30)]
    answer = resource.batch_get_item(RequestItems={orders.name: {"Keys": keys}})
    assert len(answer["Responses"][orders.name]) == 30
    first = {"customer": "tx", "placed": "1"}
    client.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": orders.name, "Item": first}},
            {"Put": {"TableName": orders.name, "Item": {**first, "placed": "2"}}},
        ],
        ClientRequestToken=uuid4().hex,
    )
    with pytest.raises(client.exceptions.TransactionCanceledException) as raised:
        client.transact_write_items(
            TransactItems=[
                {"Delete": {"TableName": orders.name, "Key": {**first, "placed": "2"}}},
                {
                    "ConditionCheck": {
                        "TableName": orders.name,
                        "Key": first,
                        "ConditionExpression": "attribute_not_exists(customer)",
                    }
                },
            ]
        )
    assert [reason["Code"] for reason in raised.value.response["CancellationReasons"]] == [
        "None",
        "ConditionalCheckFailed",
    ]
    both = client.transact_get_items(
        TransactItems=[
            {"Get": {"TableName": orders.name, "Key": {**first, "placed": placed}}} for placed in "12"
        ]
    )
    assert [found["Item"]["placed"] for found in both["Responses"]] == ["1", "2"]


def test_errors_have_their_own_classes_and_request_ids(resource: Any) -> None:
    table = resource.Table("no-such-table")
    with pytest.raises(resource.meta.client.exceptions.ResourceNotFoundException) as raised:
        table.get_item(Key={"a": "b"})
    assert raised.value.response["ResponseMetadata"]["RequestId"]
    with pytest.raises(ClientError, match="ValidationException"):
        table.get_item(Key={"a": {"not": {1}}}, ProjectionExpression="a b")
