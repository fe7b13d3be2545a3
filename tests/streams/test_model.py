"""Random writes of every kind: the stream has exactly the changes that a model of the table has seen."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core.change_record import same_items
from stream_consumer import Consumer
from stream_tables import Streamed

Item = dict[str, Any]
Change = tuple[str, Item | None, Item | None]  # event, image before, image after

KEYS = [f"k{number}" for number in range(5)]
values = st.sampled_from(
    [
        {"N": "1"},
        {"N": "1.0"},
        {"N": "2"},
        {"S": ""},
        {"SS": ["a", "b"]},
        {"SS": ["b", "a"]},
        {"M": {"x": {"N": "1"}, "y": {"NULL": True}}},
        {"M": {"y": {"NULL": True}, "x": {"N": "1"}}},
        {"L": [{"N": "1"}, {"BOOL": False}]},
    ]
)
attributes = st.dictionaries(st.sampled_from(["v", "w"]), values, max_size=2)
keys = st.sampled_from(KEYS)
puts = st.tuples(st.just("put"), keys, attributes)
deletes = st.tuples(st.just("delete"), keys, st.none())
updates = st.tuples(st.sampled_from(["set", "remove"]), keys, values)
changes = st.one_of(puts, deletes, updates)
Act = tuple[str, str, Any]
steps: Any = st.one_of(
    st.tuples(st.just("one"), st.lists(changes, min_size=1, max_size=1)),
    st.tuples(st.just("statement"), st.lists(updates, min_size=1, max_size=1)),
    st.tuples(st.just("batch"), st.lists(st.one_of(puts, deletes), min_size=1, max_size=4)),
    st.tuples(st.just("transaction"), st.lists(changes, min_size=1, max_size=4)),
    st.tuples(st.sampled_from(["failed", "roll", "split", "read", "restart"]), st.just([])),
)


def canonical(value: dict[str, Any]) -> dict[str, Any]:
    """A value as it is stored."""
    if "SS" in value:
        return {"SS": sorted(value["SS"])}
    return {"N": "1"} if value == {"N": "1.0"} else value


class Model:
    """Items by key, and what happened to each."""

    def __init__(self) -> None:
        self.items: dict[str, Item] = {}
        self.changes: dict[str, list[Change]] = {key: [] for key in KEYS}

    def apply(self, act: Act) -> None:
        kind, key, content = act
        before = self.items.get(key)
        after: Item | None = {"pk": {"S": key}, **(before or {})}
        if kind == "put":
            after = {"pk": {"S": key}, **{name: canonical(value) for name, value in content.items()}}
        elif kind == "delete":
            after = None
        elif kind == "set":
            after = {**(after or {}), "v": canonical(content)}
        elif before is None:
            after = None
        else:
            after = {name: value for name, value in before.items() if name != "v"}
        if after is None:
            self.items.pop(key, None)
        else:
            self.items[key] = after
        unchanged = before is not None and after is not None and same_items(before, after)
        if unchanged or (before is None and after is None):
            return
        event = "INSERT" if before is None else "REMOVE" if after is None else "MODIFY"
        self.changes[key].append((event, before, after))


def action(act: Act) -> dict[str, Any]:
    """The element of a transaction."""
    kind, key, content = act
    where = {"TableName": "tab", "Key": {"pk": {"S": key}}}
    if kind == "put":
        return {"Put": {"TableName": "tab", "Item": {"pk": {"S": key}, **content}}}
    if kind == "delete":
        return {"Delete": where}
    if kind == "set":
        values = {"ExpressionAttributeValues": {":v": content}}
        return {"Update": {**where, "UpdateExpression": "SET v = :v", **values}}
    return {"Update": {**where, "UpdateExpression": "REMOVE v"}}


def distinct(acts: list[Act]) -> list[Act]:
    """No request may name an item twice."""
    return list({act[1]: act for act in acts}.values())


class Run:
    """A table, its model and a consumer of its stream."""

    def __init__(self) -> None:
        self.table = Streamed()
        self.model = Model()
        self.units = 4000
        self.consumer = Consumer(self.table.call, self.table.arn, limit=2)
        self.steps: dict[str, Callable[[list[Act]], None]] = {
            "one": self.one,
            "statement": self.statement,
            "batch": self.batch,
            "transaction": self.transaction,
            "failed": self.failed,
            "roll": self.roll,
            "split": self.split,
            "read": lambda _: self.read(),
            "restart": lambda _: self.consumer.restart(),
        }

    def one(self, acts: list[Act]) -> None:
        ((name, request),) = action(acts[0]).items()
        self.table.call(f"{name}Item", **request)
        self.model.apply(acts[0])

    def statement(self, acts: list[Act]) -> None:
        kind, key, content = acts[0]
        if key not in self.model.items:
            return  # a statement updates nothing that there is not
        change, parameters = ("SET v=?", [content]) if kind == "set" else ("REMOVE v", [])
        text = f"UPDATE tab {change} WHERE pk='{key}'"
        request = {"Statement": text, **({"Parameters": parameters} if parameters else {})}
        self.table.call("ExecuteStatement", **request)
        self.model.apply(acts[0])

    def batch(self, acts: list[Act]) -> None:
        requests = []
        for act in distinct(acts):
            ((name, request),) = action(act).items()
            requests.append(
                {f"{name}Request": {part: request[part] for part in request if part != "TableName"}}
            )
            self.model.apply(act)
        self.table.call("BatchWriteItem", RequestItems={"tab": requests})

    def transaction(self, acts: list[Act]) -> None:
        acts = distinct(acts)
        self.table.call("TransactWriteItems", TransactItems=[action(act) for act in acts])
        for act in acts:
            self.model.apply(act)

    def failed(self, _: list[Act]) -> None:
        puts = [
            {"Put": {"TableName": "tab", "Item": {"pk": {"S": key}, "v": {"N": "99"}}}} for key in KEYS[:2]
        ]
        check = {"TableName": "tab", "Key": {"pk": {"S": KEYS[2]}}, "ConditionExpression": "nowhere = pk"}
        self.table.service.refused("TransactWriteItems", TransactItems=[*puts, {"ConditionCheck": check}])

    def roll(self, _: list[Act]) -> None:
        self.table.clock.advance(4 * 3600)
        self.consumer.restart()  # iterators are good for a quarter of an hour
        self.table.service.run_jobs()
        self.read()  # records are gone after a day

    def split(self, _: list[Act]) -> None:
        self.units += 1000
        warm = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": self.units}
        self.table.call("UpdateTable", TableName="tab", WarmThroughput=warm)
        self.table.service.settle()

    def read(self) -> None:
        self.consumer.catch_up()

    def check(self) -> None:
        self.consumer.restart()
        self.read()
        self.consumer.check_order()
        seen: dict[str, list[Change]] = {key: [] for key in KEYS}
        for record in self.consumer.changes():
            images = record["dynamodb"]
            change = (record["eventName"], images.get("OldImage"), images.get("NewImage"))
            seen[images["Keys"]["pk"]["S"]].append(change)
        assert seen == self.model.changes


@pytest.mark.slow
@given(st.lists(steps, max_size=25))
def test_the_stream_has_what_the_model_has_seen(script: list[tuple[str, list[Act]]]) -> None:
    run = Run()
    for name, acts in script:
        run.steps[name](acts)
    run.check()
