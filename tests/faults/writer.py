"""A client that writes without pause and remembers what it was promised, until the server is gone."""

import http.client
import threading
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

from faults.line import Line, Refused
from faults.tables import FACTS, NOTES, Item, Key, key_of, wire_key

KEYS_PER_WRITER = 24
COUNTER: Key = (NOTES, "counter", "")
LEDGER: Key = (NOTES, "ledger", "")
_TOKENS_KEPT = 5
_BATCH = 25
# Another writer's transaction may hold the ledger; then nothing was written.
_IN_THE_WAY = frozenset({"TransactionCanceledException", "TransactionConflictException"})


@dataclass
class Flight:
    """A request that was sent: what each of its keys will hold if it is carried out."""

    operation: str
    request: dict[str, Any]
    writes: dict[Key, Item | None]


@dataclass
class Writer:
    """Owns its keys: nobody else writes them, so what they may hold is known exactly."""

    name: str
    random: Random
    state: dict[Key, Item | None] = field(default_factory=dict)
    pending: Flight | None = None
    version: int = 0
    adds: int = 0  # acknowledged additions to the shared counter
    transactions: int = 0  # the same, to the shared ledger
    tokens: list[dict[str, Any]] = field(default_factory=list)  # some acknowledged transactions

    def run(self, port: int, stop: threading.Event) -> None:
        """Write until told to stop or cut off; the request that was under way stays in `pending`."""
        try:
            with Line(port) as line:
                while not stop.is_set():
                    self.step(line)
        except (OSError, http.client.HTTPException):
            return

    def fill(self, line: Line, count: int) -> None:
        """Put many items, in batches."""
        for start in range(0, count, _BATCH):
            keys: list[Key] = [(FACTS, f"{self.name}-{n % 7}", str(n)) for n in range(start, start + _BATCH)]
            writes: dict[Key, Item | None] = {key: self._item(key) for key in keys}
            requests = [{"PutRequest": {"Item": item}} for item in writes.values()]
            line.call("BatchWriteItem", {"RequestItems": {FACTS: requests}})
            self.state.update(writes)

    def step(self, line: Line) -> None:
        """Send one request and take note of its answer."""
        make = self.random.choice((self._put, self._put, self._update, self._delete, self._add))
        rare = self.random.random()
        if rare < 0.15:
            make = self._transaction
        elif rare < 0.3:
            make = self._batch
        self.pending = flight = make()
        try:
            line.call(flight.operation, flight.request)
        except Refused as error:
            if error.code not in _IN_THE_WAY:
                raise
        else:
            self.settle(carried_out=True)
        self.pending = None

    def settle(self, *, carried_out: bool) -> None:
        """Take the pending request as done, or as never done."""
        flight, self.pending = self.pending, None
        if flight is None or not carried_out:
            return
        self.state.update(flight.writes)
        if flight.operation == "UpdateItem" and not flight.writes:
            self.adds += 1
        if flight.operation == "TransactWriteItems":
            self.transactions += 1
            self.tokens = [*self.tokens[-_TOKENS_KEPT + 1 :], flight.request]

    def _key(self) -> Key:
        number = self.random.randrange(KEYS_PER_WRITER)
        if self.random.random() < 0.3:
            return NOTES, f"{self.name}-{number}", ""
        return FACTS, self.name, str(number)

    def _item(self, key: Key) -> Item:
        self.version += 1
        random = self.random
        item = {
            **wire_key(key),
            "version": {"N": str(self.version)},
            "text": {"S": "x" * random.randrange(300)},
        }
        if random.random() < 0.7:
            item["group"] = {"S": f"g{random.randrange(5)}"}
        if random.random() < 0.7:
            item["rank"] = {"N": str(random.randrange(-50, 50))}
        if random.random() < 0.5:
            item["late"] = {"S": f"l{random.randrange(50)}"}  # key of an index that comes later
        if random.random() < 0.02:
            item["text"] = {"S": "x" * 60_000}
        return item

    def _put(self) -> Flight:
        key = self._key()
        item = self._item(key)
        return Flight("PutItem", {"TableName": key[0], "Item": item}, {key: item})

    def _update(self) -> Flight:
        key = self._key()
        fresh = self._item(key)
        item = {**wire_key(key), **(self.state.get(key) or {}), "version": fresh["version"]}
        expression = "SET version = :v REMOVE #g"
        values = {":v": fresh["version"]}
        item.pop("group", None)
        if "rank" in fresh:
            item["rank"] = values[":r"] = fresh["rank"]
            expression = "SET version = :v, #r = :r REMOVE #g"
        request = {
            "TableName": key[0],
            "Key": wire_key(key),
            "UpdateExpression": expression,
            "ExpressionAttributeNames": {"#g": "group", **({"#r": "rank"} if ":r" in values else {})},
            "ExpressionAttributeValues": values,
        }
        return Flight("UpdateItem", request, {key: item})

    def _delete(self) -> Flight:
        key = self._key()
        return Flight("DeleteItem", {"TableName": key[0], "Key": wire_key(key)}, {key: None})

    def _add(self) -> Flight:
        return Flight("UpdateItem", _one_more(COUNTER), {})

    def _batch(self) -> Flight:
        writes: dict[Key, Item | None] = {}
        requests: dict[str, list[dict[str, Any]]] = {}
        for key in {self._key() for _ in range(self.random.randrange(1, 12))}:
            if self.random.random() < 0.3:
                writes[key] = None
                element: dict[str, Any] = {"DeleteRequest": {"Key": wire_key(key)}}
            else:
                writes[key] = self._item(key)
                element = {"PutRequest": {"Item": writes[key]}}
            requests.setdefault(key[0], []).append(element)
        return Flight("BatchWriteItem", {"RequestItems": requests}, writes)

    def _transaction(self) -> Flight:
        writes: dict[Key, Item | None] = {}
        actions: list[dict[str, Any]] = [{"Update": _one_more(LEDGER)}]
        for key in {self._key() for _ in range(self.random.randrange(2, 9))}:
            # At least one new version shows afterwards whether the transaction was carried out.
            if writes and self.random.random() < 0.3:
                writes[key] = None
                actions.append({"Delete": {"TableName": key[0], "Key": wire_key(key)}})
            else:
                item = writes[key] = self._item(key)
                actions.append({"Put": {"TableName": key[0], "Item": item}})
        token = str(UUID(int=self.random.getrandbits(128)))
        return Flight("TransactWriteItems", {"TransactItems": actions, "ClientRequestToken": token}, writes)


