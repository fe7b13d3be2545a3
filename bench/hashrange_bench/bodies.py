"""The requests of the workloads: operation and body, without end, the same in every run."""

import itertools
import random
import secrets
import uuid
from collections.abc import Callable, Iterator

from hashrange_bench import sample
from hashrange_bench.sample import INDEXED, LARGE, ORDERS, PEOPLE, PLAIN, Request
from hashrange_bench.zipf import Zipf

# Requests with one revision, then with the other. As a table grows they have to be of more items than fit any cache.
OVERWRITTEN, GROWTH_OVERWRITTEN, MIXED = 10_000, 60_000, 30_000
GROWTH_READ = 120_000
_SEED = 400
_RUN = secrets.randbits(40)  # a server remembers tokens longer than a run takes


def _numbers(count: int) -> Iterator[int]:
    source = random.Random(_SEED)
    while True:
        yield source.randrange(count)


def _rewritten(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Give items and revisions such that each put changes its item, also when the requests are sent once more.

    Storage engines notice a put that changes nothing, and have nothing to write then.
    """
    numbers = random.Random(_SEED).sample(range(count), min(count, most))
    for revision in itertools.cycle((1, 2)):
        for number in numbers:
            yield number, revision


def _get(table: str, key: str, more: str = "") -> Request:
    return "GetItem", f'{{"TableName":"{table}","Key":{key}{more}}}'


def _put(table: str, item: str) -> Request:
    return "PutItem", f'{{"TableName":"{table}","Item":{item}}}'


def get_eventual(count: int) -> Iterator[Request]:
    return (_get(PEOPLE, sample.person_key(number)) for number in _numbers(count))


def get_strong(count: int) -> Iterator[Request]:
    return (_get(PEOPLE, sample.person_key(number), ',"ConsistentRead":true') for number in _numbers(count))


def get_missing(count: int) -> Iterator[Request]:
    return (_get(PEOPLE, sample.person_key(1_000_000 + number)) for number in _numbers(count))


def put_new(_: int) -> Iterator[Request]:
    return (_put(PLAIN, sample.person(number)) for number in itertools.count())


def put_overwrite(count: int) -> Iterator[Request]:
    return (_put(PEOPLE, sample.person(*each)) for each in _rewritten(count, OVERWRITTEN))


def put_indexed(_: int) -> Iterator[Request]:
    return (_put(INDEXED, sample.person(number)) for number in itertools.count())


_UPDATE = (
    '"UpdateExpression":"SET #n = #n + :one","ConditionExpression":"attribute_exists(pk) AND #n < :most",'
    '"ExpressionAttributeNames":{"#n":"n"},'
    '"ExpressionAttributeValues":{":one":{"N":"1"},":most":{"N":"999999999"}}'
)


def update(count: int) -> Iterator[Request]:
    for number in _numbers(count):
        key = sample.person_key(number)
        body = f'{{"TableName":"{PEOPLE}","Key":{key},{_UPDATE},"ReturnValues":"UPDATED_NEW"}}'
        yield "UpdateItem", body


def delete(_: int) -> Iterator[Request]:
    for number in itertools.count():
        yield "DeleteItem", f'{{"TableName":"{PLAIN}","Key":{sample.person_key(number)}}}'


def query(condition: str, values: str, more: str = "") -> Callable[[int], Iterator[Request]]:
    """Give queries; in `values`, # stands for the number of the partition or bucket."""

    def requests(count: int) -> Iterator[Request]:
        for number in _numbers(count // sample.PER_PARTITION):
            placed = values.replace("#", f"{number:08d}").replace("@", f"{number:02d}")
            body = (
                f'{{"TableName":"{ORDERS}","KeyConditionExpression":"{condition}",'
                f'"ExpressionAttributeValues":{{{placed}}}{more}}}'
            )
            yield "Query", body

    return requests


PARTITION = '":p":{"S":"customer-#"}'
FILTER = ',"FilterExpression":"kind = :k"'
PROJECTION = ',"ProjectionExpression":"pk, sk, #n, address.city","ExpressionAttributeNames":{"#n":"n"}'


def scan(more: str, segments: int = 0) -> Callable[[int], Iterator[Request]]:
    def requests(_: int) -> Iterator[Request]:
        for number in itertools.count():
            part = f',"TotalSegments":{segments},"Segment":{number % segments}' if segments else ""
            yield "Scan", f'{{"TableName":"{PEOPLE}"{part}{more}}}'

    return requests


def _keys(count: int, wanted: int) -> Iterator[list[int]]:
    source = random.Random(_SEED)
    while True:
        yield source.sample(range(count), wanted)


def batch_get(count: int) -> Iterator[Request]:
    for numbers in _keys(count, 100):
        keys = ",".join(map(sample.person_key, numbers))
        yield "BatchGetItem", f'{{"RequestItems":{{"{PEOPLE}":{{"Keys":[{keys}]}}}}}}'


def batch_write(count: int) -> Iterator[Request]:
    for revision in itertools.cycle((1, 2)):
        yield from sample.batches(PEOPLE, 0, count, revision)


def transact_write(size: int) -> Callable[[int], Iterator[Request]]:
    """Give transactions that share no item with those under way at the same time."""

    def requests(count: int) -> Iterator[Request]:
        for first in itertools.count(step=size):
            numbers = [(first + place) % count for place in range(size)]
            revision = (3 + first // count) % sample.REVISIONS
            key = sample.person_key(numbers[0])
            actions = [f'{{"Update":{{"TableName":"{PEOPLE}","Key":{key},{_UPDATE}}}}}']
            actions += [
                f'{{"Put":{{"TableName":"{PEOPLE}","Item":{sample.person(number, revision)}}}}}'
                for number in numbers[1:]
            ]
            # Every SDK adds a token of its own to a transaction that has none.
            token = uuid.UUID(int=_RUN << 80 | size << 64 | first)
            body = f'{{"TransactItems":[{",".join(actions)}],"ClientRequestToken":"{token}"}}'
            yield "TransactWriteItems", body

    return requests


def transact_get(count: int) -> Iterator[Request]:
    for numbers in _keys(count, 10):
        gets = ",".join(
            f'{{"Get":{{"TableName":"{PEOPLE}","Key":{sample.person_key(number)}}}}}' for number in numbers
        )
        yield "TransactGetItems", f'{{"TransactItems":[{gets}]}}'


def select(count: int) -> Iterator[Request]:
    statement = f'"Statement":"SELECT * FROM \\"{PEOPLE}\\" WHERE pk = ?"'
    for number in _numbers(count):
        yield "ExecuteStatement", f'{{{statement},"Parameters":[{{"S":"person-{number:010d}"}}]}}'


def mixed(count: int) -> Iterator[Request]:
    """Give 80 reads, 15 writes and 5 queries in a hundred, on keys of which few are asked for often."""
    for revision in itertools.cycle((1, 2)):
        keys = Zipf(count, random.Random(_SEED))
        dice = random.Random(_SEED + 1)
        for place, number in enumerate(itertools.islice(keys, MIXED)):
            chance = dice.random()
            if chance < 0.80:
                yield _large_get(number)
            elif chance < 0.95:
                yield _put(LARGE, sample.large(number, (revision + place) % sample.REVISIONS))
            else:
                yield _large_query(number)


def _large_get(number: int) -> Request:
    return _get(LARGE, sample.order_key(number, sample.PER_LARGE_PARTITION))


def _large_query(number: int) -> Request:
    partition = number // sample.PER_LARGE_PARTITION
    return "Query", (
        f'{{"TableName":"{LARGE}","KeyConditionExpression":"pk = :p",'
        f'"ExpressionAttributeValues":{{":p":{{"S":"customer-{partition:08d}"}}}}}}'
    )


def growth_get(count: int) -> Iterator[Request]:
    return (_large_get(number) for number in _numbers(count))


def growth_put(count: int) -> Iterator[Request]:
    return (_put(LARGE, sample.large(*each)) for each in _rewritten(count, GROWTH_OVERWRITTEN))


def growth_query(count: int) -> Iterator[Request]:
    return (_large_query(number) for number in _numbers(count))
