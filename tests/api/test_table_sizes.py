"""DescribeTable's counts and sizes after every kind of write, with indexes and without."""

from collections.abc import Callable
from typing import Any

import pytest

from clocked import Clocked
from item_tables import Item, definitions, index, key_schema

KEY = {"pk": {"S": "partition"}, "sk": {"S": "sort"}}
OTHER: Item = {**KEY, "sk": {"S": "other"}, "g": {"S": "one"}, "text": {"S": "other"}}
# The same size twice, larger, of letters that take several bytes, smaller, and the index key coming, changing, going.
TEXTS = [
    ("short", "one"),
    ("other", "one"),
    ("x" * 3000, "one"),
    ("für €5", "größer"),
    ("y" * 20, "another"),
    ("", None),
    ("z", "one"),
]
INDEXES: dict[str, dict[str, Any]] = {
    "without indexes": {},
    "with a global index": {"GlobalSecondaryIndexes": [index("keys", "g", projection="KEYS_ONLY")]},
    "with a local index": {"LocalSecondaryIndexes": [index("whole", "pk", "g")]},
    "with both": {
        "GlobalSecondaryIndexes": [index("whole", "g", "pk"), index("keys", "g", projection="KEYS_ONLY")],
        "LocalSecondaryIndexes": [index("some", "pk", "g", projection="INCLUDE", included=("text",))],
    },
}

Write = Callable[[Clocked, Item], object]


@pytest.fixture(params=INDEXES)
def service(request: pytest.FixtureRequest) -> Clocked:
    """A service with the table `sizes`, in which one other item lies already."""
    clocked = Clocked()
    members = INDEXES[request.param]
    clocked.call(
        "CreateTable",
        TableName="sizes",
        KeySchema=key_schema("pk", "sk"),
        AttributeDefinitions=definitions(pk="S", sk="S", **({"g": "S"} if members else {})),
        BillingMode="PAY_PER_REQUEST",
        **members,
    )
    clocked.settle()
    clocked.call("PutItem", TableName="sizes", Item=OTHER)
    return clocked


def put(service: Clocked, item: Item) -> object:
    return service.call("PutItem", TableName="sizes", Item=item)


def put_if(service: Clocked, item: Item) -> object:
    condition = "attribute_not_exists(never)"
    return service.call("PutItem", TableName="sizes", Item=item, ConditionExpression=condition)


def put_and_return(service: Clocked, item: Item) -> object:
    return service.call("PutItem", TableName="sizes", Item=item, ReturnValues="ALL_OLD")


def put_and_measure(service: Clocked, item: Item) -> object:
    more = {"ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"}
    return service.call("PutItem", TableName="sizes", Item=item, **more)


def put_in_a_batch(service: Clocked, item: Item) -> object:
    other = {**KEY, "sk": {"S": "never"}}
    requests = [{"PutRequest": {"Item": item}}, {"DeleteRequest": {"Key": other}}]
    return service.call("BatchWriteItem", RequestItems={"sizes": requests})


def put_in_a_transaction(service: Clocked, item: Item) -> object:
    return service.call("TransactWriteItems", TransactItems=[{"Put": {"TableName": "sizes", "Item": item}}])


def expression(item: Item) -> dict[str, Any]:
    """The members of an update that turns any item of this key into the given one."""
    values = {":t": item["text"], **({":g": item["g"]} if "g" in item else {})}
    text = "SET #t = :t, g = :g" if "g" in item else "SET #t = :t REMOVE g"
    return {
        "TableName": "sizes",
        "Key": KEY,
        "UpdateExpression": text,
        "ExpressionAttributeNames": {"#t": "text"},
        "ExpressionAttributeValues": values,
    }


def update(service: Clocked, item: Item) -> object:
    return service.call("UpdateItem", **expression(item))


def update_and_return(service: Clocked, item: Item) -> object:
    return service.call("UpdateItem", **expression(item), ReturnValues="ALL_NEW")


def update_in_a_transaction(service: Clocked, item: Item) -> object:
    return service.call("TransactWriteItems", TransactItems=[{"Update": expression(item)}])


def statement(service: Clocked, item: Item) -> dict[str, Any]:
    """INSERT where there is nothing yet, UPDATE where there is."""
    if "Item" not in service.call("GetItem", TableName="sizes", Key=KEY):
        members = ", ".join(f"'{name}': ?" for name in item)
        return {"Statement": f'INSERT INTO "sizes" VALUE {{{members}}}', "Parameters": list(item.values())}
    where = "WHERE pk = 'partition' AND sk = 'sort'"
    if "g" in item:
        text = f'UPDATE "sizes" SET "text" = ? SET g = ? {where}'
        return {"Statement": text, "Parameters": [item["text"], item["g"]]}
    return {"Statement": f'UPDATE "sizes" SET "text" = ? REMOVE g {where}', "Parameters": [item["text"]]}


def execute(service: Clocked, item: Item) -> object:
    return service.call("ExecuteStatement", **statement(service, item))


