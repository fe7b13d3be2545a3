"""aiodynamo: an asynchronous client with a codec, a signer and retries of its own."""

import asyncio
from decimal import Decimal

from aiodynamo.client import Client, Table
from aiodynamo.credentials import Key, StaticCredentials
from aiodynamo.errors import (
    ConditionalCheckFailed,
    ItemNotFound,
    TableNotFound,
    TransactionCanceled,
    ValidationException,
)
from aiodynamo.expressions import F, HashKey, RangeKey
from aiodynamo.http.aiohttp import AIOHTTP
from aiodynamo.models import (
    BatchGetRequest,
    BatchWriteRequest,
    GlobalSecondaryIndex,
    KeySchema,
    KeySpec,
    KeyType,
    PayPerRequest,
    Projection,
    ProjectionType,
    ReturnValues,
    StaticDelayRetry,
)
from aiodynamo.operations import ConditionCheck, Get, Put, Update
from aiohttp import ClientSession
from settings import ENDPOINT, KEY, REGION, SECRET, refused, unique
from yarl import URL


async def creates_table(table: Table) -> None:
    schema = KeySchema(KeySpec("kind", KeyType.string), KeySpec("number", KeyType.number))
    by_owner = GlobalSecondaryIndex(
        name="by-owner",
        schema=KeySchema(KeySpec("owner", KeyType.string), KeySpec("number", KeyType.number)),
        projection=Projection(ProjectionType.all),
        throughput=None,
    )
    waiting = StaticDelayRetry(time_limit_secs=60, delay=0.1)
    assert not await table.exists()
    await table.create(PayPerRequest(), schema, gsis=[by_owner], wait_for_active=waiting)
    assert await table.exists()


async def keeps_items(table: Table) -> None:
    item = {
        "kind": "cat",
        "number": 1,
        "weight": Decimal("4.5"),
        "tags": {"grey", "fat"},
        "sizes": {1, 2},
        "photo": b"\x00\x01\xff",
        "meals": [1, "two", {"three": 3}],
        "tame": True,
        "nothing": None,
    }
    key = {"kind": "cat", "number": 1}
    await table.put_item(item)
    assert await table.get_item(key, consistent_read=True) == item
    assert await table.get_item(key, projection=F("weight") & F("meals", 2, "three")) == {
        "weight": Decimal("4.5"),
        "meals": [{"three": 3}],
    }
    changed = await table.update_item(
        key,
        F("weight").change(Decimal("0.5"))
        & F("meals").append([4])
        & F("tags").add({"old"})
        & F("nothing").remove()
        & F("born").set_if_not_exists(2020),
        condition=F("tame").equals(True) & F("photo").size().equals(3),
        return_values=ReturnValues.all_new,
    )
    assert changed is not None
    assert (changed["weight"], changed["meals"][3], changed["born"]) == (5, 4, 2020)
    assert changed["tags"] == {"grey", "fat", "old"}
    refused(ConditionalCheckFailed, await caught(table.put_item(item, condition=F("kind").does_not_exist())))
    await asyncio.gather(*(table.update_item(key, F("hits").add(1)) for _ in range(30)))
    assert (await table.get_item(key))["hits"] == 30
    await table.delete_item(key)
    refused(ItemNotFound, await caught(table.get_item(key)))


async def reads_in_pages(client: Client, table: Table) -> None:
    items = [
        {"kind": "dog", "number": number, "owner": f"o{number % 2}", "text": "x" * 30_000}
        for number in range(60)
    ]
    refused(
        ValidationException,
        await caught(client.batch_write({table.name: BatchWriteRequest(items_to_put=items)})),
    )
    for start in range(0, 60, 25):
        part = BatchWriteRequest(items_to_put=items[start : start + 25])
        assert await client.batch_write({table.name: part}) == {}
    found = [item["number"] async for item in table.query(HashKey("kind", "dog"))]  # 1.8 MB: two pages
    assert found == list(range(60))
    condition = HashKey("owner", "o1") & RangeKey("number").gt(20)
    page = await table.query_single_page(condition, index="by-owner", limit=7, scan_forward=False)
    assert [item["number"] for item in page.items] == list(range(59, 45, -2))
    page = await table.query_single_page(
        condition, index="by-owner", limit=7, scan_forward=False, start_key=page.last_evaluated_key
    )
    assert page.items[0]["number"] == 45
    assert await table.count(HashKey("kind", "dog")) == 60
    rare = F("number").between(10, 12) | F("number").is_in([50])
    assert len([item async for item in table.scan(filter_expression=rare)]) == 4
    keys = [{"kind": "dog", "number": number} for number in (1, 2, 999)]
    batch = await client.batch_get({table.name: BatchGetRequest(keys=keys, projection=F("number"))})
    assert sorted(item["number"] for item in batch.items[table.name]) == [1, 2]


async def runs_transactions(client: Client, table: Table) -> None:
    bird = {"kind": "bird", "number": 1}
    dog = {"kind": "dog", "number": 0}
    for _ in range(2):
        await client.transact_write_items(
            [Put(table.name, bird), Update(table.name, dog, F("walks").add(1))],
            request_token=table.name[-36:],
        )
    problem = await caught(
        client.transact_write_items(
            [
                ConditionCheck(table.name, bird, condition=F("kind").does_not_exist()),
                Update(table.name, dog, F("walks").add(1)),
            ]
        )
    )
    refused(TransactionCanceled, problem)
    found = await client.transact_get_items([Get(table.name, bird), Get(table.name, dog, F("walks"))])
    assert found == [bird, {"walks": 1}]


async def names_errors(client: Client, table: Table) -> None:
    refused(TableNotFound, await caught(client.get_item("missing", {"kind": "x"})))
    refused(ValidationException, await caught(table.get_item({"kind": "x"})))
    ttl = table.time_to_live
    await ttl.enable("expires")
    assert (await ttl.describe()).attribute == "expires"
    await table.delete(wait_for_disabled=StaticDelayRetry(time_limit_secs=60, delay=0.1))


async def caught(call: object) -> BaseException | None:
    (outcome,) = await asyncio.gather(call, return_exceptions=True)  # type: ignore[call-overload]
    return outcome if isinstance(outcome, BaseException) else None


async def main() -> None:
    async with ClientSession() as session:
        client = Client(
            AIOHTTP(session), StaticCredentials(Key(KEY, SECRET)), REGION, URL(ENDPOINT), numeric_type=Decimal
        )
        table = client.table(unique("aiodynamo"))
        await creates_table(table)
        await keeps_items(table)
        await reads_in_pages(client, table)
        await runs_transactions(client, table)
        await names_errors(client, table)


asyncio.run(main())
print("tour complete")
