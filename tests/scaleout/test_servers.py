"""Servers on one database: what one is told, all know at once; what one leaves undone, another does."""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pytest

from hashrange.config import SettingInvalid, load
from postgres_server import PostgresServer
from scaleout.servers import Client, Servers
from serving import Answer, Serving, serving

_ROWS = "SELECT count(*) FROM hashrange.rows WHERE substr(k, 1, 1) = '\\x10'"
_GARBAGE = "SELECT count(*) FROM hashrange.rows WHERE substr(k, 1, 1) = '\\x04'"


@pytest.fixture(scope="module")
def shared(postgres: PostgresServer) -> Iterator[str]:
    postgres.execute("CREATE DATABASE shared")
    yield postgres.url("shared")
    postgres.execute("DROP DATABASE shared WITH (FORCE)")


@pytest.fixture(scope="module")
def pair(shared: str) -> Iterator[list[Serving]]:
    """Two servers whose tables are ready at once."""
    flags = ("--engine", shared, "--transition-ms", "0", "--log-level", "warning")
    with ExitStack() as stack:
        yield [stack.enter_context(serving(*flags)) for _ in range(2)]


def table(name: str, key: str = "pk", **more: Any) -> dict[str, Any]:
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }


def good(answer: Answer) -> Any:
    assert answer.status == 200, answer
    return answer.body


