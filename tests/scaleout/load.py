"""Clients that read and write the same few items as fast as they can, and write down what they did and saw."""

import itertools
import random
import threading
import time
from contextlib import closing
from typing import Any

from scaleout.history import Operation, Transaction
from scaleout.servers import Client, Servers, Unanswered, Unsent

REGISTERS = "registers"
LISTS = "lists"
REGISTER_KEYS = [f"r{number}" for number in range(5)]
LIST_KEYS = [f"l{number}" for number in range(6)]
GROUPS = 3
_REPEATS = 40  # of a transaction with a token, until its outcome is known


def create_tables(client: Client) -> None:
    string, number = ({"AttributeType": kind} for kind in "SN")
    key = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    everything = {"Projection": {"ProjectionType": "ALL"}}
    answers = [
        client.post(
            "CreateTable",
            {
                "TableName": REGISTERS,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [
                    {"AttributeName": "pk", **string},
                    {"AttributeName": "sk", **string},
                    {"AttributeName": "group", **string},
                    {"AttributeName": "value", **number},
                ],
                "KeySchema": key,
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "by-group",
                        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
                        **everything,
                    }
                ],
                "LocalSecondaryIndexes": [
                    {
                        "IndexName": "by-value",
                        "KeySchema": [key[0], {"AttributeName": "value", "KeyType": "RANGE"}],
                        **everything,
                    }
                ],
            },
        ),
        client.post(
            "CreateTable",
            {
                "TableName": LISTS,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", **string}],
                "KeySchema": key[:1],
            },
        ),
    ]
    assert [each.status for each in answers] == [200, 200], answers


class Load:
    """Any number of clients, each on a thread of its own, all from one seed."""

    def __init__(self, servers: Servers, *, seed: int, clients: int) -> None:
        self.operations: list[Operation] = []
        self.transactions: list[Transaction] = []
        self.eventual: list[Any] = []  # what eventually consistent reads saw
        self.errors: list[BaseException] = []
        self._servers = servers
        self._numbers = itertools.count(1)
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(random.Random(f"{seed}/{number}"),))
            for number in range(clients)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"
        if self.errors:
            raise self.errors[0]

    def _run(self, chance: random.Random) -> None:
        try:
            with closing(Client(self._servers, chance)) as client:
                worker = Worker(self, client, chance)
                while not self._stopping.is_set():
                    try:
                        worker.step()
                    except Unsent:
                        time.sleep(0.02)
        except BaseException as error:  # noqa: BLE001 - raised again in `stop`
            self.errors.append(error)

    def number(self) -> int:
        """A number that nobody has used."""
        return next(self._numbers)


