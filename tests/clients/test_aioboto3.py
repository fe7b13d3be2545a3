"""aioboto3: the asynchronous resource, many requests under way at once."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from serving import Serving

aioboto3 = pytest.importorskip("aioboto3", reason="aioboto3 is not installed")

from boto3.dynamodb.conditions import Attr, Key  # noqa: E402 - only where aioboto3 is at hand
from botocore.exceptions import ClientError  # noqa: E402

pytestmark = pytest.mark.slow


def test_an_asynchronous_tour(server: Serving) -> None:
    asyncio.run(_tour(server.endpoint))


async def _tour(endpoint: str) -> None:
    session = aioboto3.Session(
        aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1"
    )
    async with session.resource("dynamodb", endpoint_url=endpoint) as resource:
        table = await resource.create_table(
            TableName=f"async-{uuid4().hex}",
            KeySchema=[
                {"AttributeName": "room", "KeyType": "HASH"},
                {"AttributeName": "at", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "room", "AttributeType": "S"},
                {"AttributeName": "at", "AttributeType": "N"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        await table.wait_until_exists()
        await _writes(table)
        await _reads(table)
        await table.delete()
        await table.wait_until_not_exists()


async def _writes(table: Any) -> None:
    async with table.batch_writer() as batch:
        for number in range(100):
            await batch.put_item(Item={"room": "a", "at": number, "text": "x" * 100})
    key = {"room": "b", "at": 1}
    await asyncio.gather(
        *(
            table.update_item(
                Key=key, UpdateExpression="ADD hits :one", ExpressionAttributeValues={":one": 1}
            )
            for _ in range(50)
        )
    )
    assert (await table.get_item(Key=key))["Item"]["hits"] == 50
    with pytest.raises(ClientError) as raised:
        await table.put_item(Item=key, ConditionExpression=Attr("room").not_exists())
    assert raised.value.response["Error"]["Code"] == "ConditionalCheckFailedException"


async def _reads(table: Any) -> None:
    items: list[Any] = []
    page: dict[str, Any] = {"LastEvaluatedKey": None}
    while "LastEvaluatedKey" in page:
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]} if page["LastEvaluatedKey"] else {}
        page = await table.query(
            KeyConditionExpression=Key("room").eq("a") & Key("at").gte(50), Limit=20, **start
        )
        items += page["Items"]
    assert [item["at"] for item in items] == list(range(50, 100))
    found = 0
    async for page in table.meta.client.get_paginator("scan").paginate(TableName=table.name):
        found += page["Count"]
    assert found == 101