def _one_more(key: Key) -> dict[str, Any]:
    return {
        "TableName": key[0],
        "Key": wire_key(key),
        "UpdateExpression": "ADD hits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }


def settle_after_crash(writers: list[Writer], items: list[tuple[str, Item]]) -> None:
    """Check the items against what was promised, and find out which pending requests were carried out."""
    stored = {key_of(table, item): item for table, item in items}
    counted = int(stored.pop(COUNTER, {}).get("hits", {}).get("N", "0"))
    ledger = int(stored.pop(LEDGER, {}).get("hits", {}).get("N", "0"))
    doubtful = 0
    for writer in writers:
        flight = writer.pending
        if flight is not None and flight.operation == "UpdateItem" and not flight.writes:
            doubtful += 1
        _settle_writer(writer, stored)
    assert not stored, f"items that nobody wrote: {list(stored)[:3]}"
    acknowledged = sum(writer.adds for writer in writers)
    assert acknowledged <= counted <= acknowledged + doubtful
    writers[0].adds += counted - acknowledged
    assert ledger == sum(writer.transactions for writer in writers)


def _settle_writer(writer: Writer, stored: dict[Key, Item]) -> None:
    flight = writer.pending
    maybe = flight.writes if flight is not None else {}
    outcomes: set[bool] = set()
    for key in writer.state.keys() | maybe.keys():
        found = stored.pop(key, None)
        before = writer.state.get(key)
        if key in maybe and found == maybe[key] != before:
            outcomes.add(True)
        elif found == before:
            if key in maybe and before != maybe[key]:
                outcomes.add(False)
        else:
            raise AssertionError(f"{key} holds {found}, promised {before}, asked for {maybe.get(key)}")
        writer.state[key] = found
    if flight is not None and flight.operation != "BatchWriteItem":
        assert len(outcomes) <= 1, f"half of {flight.operation} is there: {flight.writes.keys()}"
    writer.settle(carried_out=outcomes == {True})
