"""The workloads: what is asked, of which table, and what a right answer looks like."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hashrange_bench import bodies
from hashrange_bench.sample import INDEXED, LARGE, ORDERS, PEOPLE, PLAIN, Request

Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """Requests without end; those that `consume` change what they find, so none is sent twice."""

    name: str
    group: int
    title: str
    table: str
    requests: Callable[[int], Iterator[Request]]  # given how many items the table has
    check: Callable[[Answer], bool]
    cycle: int = 20_000  # different requests before it starts over
    consumes: bool = False
    rate_max: int = 30_000  # requests a second that no server reaches

    def count(self, seconds: float) -> int:
        """Say how many requests have to be at hand for so many seconds."""
        return max(200, int(self.rate_max * seconds)) if self.consumes else self.cycle


def _found(answer: Answer) -> bool:
    return len(answer.get("Item", ())) > 5


def _all_written(answer: Answer) -> bool:
    return not answer.get("UnprocessedItems")


def _all_read(answer: Answer) -> bool:
    return len(answer.get("Responses", {}).get(PEOPLE, ())) == 100


def _counted(answer: Answer) -> bool:
    return "n" in answer.get("Attributes", {})


def _items(low: int, high: int | None = None) -> Callable[[Answer], bool]:
    return lambda answer: low <= answer.get("Count", -1) == len(answer.get("Items", ())) <= (high or low)


def _any_answer(_: Answer) -> bool:
    return True


# A page of a Scan is 1 MB: about 2,600 items of 400 bytes.
_PAGE, _TENTH = _items(2_500, 2_700), _items(200, 320)
WORKLOADS = (
    Workload("get", 1, "GetItem, eventually consistent", PEOPLE, bodies.get_eventual, _found),
    Workload("get-strong", 1, "GetItem, strongly consistent", PEOPLE, bodies.get_strong, _found),
    Workload(
        "get-missing", 1, "GetItem, no such item", PEOPLE, bodies.get_missing, lambda a: "Item" not in a
    ),
    # The one whose requests can be sent again comes first: it warms up the code that the others use.
    Workload(
        "put",
        2,
        "PutItem, overwrite",
        PEOPLE,
        bodies.put_overwrite,
        _any_answer,
        cycle=2 * bodies.OVERWRITTEN,
    ),
    Workload("put-new", 2, "PutItem, new", PLAIN, bodies.put_new, _any_answer, consumes=True),
    Workload(
        "put-2-gsi", 2, "PutItem, new, 2 indexes", INDEXED, bodies.put_indexed, _any_answer, consumes=True
    ),
    Workload("update", 3, "UpdateItem, counter with condition", PEOPLE, bodies.update, _counted),
    Workload("delete", 4, "DeleteItem", PLAIN, bodies.delete, _any_answer, consumes=True),
    Workload(
        "query-1",
        5,
        "Query, 1 item",
        ORDERS,
        bodies.query("pk = :p AND sk = :s", bodies.PARTITION + ',":s":{"S":"0042"}'),
        _items(1),
    ),
    Workload(
        "query-10",
        5,
        "Query, 10 items",
        ORDERS,
        bodies.query(
            "pk = :p AND sk BETWEEN :a AND :b", bodies.PARTITION + ',":a":{"S":"0040"},":b":{"S":"0049"}'
        ),
        _items(10),
    ),
    Workload(
        "query-100", 5, "Query, 100 items", ORDERS, bodies.query("pk = :p", bodies.PARTITION), _items(100)
    ),
    Workload(
        "query-filter",
        5,
        "Query, 100 items, filter keeps 10",
        ORDERS,
        bodies.query("pk = :p", bodies.PARTITION + ',":k":{"S":"kind-3"}', bodies.FILTER),
        _items(10),
    ),
    Workload(
        "query-projection",
        5,
        "Query, 4 attributes of 100 items",
        ORDERS,
        bodies.query("pk = :p", bodies.PARTITION, bodies.PROJECTION),
        _items(100),
    ),
    Workload(
        "query-descending",
        5,
        "Query, 100 items, descending",
        ORDERS,
        bodies.query("pk = :p", bodies.PARTITION, ',"ScanIndexForward":false'),
        _items(100),
    ),
    Workload(
        "query-gsi",
        5,
        "Query of an index, 100 items",
        ORDERS,
        bodies.query(
            "#b = :b",
            '":b":{"S":"bucket-@"}',
            ',"IndexName":"by-bucket","ExpressionAttributeNames":{"#b":"bucket"}',
        ),
        _items(100),
    ),
    Workload("scan", 6, "Scan, 1 MB page", PEOPLE, bodies.scan(""), _PAGE, cycle=4),
    Workload(
        "scan-filter",
        6,
        "Scan, 1 MB page, filter keeps a tenth",
        PEOPLE,
        bodies.scan(bodies.FILTER + ',"ExpressionAttributeValues":{":k":{"S":"kind-3"}}'),
        _TENTH,
        cycle=4,
    ),
    Workload(
        "scan-parallel",
        6,
        "Scan, 4 segments",
        PEOPLE,
        bodies.scan("", segments=4),
        _items(2_000, 3_000),
        cycle=4,
    ),
    Workload("batch-get-100", 7, "BatchGetItem, 100 items", PEOPLE, bodies.batch_get, _all_read, cycle=1_000),
    Workload(
        "batch-write-25", 7, "BatchWriteItem, 25 items", PEOPLE, bodies.batch_write, _all_written, cycle=800
    ),
    Workload(
        "transact-write-2",
        8,
        "TransactWriteItems, 2 items",
        PEOPLE,
        bodies.transact_write(2),
        _any_answer,
        consumes=True,
        rate_max=15_000,
    ),
    Workload(
        "transact-write-25",
        8,
        "TransactWriteItems, 25 items",
        PEOPLE,
        bodies.transact_write(25),
        _any_answer,
        consumes=True,
        rate_max=2_000,
    ),
    Workload(
        "transact-get-10",
        8,
        "TransactGetItems, 10 items",
        PEOPLE,
        bodies.transact_get,
        lambda answer: len(answer.get("Responses", ())) == 10,
        cycle=4_000,
    ),
    Workload(
        "partiql", 9, "PartiQL select by key", PEOPLE, bodies.select, lambda a: len(a.get("Items", ())) == 1
    ),
    Workload(
        "mixed",
        10,
        "Mixed load, 80/15/5",
        LARGE,
        bodies.mixed,
        _any_answer,
        cycle=2 * bodies.MIXED,
    ),
)
GROWTH = (
    Workload("growth-get", 12, "GetItem", LARGE, bodies.growth_get, _found, cycle=bodies.GROWTH_READ),
    Workload(
        "growth-put",
        12,
        "PutItem",
        LARGE,
        bodies.growth_put,
        _any_answer,
        cycle=2 * bodies.GROWTH_OVERWRITTEN,
    ),
    Workload("growth-query", 12, "Query, 10 items", LARGE, bodies.growth_query, _items(10), cycle=10_000),
)
NAMES = (*(workload.name for workload in WORKLOADS), "growth")


def chosen(names: list[str]) -> tuple[Workload, ...]:
    """Give the workloads of these names, in their own order; all of them where none is named."""
    return tuple(workload for workload in WORKLOADS if not names or workload.name in names)