class Worker:
    """One client's work."""

    def __init__(self, load: Load, client: Client, chance: random.Random) -> None:
        self.load = load
        self.client = client
        self.chance = chance
        self.known: dict[str, Any] = {}

    def step(self) -> None:
        doing = self.chance.choices(
            (
                self.put,
                self.get,
                self.swap,
                self.delete,
                self.get_eventually,
                self.append,
                self.look,
                self.guard,
            ),
            (3, 6, 5, 1, 2, 4, 4, 3),
        )[0]
        doing()

    # Single items.

    def put(self) -> None:
        key, value = self.chance.choice(REGISTER_KEYS), self.load.number()
        self.single("put", key, "PutItem", {"Item": register(key, value)}, wrote=value)

    def delete(self) -> None:
        key = self.chance.choice(REGISTER_KEYS)
        self.single("delete", key, "DeleteItem", {"Key": register_key(key)})

    def swap(self) -> None:
        """Replace a value if it is still the one seen last."""
        key, value = self.chance.choice(REGISTER_KEYS), self.load.number()
        expected = self.known.get(key)
        request: dict[str, Any] = {"Item": register(key, value)}
        if expected is None:
            request["ConditionExpression"] = "attribute_not_exists(pk)"
        else:
            request["ConditionExpression"] = "#v = :v"
            request["ExpressionAttributeNames"] = {"#v": "value"}
            request["ExpressionAttributeValues"] = {":v": {"N": str(expected)}}
        self.single("swap", key, "PutItem", request, wrote=value, expected=expected)

    def get(self) -> None:
        key = self.chance.choice(REGISTER_KEYS)
        self.single("get", key, "GetItem", {"Key": register_key(key), "ConsistentRead": True})

    def get_eventually(self) -> None:
        key = self.chance.choice(REGISTER_KEYS)
        try:
            answer = self.client.post("GetItem", {"TableName": REGISTERS, "Key": register_key(key)})
        except Unanswered:
            return
        assert answer.status == 200, answer
        self.load.eventual.append(value_of(answer.body))

    def single(self, kind: Any, key: str, operation: str, request: dict[str, Any], **fields: Any) -> None:
        sent = time.monotonic()
        try:
            answer = self.client.post(operation, {"TableName": REGISTERS, **request})
        except Unanswered:
            outcome: Any = "unknown"
        else:
            if answer.status == 200:
                outcome = "done"
            elif answer.error == "ConditionalCheckFailedException":
                outcome = "refused"
            elif answer.error == "TransactionConflictException":
                return  # nothing was done and nothing was seen
            else:
                raise AssertionError(answer)
            if kind == "get":
                fields["saw"] = self.known[key] = value_of(answer.body)
            elif outcome == "done":
                self.known[key] = fields.get("wrote")
        self.load.operations.append(Operation(kind, key, sent, time.monotonic(), outcome, **fields))

    # Transactions.

    def append(self) -> None:
        """Put a name on several lists at once."""
        keys = self.chance.sample(LIST_KEYS, self.chance.randint(2, 3))
        self.transact(f"t{self.load.number()}", keys, {})

    def look(self) -> None:
        """See several lists at once."""
        keys = self.chance.sample(LIST_KEYS, self.chance.randint(2, 3))
        sent = time.monotonic()
        saw = self.seen(keys)
        if saw is not None:
            name = f"look{self.load.number()}"
            self.load.transactions.append(Transaction(name, sent, time.monotonic(), "done", (), saw))

    def guard(self) -> None:
        """Put a name on one list if others have not changed."""
        *others, target = self.chance.sample(LIST_KEYS, self.chance.randint(2, 3))
        saw = self.seen(others)
        if saw is not None:
            self.transact(f"g{self.load.number()}", [target], saw)

    def seen(self, keys: list[str]) -> dict[str, tuple[str, ...]] | None:
        gets = [{"Get": {"TableName": LISTS, "Key": {"pk": {"S": key}}}} for key in keys]
        try:
            answer = self.client.post("TransactGetItems", {"TransactItems": gets})
        except Unanswered:
            return None
        if answer.status != 200 and answer.error == "TransactionCanceledException":
            codes = {reason["Code"] for reason in answer.body["CancellationReasons"]}
            assert codes == {"TransactionConflict"}, answer
            return None  # it kept colliding, and nothing was seen
        assert answer.status == 200, answer
        return dict(zip(keys, map(names_of, answer.body["Responses"]), strict=True))

    def transact(self, name: str, keys: list[str], saw: dict[str, tuple[str, ...]]) -> None:
        request: dict[str, Any] = {
            "TransactItems": [append_action(key, name) for key in keys]
            + [check_action(key, len(seen)) for key, seen in saw.items()]
        }
        repeats = 1
        if self.chance.random() < 0.5:
            request["ClientRequestToken"] = name
            repeats = _REPEATS
        sent = time.monotonic()
        outcome = self.outcome(request, repeats)
        self.load.transactions.append(
            Transaction(name, sent, time.monotonic(), outcome, tuple(keys), saw if outcome == "done" else {})
        )

    def outcome(self, request: dict[str, Any], repeats: int) -> Any:
        """Send a transaction, again and again if it has a token, until it is known what became of it."""
        tried = False
        for _ in range(repeats):
            try:
                answer = self.client.post("TransactWriteItems", request)
            except Unanswered:
                tried = True
                time.sleep(0.1)
                continue
            except Unsent:
                if not tried:
                    raise
                time.sleep(0.1)
                continue
            if answer.status == 200:
                return "done"
            assert answer.error == "TransactionCanceledException", answer
            # An attempt from before may still be on its way somewhere.
            return "unknown" if tried else "refused"
        return "unknown"


def register_key(key: str) -> dict[str, Any]:
    return {"pk": {"S": key}, "sk": {"S": "x"}}


def register(key: str, value: int) -> dict[str, Any]:
    return {**register_key(key), "value": {"N": str(value)}, "group": {"S": f"g{value % GROUPS}"}}


def value_of(body: dict[str, Any]) -> int | None:
    return int(body["Item"]["value"]["N"]) if "Item" in body else None


def names_of(response: dict[str, Any]) -> tuple[str, ...]:
    return tuple(each["S"] for each in response["Item"]["names"]["L"]) if "Item" in response else ()


def append_action(key: str, name: str) -> dict[str, Any]:
    return {
        "Update": {
            "TableName": LISTS,
            "Key": {"pk": {"S": key}},
            "UpdateExpression": "SET #n = list_append(if_not_exists(#n, :none), :name)",
            "ExpressionAttributeNames": {"#n": "names"},
            "ExpressionAttributeValues": {":none": {"L": []}, ":name": {"L": [{"S": name}]}},
        }
    }


def check_action(key: str, length: int) -> dict[str, Any]:
    check: dict[str, Any] = {"TableName": LISTS, "Key": {"pk": {"S": key}}}
    if length:
        check["ConditionExpression"] = "size(#n) = :length"
        check["ExpressionAttributeNames"] = {"#n": "names"}
        check["ExpressionAttributeValues"] = {":length": {"N": str(length)}}
    else:
        check["ConditionExpression"] = "attribute_not_exists(pk)"
    return {"ConditionCheck": check}
