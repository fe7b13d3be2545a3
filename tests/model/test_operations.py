"""Random sequences of writes, on the server and on a plain dictionary; then every way of reading must agree."""

import http.client
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from model import choices
from model.plain_table import Failed, Invalid, Item, PlainIndex, PlainTable, place, rank
from serving import AUTHORIZATION, Serving, serving

SEQUENCES = 200
PER_TEST = 20
WRITES = 30

INDEXES = {
    "local": PlainIndex(("pk",), ("l",)),
    "local-keys": PlainIndex(("pk",), ("n",), frozenset()),
    "global": PlainIndex(("g",), ("n",), frozenset({"v"})),
    "flat": PlainIndex(("g",), (), frozenset()),
    "wide": PlainIndex(("g", "l"), ("n", "sk")),
}
TYPES = {"pk": "S", "sk": "N", "l": "S", "g": "S", "n": "N"}


class Connection:
    """One kept-alive connection to the server, without an SDK in between."""

    def __init__(self, server: Serving) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def close(self) -> None:
        self._http.close()

    def ask(self, operation: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer; an error has its code as `__type`."""
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": AUTHORIZATION,
        }
        self._http.request("POST", "/", json.dumps(body), headers)
        response = self._http.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
        assert response.status < 500, answer
        if "__type" in answer:
            answer["__type"] = answer["__type"].rpartition("#")[2]
        return answer


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with serving("--in-memory", "--transition-ms", "0", "--log-level", "warning") as server:
        connected = Connection(server)
        yield connected
        connected.close()
        log = server.log_text()
    assert "Traceback" not in log, log


def create_table(connection: Connection, name: str) -> None:
    def definition(index_name: str) -> dict[str, Any]:
        index = INDEXES[index_name]
        keys = [(key, "HASH") for key in index.hash] + [(key, "RANGE") for key in index.range]
        kinds: dict[frozenset[str] | None, str] = {None: "ALL", frozenset(): "KEYS_ONLY"}
        kind = kinds.get(index.carries, "INCLUDE")
        projection: dict[str, Any] = {"ProjectionType": kind}
        if kind == "INCLUDE":
            projection["NonKeyAttributes"] = sorted(index.carries or ())
        schema = [{"AttributeName": key, "KeyType": role} for key, role in keys]
        return {"IndexName": index_name, "KeySchema": schema, "Projection": projection}

    answer = connection.ask(
        "CreateTable",
        {
            "TableName": name,
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": key, "AttributeType": kind} for key, kind in TYPES.items()
            ],
            "BillingMode": "PAY_PER_REQUEST",
            "LocalSecondaryIndexes": [definition(each) for each in INDEXES if each.startswith("local")],
            "GlobalSecondaryIndexes": [definition(each) for each in INDEXES if not each.startswith("local")],
        },
    )
    assert "TableDescription" in answer, answer


class Sequence:
    """One sequence of writes on a table of its own."""

    def __init__(self, connection: Connection, name: str, random: Random) -> None:
        self.connection = connection
        self.name = name
        self.random = random
        self.plain = PlainTable(INDEXES)

    def write(self) -> None:
        """One random write, on both sides."""
        self.random.choices((self.put, self.update, self.delete, self.batch, self.transact), (5, 7, 2, 1, 3))[
            0
        ]()

    def put(self) -> None:
        self._single("PutItem", *choices.put(self.random), ("ALL_OLD", "NONE"))

    def update(self) -> None:
        self._single("UpdateItem", *choices.change(self.random), ("ALL_OLD", "ALL_NEW", "NONE"))

    def delete(self) -> None:
        self._single("DeleteItem", *choices.delete(self.random), ("ALL_OLD", "NONE"))

    def _single(self, operation: str, request: dict[str, Any], action: Any, returns: tuple[str, ...]) -> None:
        wanted = self.random.choice(returns)
        request = {"TableName": self.name, **request, "ReturnValues": wanted}
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        stored = self.plain.items.get(place(action.key))
        answer = self.connection.ask(operation, request)
        try:
            before, after = self.plain.run(action)
        except Failed:
            assert answer["__type"] == "ConditionalCheckFailedException", (request, answer)
            assert answer.get("Item") == stored, request
        except Invalid:
            assert answer["__type"] == "ValidationException", (request, answer)
        else:
            expected = {"ALL_OLD": before, "ALL_NEW": after, "NONE": None}[wanted]
            assert answer == ({} if expected is None else {"Attributes": expected}), (request, answer)

    def batch(self) -> None:
        writes, taken = [], set()
        for _ in range(self.random.randint(1, 6)):
            request, action = self.random.choice((choices.put, choices.delete))(self.random)
            if place(action.key) in taken:
                continue
            taken.add(place(action.key))
            self.plain.run(type(action)(action.key, choices.always, action.change))
            kind, member = ("PutRequest", "Item") if "Item" in request else ("DeleteRequest", "Key")
            writes.append({kind: {member: request[member]}})
        answer = self.connection.ask("BatchWriteItem", {"RequestItems": {self.name: writes}})
        assert answer == {"UnprocessedItems": {}}

    def transact(self) -> None:
        makers = {
            "Put": choices.put,
            "Update": choices.change,
            "Delete": choices.delete,
            "ConditionCheck": choices.check,
        }
        elements, actions = [], []
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.choice(list(makers))
            request, action = makers[kind](self.random)
            if place(action.key) not in [place(other.key) for other in actions]:
                elements.append({kind: {"TableName": self.name, **request}})
                actions.append(action)
        answer = self.connection.ask("TransactWriteItems", {"TransactItems": elements})
        codes = self.plain.run_all(actions)
        if set(codes) == {"None"}:
            assert answer == {}, (elements, answer)
        else:
            assert answer["__type"] == "TransactionCanceledException", (elements, answer)
            assert [reason["Code"] for reason in answer["CancellationReasons"]] == codes, (elements, answer)

    def compare(self) -> None:
        """Every way of reading gives what the plain table holds."""
        self._compare_gets()
        self._compare_scans()
        for partition in choices.PARTITIONS:
            self._compare_query(None, {"pk": {"S": partition}}, ("sk",), list(self.plain.items.values()))
        for name, index in INDEXES.items():
            entries = self.plain.entries(name)
            hashes = {tuple(json.dumps(entry[key]) for key in index.hash) for entry in entries}
            for texts in hashes:
                values = {key: json.loads(text) for key, text in zip(index.hash, texts, strict=True)}
                self._compare_query(name, values, index.range, entries)

    def _compare_gets(self) -> None:
        keys = [{"pk": {"S": pk}, "sk": {"N": sk}} for pk in choices.PARTITIONS for sk in choices.NUMBERS]
        answer = self.connection.ask("BatchGetItem", {"RequestItems": {self.name: {"Keys": keys}}})
        found = {place(item): item for item in answer["Responses"][self.name]}
        assert found == self.plain.items
        gets = [{"Get": {"TableName": self.name, "Key": key}} for key in keys]
        answer = self.connection.ask("TransactGetItems", {"TransactItems": gets})
        assert [each.get("Item") for each in answer["Responses"]] == [
            self.plain.items.get(place(key)) for key in keys
        ]

    def _compare_scans(self) -> None:
        total = self.random.randint(1, 4)
        for name in (None, *INDEXES):
            expected = list(self.plain.items.values()) if name is None else self.plain.entries(name)
            found: list[Item] = []
            for segment in range(total):
                request: dict[str, Any] = {"TableName": self.name, "Segment": segment, "TotalSegments": total}
                if name is not None:
                    request["IndexName"] = name
                found += self._pages("Scan", request)
            assert as_set(found) == as_set(expected), name

    def _compare_query(
        self, name: str | None, partition: Item, ranges: tuple[str, ...], entries: list[Item]
    ) -> None:
        mine = [entry for entry in entries if all(entry[key] == value for key, value in partition.items())]
        text = choices.Text()
        clauses = [f"{text.name(key)} = {text.value(value)}" for key, value in partition.items()]
        if ranges and self.random.random() < 0.6:
            bound = choices.attribute(self.random, ranges[0]) if ranges[0] != "sk" else {"N": "0"}
            operator = self.random.choice(("<", "<=", ">", ">=", "="))
            clauses.append(f"{text.name(ranges[0])} {operator} {text.value(bound)}")
            mine = [entry for entry in mine if _compares(operator, rank(entry[ranges[0]]), rank(bound))]
        forward = self.random.random() < 0.5
        request: dict[str, Any] = {
            "TableName": self.name,
            "KeyConditionExpression": " AND ".join(clauses),
            "ScanIndexForward": forward,
            **text.parameters(),
        }
        if name is not None:
            request["IndexName"] = name
        found = self._pages("Query", request)
        assert as_set(found) == as_set(mine), request
        order = [tuple(rank(entry[key]) for key in ranges) for entry in found]
        assert order == sorted(order, reverse=not forward), request

    def _pages(self, operation: str, request: dict[str, Any]) -> list[Item]:
        """All items, in pages of a random size."""
        if self.random.random() < 0.7:
            request["Limit"] = self.random.randint(1, 7)
        found: list[Item] = []
        for _ in range(200):
            answer = self.connection.ask(operation, request)
            assert "__type" not in answer, (request, answer)
            assert answer["Count"] == answer["ScannedCount"] == len(answer["Items"])
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return found
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        raise AssertionError("paging does not end")


def _compares(operator: str, left: Any, right: Any) -> bool:
    return bool(
        {
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
            "=": left == right,
        }[operator]
    )


def as_set(items: list[Item]) -> list[str]:
    """Items without regard to their order, but to how often each is there."""
    return sorted(json.dumps(item, sort_keys=True) for item in items)


@pytest.mark.parametrize("first", range(0, SEQUENCES, PER_TEST))
def test_server_and_model_agree(connection: Connection, first: int) -> None:
    for seed in range(first, first + PER_TEST):
        name = f"sequence-{seed}"
        create_table(connection, name)
        sequence = Sequence(connection, name, Random(seed))
        for _ in range(WRITES):
            sequence.write()
        sequence.compare()
        connection.ask("DeleteTable", {"TableName": name})
