"""Reads of items by plain keys, several at once or by a statement, are answered as on their long paths."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from clocked import Clocked
from key_values import GOOD, VALUES
from new_tables import request as new_table
from prepared_ways import TwoWays
from sizes import size

KINDS = {"strings": ("S", "S"), "numbers": ("N", "N"), "binaries": ("B",), "single": ("S",)}


@pytest.fixture(scope="module")
def service() -> Clocked:
    """Tables of every key type, each with a few items."""
    service = Clocked()
    for name, kinds in KINDS.items():
        names = ("pk", "sk")[: len(kinds)]
        types = dict(zip(names, kinds, strict=True))
        service.call("CreateTable", **new_table(*names, types=types, TableName=name))
    service.settle()
    for name, kinds in KINDS.items():
        for text in GOOD[kinds[0]]:
            item = {"pk": {kinds[0]: text}, "a": {"M": {"b": {"N": "1"}}}, "c": {"S": "x" * 5_000}}
            if len(kinds) > 1:
                item["sk"] = {kinds[1]: GOOD[kinds[1]][0]}
            service.call("PutItem", TableName=name, Item=item)
    return service


SELECTS = (
    'SELECT * FROM "{}" WHERE pk = ?',
    'SELECT * FROM "{}" WHERE pk = ? AND sk = ?',
    'SELECT * FROM "{}" WHERE sk = ? AND pk = ?',
    'SELECT c, a, absent FROM "{}" WHERE pk = ?',
    'SELECT a.b FROM "{}" WHERE pk = ?',
    'SELECT pk.b FROM "{}" WHERE pk = ?',
    'SELECT * FROM "{}" WHERE ? = pk',
    'SELECT * FROM "{}" WHERE pk = ? AND pk = ?',
    'SELECT * FROM "{}" WHERE pk = ? OR pk = ?',
    'SELECT * FROM "{}" WHERE pk = ? AND c = ?',
    'SELECT * FROM "{}" WHERE pk = ? ORDER BY pk',
    'SELECT * FROM "{}" WHERE c = ?',
)


@pytest.mark.parametrize("table", KINDS)
@pytest.mark.parametrize("text", SELECTS)
def test_every_parameter_gets_the_same_answer(service: Clocked, table: str, text: str) -> None:
    ways = TwoWays(service, "ExecuteStatement")
    statement = text.format(table)
    for number, value in enumerate(VALUES):
        parameters = [value, VALUES[(7 * number) % len(VALUES)], value]
        for count in range(1, 4):
            ways.agree({"Statement": statement, "Parameters": parameters[:count]})
    ways.agree({"Statement": statement})


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"ConsistentRead": True, "ReturnConsumedCapacity": "INDEXES"},
        {"ReturnConsumedCapacity": "TOTAL"},
        {"Limit": 1},
        {"Limit": 5, "ReturnConsumedCapacity": "NONE"},
    ],
    ids=str,
)
def test_a_statement_for_one_key_is_prepared_once_it_was_accepted(
    service: Clocked, more: dict[str, Any]
) -> None:
    ways = TwoWays(service, "ExecuteStatement")
    for select in ("*", "c, pk", "absent"):
        for table, parameters in (("single", ["é"]), ("single", ["no"]), ("strings", ["a", "a"])):
            condition = " AND ".join(f"{name} = ?" for name in ("pk", "sk")[: len(parameters)])
            request = {
                "Statement": f'SELECT {select} FROM "{table}" WHERE {condition}',
                "Parameters": [{"S": text} for text in parameters],
                **more,
            }
            assert ways.agree(request)[0] == 200
            assert ways.is_prepared(request)
            assert not ways.is_prepared({**request, "NextToken": "x"})
            assert not ways.is_prepared({**request, "Parameters": [{"N": "1"}] * len(parameters)})
            assert not ways.is_prepared({**request, "Parameters": [*request["Parameters"], {"S": "a"}]})


def test_a_statement_is_prepared_for_whatever_table_has_its_name() -> None:
    service = Clocked()
    ways = TwoWays(service, "ExecuteStatement")
    request = {"Statement": "SELECT * FROM changing WHERE pk = ?", "Parameters": [{"S": "a"}]}
    by_key = {"TableName": "changing", "Key": {"pk": {"S": "a"}}}
    assert ways.agree(request)[0] == 400
    for names in (("pk",), ("pk", "sk"), ("other",)):
        service.call("CreateTable", **new_table(*names, TableName="changing"))
        service.settle()
        if names == ("pk",):
            service.call("PutItem", TableName="changing", Item=by_key["Key"])
        ways.agree(request)
        assert ways.is_prepared(request) == (names == ("pk",))
        service.call("DeleteTable", TableName="changing")
        service.settle()
    assert ways.agree(request)[0] == 400


@pytest.mark.parametrize("table", KINDS)
def test_every_key_of_a_batch_or_transaction_gets_the_same_answer(service: Clocked, table: str) -> None:
    batch, transaction = TwoWays(service, "BatchGetItem"), TwoWays(service, "TransactGetItems")
    kinds = KINDS[table]
    good = [dict(zip(("pk", "sk"), ({kind: GOOD[kind][0]} for kind in kinds), strict=False))]
    for value in VALUES:
        for key in ({"pk": value}, {"pk": value, "sk": value}):
            keys = [*good, key]
            batch.agree({"RequestItems": {table: {"Keys": keys}}, "ReturnConsumedCapacity": "TOTAL"})
            gets = [{"Get": {"TableName": table, "Key": key}} for key in keys]
            transaction.agree({"TransactItems": gets, "ReturnConsumedCapacity": "TOTAL"})


@settings(max_examples=size(60, 300))
@given(data=some.data())
def test_any_batch_gets_the_same_answer(service: Clocked, data: some.DataObject) -> None:
    texts = some.sampled_from([*GOOD["S"], "no", "1", "2", "3"])
    single = texts.map(lambda text: {"pk": {"S": text}})
    double = some.tuples(texts, texts).map(lambda pair: {"pk": {"S": pair[0]}, "sk": {"S": pair[1]}})
    keys = {"single": some.lists(single, min_size=1, max_size=9), "strings": some.lists(double, max_size=9)}
    more = {
        "ConsistentRead": some.booleans(),
        "ProjectionExpression": some.sampled_from(["a", "pk, a.b", "pk.x", "a, a"]),
        "AttributesToGet": some.just(["pk"]),
        "ExpressionAttributeNames": some.just({"#a": "a"}),
    }
    parts = {name: some.fixed_dictionaries({"Keys": keys[name]}, optional=more) for name in keys}
    asked = data.draw(some.fixed_dictionaries({}, optional={**parts, "missing": parts["single"]}))
    TwoWays(service, "BatchGetItem").agree({"RequestItems": asked})