def eventually(truth: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not truth():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_change_of_a_table_is_known_everywhere_as_soon_as_it_is_acknowledged(pair: list[Serving]) -> None:
    """Not within some time: at once, for data and for descriptions, however often it changes."""
    one, two = pair
    for turn in range(8):
        key = f"k{turn}"
        good(one.post("CreateTable", table("fast", key)))
        assert "fast" in good(two.post("ListTables", {}))["TableNames"]
        assert (
            good(two.post("DescribeTable", {"TableName": "fast"}))["Table"]["KeySchema"][0]["AttributeName"]
            == key
        )
        item = {key: {"S": "x"}, "turn": {"N": str(turn)}}
        assert good(two.post("GetItem", {"TableName": "fast", "Key": {key: {"S": "x"}}})) == {}
        good(two.post("PutItem", {"TableName": "fast", "Item": item}))
        assert good(one.post("GetItem", {"TableName": "fast", "Key": {key: {"S": "x"}}}))["Item"] == item
        assert two.post("PutItem", {"TableName": "fast", "Item": {"other": {"S": "x"}}}).status == 400
        good(two.post("DeleteTable", {"TableName": "fast"}))
        missing = one.post("GetItem", {"TableName": "fast", "Key": {key: {"S": "x"}}})
        assert missing.error == "ResourceNotFoundException"
        assert "fast" not in good(one.post("ListTables", {}))["TableNames"]
        one, two = two, one


@pytest.mark.parametrize(
    "operation", ["PutItem", "UpdateItem", "BatchWriteItem", "TransactWriteItems", "Query"]
)
def test_a_table_that_was_replaced_is_found_by_the_first_request(pair: list[Serving], operation: str) -> None:
    one, two = pair
    good(one.post("CreateTable", table("old", "k1")))
    good(two.post("PutItem", {"TableName": "old", "Item": {"k1": {"S": "x"}}}))
    good(one.post("DeleteTable", {"TableName": "old"}))
    good(one.post("CreateTable", table("old", "k2")))
    item, name = {"k2": {"S": "x"}}, {"TableName": "old"}
    requests = {
        "PutItem": {**name, "Item": item},
        "UpdateItem": {**name, "Key": item},
        "BatchWriteItem": {"RequestItems": {"old": [{"PutRequest": {"Item": item}}]}},
        "TransactWriteItems": {"TransactItems": [{"Put": {**name, "Item": item}}]},
        "Query": {
            **name,
            "KeyConditionExpression": "k2 = :s",
            "ExpressionAttributeValues": {":s": {"S": "x"}},
        },
    }
    good(two.post(operation, requests[operation]))
    good(two.post("DeleteTable", {"TableName": "old"}))


def test_the_same_table_created_on_two_servers_at_once_is_created_once(pair: list[Serving]) -> None:
    for turn in range(6):
        with ThreadPoolExecutor(2) as threads:
            answers = list(threads.map(lambda each: each.post("CreateTable", table("race")), pair))
        assert sorted(each.status for each in answers) == [200, 400], turn
        assert next(each.error for each in answers if each.status == 400) == "ResourceInUseException"
        good(pair[0].post("DeleteTable", {"TableName": "race"}))


def test_a_token_is_good_on_every_server(pair: list[Serving]) -> None:
    one, two = pair
    good(one.post("CreateTable", table("counts")))
    update = {
        "Update": {
            "TableName": "counts",
            "Key": {"pk": {"S": "n"}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
    }
    for server in (one, two, one, two):
        good(server.post("TransactWriteItems", {"TransactItems": [update], "ClientRequestToken": "once"}))
    stored = good(
        one.post("GetItem", {"TableName": "counts", "Key": {"pk": {"S": "n"}}, "ConsistentRead": True})
    )
    assert stored["Item"]["n"] == {"N": "1"}


def test_an_index_is_filled_by_another_server_when_its_own_dies(database: str) -> None:
    flags = ("--engine", database, "--transition-ms", "0")
    with closing(Servers(2, *flags)) as servers, closing(Client(servers, random.Random(1))) as client:
        good(client.post("CreateTable", table("big")))
        for start in range(0, 3000, 25):
            puts = [
                {"PutRequest": {"Item": {"pk": {"S": f"{number}"}, "g": {"S": f"g{number % 7}"}}}}
                for number in range(start, start + 25)
            ]
            good(client.post("BatchWriteItem", {"RequestItems": {"big": puts}}))
        create = {
            "IndexName": "by-g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        request = {
            "TableName": "big",
            "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": create}],
        }
        good(client.post("UpdateTable", request))
        # Whoever does the work dies in the middle of it, and so does whoever takes over first.
        for number in (0, 1):
            servers.kill(number)
        client.close()
        eventually(lambda: index_status(client) == "ACTIVE", 40)
        query = {"TableName": "big", "IndexName": "by-g", "Select": "COUNT"}
        found = [
            good(
                client.post(
                    "Query",
                    {
                        **query,
                        "KeyConditionExpression": "g = :g",
                        "ExpressionAttributeValues": {":g": {"S": f"g{group}"}},
                    },
                )
            )["Count"]
            for group in range(7)
        ]
        assert sum(found) == 3000
        described = good(client.post("DescribeTable", {"TableName": "big"}))["Table"]
        assert described["GlobalSecondaryIndexes"][0]["ItemCount"] == 3000


def index_status(client: Client) -> str:
    described = good(client.post("DescribeTable", {"TableName": "big"}))["Table"]
    return str(described["GlobalSecondaryIndexes"][0]["IndexStatus"])


def test_rows_of_a_deleted_table_are_cleared_whoever_deleted_it(
    pair: list[Serving], postgres: PostgresServer
) -> None:
    eventually(lambda: postgres.execute(_GARBAGE, "shared") == [(0,)])
    before = postgres.execute(_ROWS, "shared")[0][0]
    for server in pair:
        good(server.post("CreateTable", table("gone")))
        for number in range(30):
            good(server.post("PutItem", {"TableName": "gone", "Item": {"pk": {"S": str(number)}}}))
        good(server.post("DeleteTable", {"TableName": "gone"}))
        eventually(lambda: postgres.execute(_ROWS, "shared")[0][0] <= before)


def test_workers_share_a_database_like_servers(database: str) -> None:
    with serving("--engine", database, "--workers", "2", "--transition-ms", "0") as server:
        good(server.post("CreateTable", table("shared")))
        for number in range(20):
            good(server.post("PutItem", {"TableName": "shared", "Item": {"pk": {"S": str(number)}}}))
        for _ in range(10):
            scanned = good(server.post("Scan", {"TableName": "shared", "ConsistentRead": True}))
            assert scanned["Count"] == 20


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_database_that_cannot_be_used_is_a_sentence_however_many_workers(
    postgres: PostgresServer, workers: str
) -> None:
    flags = ("--engine", postgres.url("nowhere"), "--workers", workers)
    with pytest.raises(RuntimeError) as refused, serving(*flags):
        pass
    said = str(refused.value).splitlines()[1:]
    assert len(said) == 1
    assert said[0].startswith("hashrange: cannot connect to")
    assert said[0].endswith('database "nowhere" does not exist')


def test_a_url_that_is_mistyped_does_not_give_the_password_away() -> None:
    for name in ("engine", "replica"):
        with pytest.raises(SettingInvalid) as refused:
            load({name: "postgressql://me:pass@word/1@host/db"}, {})
        assert "postgressql://me:***@host/db" in str(refused.value)


def test_a_data_file_has_no_replicas() -> None:
    with pytest.raises(SettingInvalid, match="--replica needs a postgresql:// URL as --engine"):
        load({"replica": "postgresql://host/db"}, {})


def test_a_database_that_is_away_is_an_error_of_the_server_and_passes(
    postgres: PostgresServer, database: str
) -> None:
    name = database.rpartition("/")[2]
    with serving("--engine", database, "--transition-ms", "0") as server:
        good(server.post("CreateTable", table("there")))
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        key = {"TableName": "there", "Key": {"pk": {"S": "x"}}, "ConsistentRead": True}
        answer = server.post("GetItem", key)
        assert (answer.status, answer.error) == (500, "InternalServerError")
        invalid = server.post("GetItem", {"TableName": "there"})
        assert (invalid.status, invalid.error) == (400, "ValidationException")
        # Whatever depends on a table is not answered from memory.
        requests: list[tuple[str, dict[str, Any]]] = [
            ("GetItem", {"TableName": "nowhere", "Key": {"pk": {"S": "x"}}}),
            ("PutItem", {"TableName": "there", "Item": {"other": {"S": "x"}}}),
            ("DescribeTable", {"TableName": "nowhere"}),
            ("CreateTable", table("there")),
            ("ListTables", {}),
        ]
        with ThreadPoolExecutor(len(requests)) as threads:
            answers = list(threads.map(lambda request: server.post(*request), requests))
        assert [(each.status, each.error) for each in answers] == [(500, "InternalServerError")] * len(
            requests
        )
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        assert good(server.post("GetItem", key)) == {}


def test_an_older_backup_under_running_servers_is_noticed_and_refused(
    postgres: PostgresServer, database: str
) -> None:
    name = database.rpartition("/")[2]
    with serving("--engine", database, "--transition-ms", "0") as server:
        good(server.post("CreateTable", table("kept")))
        for kind in ("rows", "counters"):
            postgres.execute(f"CREATE TABLE saved_{kind} AS SELECT * FROM hashrange.{kind}", name)
        good(server.post("CreateTable", table("lost")))
        good(server.post("PutItem", {"TableName": "lost", "Item": {"pk": {"S": "x"}}}))
        # All records are read up to here: a server that remembers nothing of what is lost has nothing to notice.
        assert good(server.post("ListTables", {}))["TableNames"] == ["kept", "lost"]
        restore = "".join(
            f"TRUNCATE hashrange.{kind}; INSERT INTO hashrange.{kind} SELECT * FROM saved_{kind};"
            for kind in ("rows", "counters")
        )
        postgres.execute(restore, name)
        for operation, request in (
            ("PutItem", {"TableName": "lost", "Item": {"pk": {"S": "x"}}}),
            ("GetItem", {"TableName": "kept", "Key": {"pk": {"S": "x"}}, "ConsistentRead": True}),
            ("ListTables", {}),
        ):
            eventually(lambda: server.post(operation, request).status == 500)  # noqa: B023 - called at once
        assert server.log_text().count("database.replaced") == 1
        assert "an older backup has been restored" in server.log_text()
    with serving("--engine", database, "--transition-ms", "0") as server:
        assert good(server.post("ListTables", {}))["TableNames"] == ["kept"]
