"""Query's quick way answers as its long way does."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from clocked import Clocked
from hashrange.api import quick_query
from item_tables import index
from new_tables import request as new_table
from quick_ways import TwoWays

Request = dict[str, Any]
TEXTS = ("a", "ab", "ab\0", "ab\0c", "ac", "b", "é", "\U0010ffff")
NUMBERS = ("-10", "-1", "-0.5", "0", "0.5", "1", "10", "1e20")
BINARIES = ("AA==", "AAA=", "AAE=", "/w==", "//8=")
OF_TYPE = {"S": TEXTS, "N": NUMBERS, "B": BINARIES}
# By table and index: the types of its key attributes, hash attributes first.
PLACES: dict[tuple[str, str | None], dict[str, str]] = {
    ("single", None): {"pk": "S"},
    ("texts", None): {"pk": "S", "sk": "S"},
    ("texts", "local"): {"pk": "S", "l": "N"},
    ("texts", "global"): {"g": "S", "n": "N"},
    ("texts", "keys"): {"g": "S", "b": "B"},
    ("texts", "hash"): {"g": "S"},
    ("texts", "several"): {"g": "S", "n": "N", "sk": "S", "l": "N", "b": "B"},
    ("numbers", None): {"pk": "S", "sk": "N"},
    ("binaries", None): {"pk": "B", "sk": "B"},
}
SEVERAL = {
    "IndexName": "several",
    "KeySchema": [
        *({"AttributeName": name, "KeyType": "HASH"} for name in ("g", "n")),
        *({"AttributeName": name, "KeyType": "RANGE"} for name in ("sk", "l", "b")),
    ],
    "Projection": {"ProjectionType": "ALL"},
}
OPERATIONS = ("= {0}", "< {0}", "<= {0}", "> {0}", ">= {0}", "BETWEEN {0} AND {1}", "begins_with")


def hashed(place: tuple[str, str | None]) -> int:
    return 2 if place[1] == "several" else 1


def create(service: Clocked, name: str, *keys: str, types: dict[str, str], **options: Any) -> None:
    service.call("CreateTable", **new_table(*keys, types=types, TableName=name, **options))


@pytest.fixture(scope="module")
def ways() -> TwoWays:
    """Tables and indexes of every kind, filled so that every condition finds some items and not others."""
    service = Clocked()
    create(service, "single", "pk", types={})
    create(service, "numbers", "pk", "sk", types={"sk": "N"})
    create(service, "binaries", "pk", "sk", types={"pk": "B", "sk": "B"})
    create(
        service,
        "texts",
        "pk",
        "sk",
        types={"l": "N", "g": "S", "n": "N", "b": "B"},
        LocalSecondaryIndexes=[index("local", "pk", "l", projection="KEYS_ONLY")],
        GlobalSecondaryIndexes=[
            index("global", "g", "n"),
            index("keys", "g", "b", projection="KEYS_ONLY"),
            index("hash", "g"),
            SEVERAL,
        ],
    )
    service.settle()
    for at, (pk, sk) in enumerate(itertools.product(("a", "ab"), TEXTS)):
        item = {"pk": {"S": pk}, "sk": {"S": sk}, "g": {"S": "a"}, "more": {"S": "x" * at}}
        item |= {"l": {"N": NUMBERS[at % 8]}, "n": {"N": str(at % 2)}, "b": {"B": BINARIES[at % 5]}}
        service.call("PutItem", TableName="texts", Item=item)
        service.call("PutItem", TableName="numbers", Item=item | {"sk": item["l"]})
        service.call("PutItem", TableName="binaries", Item=item | {"pk": {"B": "AA=="}, "sk": item["b"]})
        service.call("PutItem", TableName="single", Item={"pk": {"S": sk}})
    return TwoWays(service, "Query")


def conditions(place: tuple[str, str | None]) -> list[tuple[str, list[str]]]:
    """Every expression the place allows, and the types of its placeholders :0, :1, ..."""
    keys = list(PLACES[place].items())
    found = []
    for given_keys in range(hashed(place), len(keys) + 1):
        sure = given_keys - (given_keys > hashed(place))
        text = " AND ".join(f"{name} = :{at}" for at, (name, _) in enumerate(keys[:sure]))
        kinds = [kind for _, kind in keys[:sure]]
        if sure == given_keys:
            found.append((text, kinds))
            continue
        name, kind = keys[sure]
        for operation in OPERATIONS:
            last = f"{name} {operation}".format(f":{sure}", f":{sure + 1}")
            if operation == "begins_with":
                last = f"begins_with({name}, :{sure})"
            more = [kind] * (2 if "BETWEEN" in operation else 1)
            found.append((f"{text} AND {last}", kinds + more))
    return found


def ask(place: tuple[str, str | None], text: str, values: dict[str, Any], **more: Any) -> Request:
    indexed = {} if place[1] is None else {"IndexName": place[1]}
    return {
        "TableName": place[0],
        **indexed,
        "KeyConditionExpression": text,
        "ExpressionAttributeValues": values,
        **more,
    }


def choices(kinds: list[str]) -> list[dict[str, Any]]:
    """Values of the right types: the first ones all the same, the last two all that there are."""
    fixed = [[{kind: {"S": "a", "N": "1", "B": "AA=="}[kind]}] for kind in kinds[:-2]]
    free = [[{kind: text} for text in OF_TYPE[kind]] for kind in kinds[-2:]]
    return [
        {f":{at}": value for at, value in enumerate(combined)}
        for combined in itertools.product(*fixed, *free)
    ]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_every_condition_gets_the_same_answer(ways: TwoWays, place: tuple[str, str | None]) -> None:
    found = set()
    for text, kinds in conditions(place):
        for values in choices(kinds):
            for more in ({}, {"ScanIndexForward": False}, {"Limit": 1}):
                request = ask(place, text, values, **more)
                outcome = ways.agree(request)
                assert ways.is_quick(request) == (outcome[0] == 200)
                found.add(outcome[2])
    assert len(found) > 3


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_spoilt_values_get_the_same_answer(ways: TwoWays, place: tuple[str, str | None]) -> None:
    for text, kinds in conditions(place):
        good = choices(kinds)[0]
        ways.agree(ask(place, text, good))
        for name, value in itertools.product(good, SPOILT):
            ways.agree(ask(place, text, good | {name: value}))
        ways.agree(ask(place, text, good | {":more": {"S": "a"}}))
        for name in good:
            rest = {other: value for other, value in good.items() if other != name}
            ways.agree(ask(place, text, rest))
            ways.agree(ask(place, text, rest | {":more": good[name]}))


SPOILT: tuple[Any, ...] = (
    *({"S": text} for text in ("", "x" * 1024, "x" * 1025, "x" * 2048, "x" * 2049, "é" * 1025)),
    *({"N": text} for text in ("", "x", "1e200", "1" * 39, "007", "-.5", " 1")),
    *({"B": text} for text in ("", "AAE", "AAF=", "%%%%", "A" * 1368, "A" * 4000)),
    *({kind: content} for kind in "SNB" for content in (None, 1, True, [], {})),
    *({}, None, "a", 1, [], {"S": "a", "N": None}, {"S": "a", "N": "1"}, {"S": "a", "Z": 1}, {"Z": "a"}),
    *({"BOOL": True}, {"NULL": True}, {"SS": ["a"]}, {"L": [{"S": "a"}]}),
)
A = {":p": {"S": "a"}}
BOTH = A | {":s": {"S": "ab"}}
PLAIN: Request = ask(("texts", None), "pk = :p AND sk >= :s", BOTH)
GLOBAL: Request = ask(("texts", "global"), "g = :p", A)
NAMED: Request = ask(("texts", None), "#p = :p", A, ExpressionAttributeNames={"#p": "pk"})
ELSEWHERE: tuple[Request, ...] = (
    {},
    *({name: value for name, value in PLAIN.items() if name != left_out} for left_out in PLAIN),
    *({**PLAIN, "TableName": name} for name in (None, "", "x", "missing", "a b", 1, [], {}, True)),
    {**PLAIN, "TableName": "arn:aws:dynamodb:us-east-1:000000000000:table/texts"},
    *({**PLAIN, "IndexName": name} for name in ("", "missing", "x", 1, [], {}, True, "global")),
    *({**PLAIN, "KeyConditionExpression": text} for text in (None, "", "pk", 1, [], {}, "pk = :p")),
    *({**PLAIN, "ExpressionAttributeValues": values} for values in (None, {}, [], "a", 1, A)),
    *({**PLAIN, "ExpressionAttributeNames": names} for names in ({}, [], "a", 1, {"#p": "pk"}, {"#p": None})),
    *(
        {**NAMED, "ExpressionAttributeNames": names}
        for names in (None, {"#p": ["pk"]}, {"#p": "sk"}, {"#q": "pk"})
    ),
    {**NAMED, "ExpressionAttributeNames": {"#p": "pk", "#q": "sk"}},
    *({**PLAIN, "ScanIndexForward": flag} for flag in (None, "true", "no", 0, "?", [], {})),
    *({**PLAIN, "ConsistentRead": flag} for flag in (None, "true", "no", 0, "?", [], {})),
    *({**PLAIN, "Limit": limit} for limit in (0, -1, 1.5, True, "1", 2**31, 2**64 - 1, [], {})),
    *({**PLAIN, "ReturnConsumedCapacity": mode} for mode in (None, "TOTAL", "INDEXES", "none", 1, [])),
    {**GLOBAL, "ConsistentRead": True},
    *({**PLAIN, "Select": select} for select in ("COUNT", "ALL_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", None)),
    {**PLAIN, "ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"S": "ab"}}},
    {**PLAIN, "FilterExpression": "n = :s"},
    {**PLAIN, "ProjectionExpression": "n"},
    {**PLAIN, "AttributesToGet": ["n"]},
    {**PLAIN, "KeyConditions": {}},
    {**PLAIN, "Unknown": 1},
    ask(("texts", None), "pk = :p AND sk <> :s", BOTH),
    ask(("texts", None), "pk = :p OR sk = :s", BOTH),
    ask(("texts", None), "pk > :p AND sk = :s", BOTH),
    ask(("texts", None), "pk = :p AND g = :s", BOTH),
    ask(("texts", None), "pk = :p AND sk.a = :s", BOTH),
    ask(("texts", None), "pk = :p AND sk BETWEEN :s AND :p", BOTH),
    ask(("texts", "several"), "g = :p", A),
)
AT_ONCE: tuple[Request, ...] = (
    PLAIN,
    GLOBAL,
    NAMED,
    {**PLAIN, "ConsistentRead": True},
    {**GLOBAL, "ConsistentRead": False},
    {**PLAIN, "IndexName": None},
    {**PLAIN, "ExpressionAttributeNames": None},
    {**PLAIN, "Limit": None},
    {**PLAIN, "Limit": 2**31 - 1},
    {**PLAIN, "Limit": 2, "ScanIndexForward": False, "ReturnConsumedCapacity": "NONE"},
    ask(("texts", None), "pk = :p AND sk = :p", A),
    ask(("texts", None), "(:s < sk) AND (:p = pk)", BOTH),
    ask(("texts", None), "pk = :p AND sk = :s", BOTH, ConsistentRead=True),
    ask(("texts", None), "pk = :p AND sk = :s", A | {":s": {"S": "nothing"}}, Limit=2),
)


@pytest.mark.parametrize("request_", ELSEWHERE, ids=repr)
def test_all_else_takes_the_long_way(ways: TwoWays, request_: Request) -> None:
    for plain in (PLAIN, GLOBAL, NAMED):
        ways.agree(plain)
    ways.agree(request_)
    known = request_.get("KeyConditionExpression") == "pk = :p"
    assert known or not ways.is_quick(request_)


@pytest.mark.parametrize("request_", AT_ONCE, ids=repr)
def test_plain_requests_take_the_quick_way(ways: TwoWays, request_: Request) -> None:
    assert ways.agree(request_)[0] == 200
    assert ways.is_quick(request_)


@settings(max_examples=400, deadline=None)
@given(data=some.data())
def test_any_request_gets_the_same_answer(ways: TwoWays, data: some.DataObject) -> None:
    base = data.draw(some.sampled_from([*AT_ONCE, *ELSEWHERE]))
    other = data.draw(some.sampled_from([*AT_ONCE, *ELSEWHERE]))
    taken = data.draw(some.sets(some.sampled_from(sorted(base.keys() | other.keys() | {"Limit"}))))
    ways.agree(base | {name: other[name] for name in taken if name in other})


def test_tables_that_come_change_and_go() -> None:
    service = Clocked()
    ways = TwoWays(service, "Query")
    text = {":p": {"S": "a"}, ":s": {"S": "1"}}
    number = {":p": {"S": "a"}, ":s": {"N": "1"}}
    asked = [ask(("changing", None), "pk = :p AND sk = :s", values) for values in (text, number)]

    def seen() -> list[int]:
        return [ways.agree(each)[0] for each in asked]

    assert seen() == [400, 400]
    create(service, "changing", "pk", "sk", types={})
    assert seen() == [400, 400]
    service.settle()
    assert seen() == [200, 400]
    assert ways.is_quick(asked[0])
    service.call("PutItem", TableName="changing", Item={"pk": {"S": "a"}, "sk": {"S": "1"}})
    assert b'"Count":1' in ways.agree(asked[0])[2]
    service.call("DeleteTable", TableName="changing")
    assert not ways.is_quick(asked[0])
    assert seen() == [400, 400]
    service.settle()
    create(service, "changing", "pk", "sk", types={"sk": "N"})
    service.settle()
    assert not ways.is_quick(asked[0])
    assert seen() == [400, 200]
    assert ways.is_quick(asked[1])
    assert b'"Count":0' in ways.agree(asked[1])[2]


def test_indexes_that_come_and_go() -> None:
    service = Clocked()
    ways = TwoWays(service, "Query")
    create(service, "changing", "pk", types={})
    service.settle()
    service.call("PutItem", TableName="changing", Item={"pk": {"S": "a"}, "g": {"S": "a"}})
    by_table, by_index = ask(("changing", None), "pk = :p", A), ask(("changing", "late"), "g = :p", A)
    assert [ways.agree(each)[0] for each in (by_table, by_index)] == [200, 400]

    added = {"Create": index("late", "g")}
    types = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")]
    service.call(
        "UpdateTable", TableName="changing", AttributeDefinitions=types, GlobalSecondaryIndexUpdates=[added]
    )
    assert not ways.is_quick(by_table)  # another record: judged anew
    assert [ways.agree(each)[0] for each in (by_table, by_index)] == [200, 400]
    assert ways.is_quick(by_table)
    assert not ways.is_quick(by_index)
    service.settle()
    assert b'"Count":1' in ways.agree(by_index)[2]
    assert ways.is_quick(by_index)

    gone = {"Delete": {"IndexName": "late"}}
    service.call("UpdateTable", TableName="changing", GlobalSecondaryIndexUpdates=[gone])
    assert not ways.is_quick(by_index)
    assert ways.agree(by_index)[0] == 400
    service.settle()
    assert [ways.agree(each)[0] for each in (by_table, by_index)] == [200, 400]


def test_what_is_known_is_bounded(ways: TwoWays, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_query, "_KNOWN_MAX", 3)
    monkeypatch.setattr(quick_query, "_known", {})
    for operator in ("=", "<", "<=", ">", ">="):
        request = ask(("texts", None), f"pk = :p AND sk {operator} :s", BOTH)
        ways.agree(request)
        assert ways.is_quick(request)
        assert len(quick_query._known) <= 3
    for request in (
        ask(("texts", None), "pk = :p" + " " * 600, A),
        ask(("texts", None), f"#{'x' * 254} = :p", A, ExpressionAttributeNames={f"#{'x' * 254}": "x" * 300}),
    ):
        ways.agree(request)
        assert not ways.is_quick(request)