def execute_in_a_batch(service: Clocked, item: Item) -> object:
    answer = service.call("BatchExecuteStatement", Statements=[statement(service, item)])
    assert "Error" not in answer["Responses"][0], answer
    return answer


def execute_in_a_transaction(service: Clocked, item: Item) -> object:
    return service.call("ExecuteTransaction", TransactStatements=[statement(service, item)])


def delete(service: Clocked) -> object:
    return service.call("DeleteItem", TableName="sizes", Key=KEY)


def delete_and_return(service: Clocked) -> object:
    return service.call("DeleteItem", TableName="sizes", Key=KEY, ReturnValues="ALL_OLD")


def delete_in_a_batch(service: Clocked) -> object:
    return service.call("BatchWriteItem", RequestItems={"sizes": [{"DeleteRequest": {"Key": KEY}}]})


def delete_in_a_transaction(service: Clocked) -> object:
    return service.call("TransactWriteItems", TransactItems=[{"Delete": {"TableName": "sizes", "Key": KEY}}])


DELETE = {"Statement": "DELETE FROM \"sizes\" WHERE pk = 'partition' AND sk = 'sort'"}


def execute_delete(service: Clocked) -> object:
    return service.call("ExecuteStatement", **DELETE)


def execute_delete_in_a_batch(service: Clocked) -> object:
    return service.call("BatchExecuteStatement", Statements=[DELETE])


def execute_delete_in_a_transaction(service: Clocked) -> object:
    return service.call("ExecuteTransaction", TransactStatements=[DELETE])


WRITES: list[Write] = [
    put,
    put_if,
    put_and_return,
    put_and_measure,
    put_in_a_batch,
    put_in_a_transaction,
    update,
    update_and_return,
    update_in_a_transaction,
    execute,
    execute_in_a_batch,
    execute_in_a_transaction,
]
DELETES: list[Callable[[Clocked], object]] = [
    delete,
    delete_and_return,
    delete_in_a_batch,
    delete_in_a_transaction,
    execute_delete,
    execute_delete_in_a_batch,
    execute_delete_in_a_transaction,
]


def item_of(text: str, g: str | None) -> Item:
    return {**KEY, "text": {"S": text}, **({} if g is None else {"g": {"S": g}})}


def size(item: Item) -> int:
    """All attributes here are strings: the bytes of their names and values."""
    return sum(len(name) + len(value["S"].encode()) for name, value in item.items())


def check(service: Clocked, *items: Item) -> None:
    """Counts and sizes, of the table and of each index, are those of these items."""
    table = service.describe("sizes")
    assert (table["ItemCount"], table["TableSizeBytes"]) == (len(items), sum(map(size, items)))
    for each in [*table.get("GlobalSecondaryIndexes", []), *table.get("LocalSecondaryIndexes", [])]:
        names = {"pk", "sk", "g", *({"text"} if each["Projection"]["ProjectionType"] != "KEYS_ONLY" else ())}
        entries = [{name: item[name] for name in names} for item in items if "g" in item]
        assert (each["ItemCount"], each["IndexSizeBytes"]) == (len(entries), sum(map(size, entries)))
    assert service.call("Scan", TableName="sizes", Select="COUNT")["Count"] == len(items)


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
def test_a_write_is_counted_and_one_that_replaces_it_too(service: Clocked, write: Write) -> None:
    check(service, OTHER)
    for text, g in TEXTS:
        write(service, item_of(text, g))
        check(service, OTHER, item_of(text, g))


@pytest.mark.parametrize("delete_it", DELETES, ids=lambda delete: delete.__name__)
def test_a_delete_is_counted_once(service: Clocked, delete_it: Callable[[Clocked], object]) -> None:
    for text, g in TEXTS:
        put(service, item_of(text, g))
        for _ in range(2):
            delete_it(service)
            check(service, OTHER)


def test_what_is_refused_is_not_counted(service: Clocked) -> None:
    first, second = item_of("first", "one"), item_of("the second", "another")
    put(service, first)
    never: dict[str, Any] = {"ConditionExpression": "attribute_exists(never)"}
    failed = "ConditionalCheckFailedException"
    assert service.refused("PutItem", TableName="sizes", Item=second, **never)[0] == failed
    assert service.refused("UpdateItem", **expression(second), **never)[0] == failed
    assert service.refused("DeleteItem", TableName="sizes", Key=KEY, **never)[0] == failed
    other = {**KEY, "sk": {"S": "another"}}
    actions = [
        {"Put": {"TableName": "sizes", "Item": second}},
        {"Delete": {"TableName": "sizes", "Key": other, **never}},
    ]
    assert service.refused("TransactWriteItems", TransactItems=actions)[0] == "TransactionCanceledException"
    check(service, OTHER, first)


def test_an_update_that_only_removes_makes_no_item(service: Clocked) -> None:
    service.call("UpdateItem", TableName="sizes", Key=KEY, UpdateExpression="REMOVE g")
    check(service, OTHER)
