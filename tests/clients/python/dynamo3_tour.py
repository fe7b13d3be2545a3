"""dynamo3: tables with both kinds of indexes, conditions, counts, pages, batches, transactions, an index made later."""

import time
from decimal import Decimal

from dynamo3 import (
    Binary,
    CheckFailed,
    DynamoDBConnection,
    DynamoDBError,
    DynamoKey,
    GlobalIndex,
    IndexUpdate,
    Limit,
    LocalIndex,
    TransactionCanceledException,
)
from settings import KEY, PORT, REGION, SECRET, refused, unique

connection = DynamoDBConnection.connect(
    REGION, access_key=KEY, secret_key=SECRET, host="127.0.0.1", port=PORT, is_secure=False
)
TABLE = unique("dynamo3")


def creates_table() -> None:
    connection.create_table(
        TABLE,
        hash_key=DynamoKey("kind"),
        range_key=DynamoKey("number", "N"),
        indexes=[LocalIndex.keys("by-weight", DynamoKey("weight", "N"))],
        global_indexes=[GlobalIndex.all("by-owner", DynamoKey("owner"), DynamoKey("number", "N"))],
        billing_mode="PAY_PER_REQUEST",
        wait=True,
    )
    assert TABLE in set(connection.list_tables())
    table = connection.describe_table(TABLE)
    assert (table.status, table.is_on_demand) == ("ACTIVE", True)
    assert [index.name for index in table.global_indexes] == ["by-owner"]


def keeps_items() -> None:
    item = {
        "kind": "cat",
        "number": 1,
        "weight": Decimal("4.5"),
        "tags": {"grey", "fat"},
        "sizes": {1, 2},
        "photo": Binary(b"\x00\x01\xff"),
        "meals": [1, "two", {"three": 3}],
        "tame": True,
    }
    connection.put_item(TABLE, item)
    found = connection.get_item(TABLE, {"kind": "cat", "number": 1}, consistent=True, return_capacity="TOTAL")
    assert dict(found) == item, dict(found)
    assert found.consumed_capacity.total == (1, 0)
    changed = connection.update_item(
        TABLE,
        {"kind": "cat", "number": 1},
        "SET meals[1] = :two ADD weight :more, tags :tags REMOVE photo",
        condition="tame = :yes",
        returns="ALL_NEW",
        two=2,
        more=Decimal("0.5"),
        tags={"old"},
        yes=True,
    )
    assert (changed["weight"], changed["tags"], changed["meals"][1]) == (5, {"grey", "fat", "old"}, 2)
    problem = None
    try:
        connection.put_item(
            TABLE, {"kind": "cat", "number": 1}, condition="attribute_not_exists(#k)", alias={"#k": "kind"}
        )
    except CheckFailed as caught:
        problem = caught
    refused(CheckFailed, problem)
    gone = connection.delete_item(TABLE, {"kind": "cat", "number": 1}, returns="ALL_OLD")
    assert gone["kind"] == "cat"
    assert not connection.get_item(TABLE, {"kind": "cat", "number": 1})


def reads_in_pages() -> None:
    with connection.batch_write(TABLE) as batch:
        for number in range(60):
            batch.put({"kind": "dog", "number": number, "owner": f"o{number % 2}", "weight": 60 - number})
    found = connection.query(
        TABLE, "kind = :k AND #n BETWEEN :a AND :b", alias={"#n": "number"}, k="dog", a=10, b=39
    )
    assert [row["number"] for row in found] == list(range(10, 40))
    first = connection.query(
        TABLE,
        "#o = :o",
        alias={"#o": "owner"},
        index="by-owner",
        desc=True,
        limit=Limit(scan_limit=7),
        o="o1",
    )
    assert [row["number"] for row in first] == list(range(59, 45, -2))
    assert first.last_evaluated_key["number"] == {"N": "47"}
    light = connection.query(TABLE, "kind = :k AND weight <= :w", index="by-weight", k="dog", w=3)
    assert [row["number"] for row in light] == [59, 58, 57]
    assert connection.query(TABLE, "kind = :k", select="COUNT", k="dog") == 60
    assert len(list(connection.scan(TABLE, filter="weight > :w", w=50))) == 10
    keys = [{"kind": "dog", "number": number} for number in range(120)]
    assert len(list(connection.batch_get(TABLE, keys))) == 60


def runs_transactions() -> None:
    with connection.txn_write() as transaction:
        transaction.put(TABLE, {"kind": "bird", "number": 1})
        transaction.update(TABLE, {"kind": "dog", "number": 0}, "SET weight = :w", w=99)
    problem = None
    try:
        with connection.txn_write() as transaction:
            transaction.check(
                TABLE, {"kind": "bird", "number": 1}, "attribute_not_exists(#k)", alias={"#k": "kind"}
            )
            transaction.delete(TABLE, {"kind": "dog", "number": 0})
    except TransactionCanceledException as caught:
        problem = caught
    refused(TransactionCanceledException, problem)
    keys = [{"kind": "bird", "number": 1}, {"kind": "dog", "number": 0}]
    bird, dog = connection.txn_get(TABLE, keys)
    assert (bird["kind"], dog["weight"]) == ("bird", 99)


def changes_table() -> None:
    index = GlobalIndex.keys("by-weight-only", DynamoKey("weight", "N"))
    connection.update_table(TABLE, index_updates=[IndexUpdate.create(index)])
    while {index.status for index in connection.describe_table(TABLE).global_indexes} != {"ACTIVE"}:
        time.sleep(0.1)
    assert [row["number"] for row in connection.query(TABLE, "weight = :w", index="by-weight-only", w=7)] == [
        53
    ]
    connection.update_ttl(TABLE, "expires", enabled=True)
    assert connection.describe_ttl(TABLE).attribute_name == "expires"
    problem = None
    try:
        connection.get_item("missing", {"kind": "x"})
    except DynamoDBError as caught:
        problem = caught
    refused(DynamoDBError, problem)
    assert connection.delete_table(TABLE, wait=True)


creates_table()
keeps_items()
reads_in_pages()
runs_transactions()
changes_table()
print("tour complete")
