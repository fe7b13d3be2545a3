"""celery's DynamoDB result backend: it makes its table with a TTL, keeps results, groups and chords, forgets them."""

import boto3
from celery import Celery, chord, group
from celery.backends.dynamodb import DynamoDBBackend
from settings import ENDPOINT, KEY, PORT, SECRET, unique

TABLE = unique("celery")
app = Celery(
    "tour",
    broker="memory://",
    backend=f"dynamodb://{KEY}:{SECRET}@localhost:{PORT}/{TABLE}?ttl_seconds=86400",
)
app.conf.update(
    dynamodb_endpoint_url=ENDPOINT,
    task_always_eager=True,
    task_store_eager_result=True,
    result_chord_join_timeout=60,
)


def _add(left: int, right: int) -> int:
    return left + right


def _total(numbers: list[int]) -> int:
    return sum(numbers)


def _fail() -> None:
    raise ValueError("no such thing")


add, total, fail = app.task(_add), app.task(_total), app.task(_fail)


def makes_its_table(backend: DynamoDBBackend) -> None:
    client = boto3.client("dynamodb", endpoint_url=ENDPOINT)
    client.get_waiter("table_exists").wait(TableName=TABLE)
    assert client.describe_table(TableName=TABLE)["Table"]["KeySchema"][0]["AttributeName"] == "id"
    described = client.describe_time_to_live(TableName=TABLE)["TimeToLiveDescription"]
    assert (described["AttributeName"], described["TimeToLiveStatus"]) == ("ttl", "ENABLED")
    assert DynamoDBBackend(app=app, url=app.conf.result_backend).client.meta.endpoint_url == ENDPOINT
    assert backend.client.meta.endpoint_url == ENDPOINT


def keeps_results(backend: DynamoDBBackend) -> None:
    done = add.delay(2, 3)
    assert app.AsyncResult(done.id).get(timeout=60) == 5
    stored = boto3.resource("dynamodb", endpoint_url=ENDPOINT).Table(TABLE)
    (item,) = stored.scan(ConsistentRead=True)["Items"]
    assert done.id in item["id"]
    assert item["ttl"] > item["timestamp"]
    failed = fail.delay()
    again = app.AsyncResult(failed.id)
    assert (again.state, type(again.result)) == ("FAILURE", ValueError)
    again.forget()
    assert stored.scan(ConsistentRead=True)["Count"] == 1
    backend.set("counter", b"0")
    backend.delete("counter")
    assert backend.get("counter") is None
    for key in ("a", "b"):
        backend.set(key, key.encode())
    assert [bytes(value) for value in backend.mget(["a", "b"])] == [b"a", b"b"]
    backend.client.put_item(**backend._prepare_init_count_request("hits"))  # as it does for a chord
    assert [backend.incr("hits") for _ in range(3)] == [1, 2, 3]


def joins_groups() -> None:
    many = group(add.s(number, number) for number in range(10)).apply_async()
    many.save()
    restored = app.GroupResult.restore(many.id)
    assert restored.get(timeout=60) == [2 * number for number in range(10)]
    assert chord((add.s(number, 1) for number in range(5)), total.s()).apply_async().get(timeout=60) == 15


backend = app.backend
assert isinstance(backend, DynamoDBBackend)
makes_its_table(backend)
keeps_results(backend)
joins_groups()
print("tour complete")
