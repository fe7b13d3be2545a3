"""A prepared Query is answered as on the long path."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from clocked import Clocked
from hashrange.api.items.prepared import PreparedRequests
from item_tables import index
from new_tables import request as new_table
from prepared_ways import TwoWays
from sizes import size

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
        LocalSecondaryIndexes=[index("local", "pk", "l", projection="INCLUDE", included=("v",))],
        GlobalSecondaryIndexes=[
            index("global", "g", "n"),
            index("keys", "g", "b", projection="KEYS_ONLY"),
            index("hash", "g"),
            SEVERAL,
        ],
    )
    service.settle()
    for at, (pk, sk) in enumerate(itertools.product(("a", "ab"), TEXTS)):
        item = {
            "pk": {"S": pk},
            "sk": {"S": sk},
            "g": {"S": "a"},
            "more": {"S": "x" * at},
            "v": {"S": f"v{at % 3}"},
        }
        item |= {"l": {"N": NUMBERS[at % 8]}, "n": {"N": str(at % 2)}, "b": {"B": BINARIES[at % 5]}}
        service.call("PutItem", TableName="texts", Item=item)
        service.call("PutItem", TableName="numbers", Item=item | {"sk": item["l"]})
        service.call("PutItem", TableName="binaries", Item=item | {"pk": {"B": "AA=="}, "sk": item["b"]})
        service.call("PutItem", TableName="single", Item={"pk": {"S": sk}})
    return TwoWays(service, "Query")


def conditions(place: tuple[str, str | None]) -> list[tuple[str, list[str]]]:
    """Every expression the place allows, and the types of its placeholders :0, :1, ..."""
    keys = list(PLACES[place].items())
    texts = []
    for named in range(hashed(place), len(keys) + 1):
        sure = named - (named > hashed(place))
        text = " AND ".join(f"{name} = :{at}" for at, (name, _) in enumerate(keys[:sure]))
        kinds = [kind for _, kind in keys[:sure]]
        if sure == named:
            texts.append((text, kinds))
            continue
        name, kind = keys[sure]
        for operation in OPERATIONS:
            last = f"{name} {operation}".format(f":{sure}", f":{sure + 1}")
            if operation == "begins_with":
                last = f"begins_with({name}, :{sure})"
            more = [kind] * (2 if "BETWEEN" in operation else 1)
            texts.append((f"{text} AND {last}", kinds + more))
    return texts


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


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_every_condition_gets_the_same_answer(ways: TwoWays, place: tuple[str, str | None]) -> None:
    bodies = set()
    for text, kinds in conditions(place):
        for values in choices(kinds):
            for more in ({}, {"ScanIndexForward": False}, {"Limit": 1}):
                request = ask(place, text, values, **more)
                outcome = ways.agree(request)
                assert ways.is_prepared(request) == (outcome[0] == 200)
                bodies.add(outcome[1])
    assert len(bodies) > 3


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


def last_conditions(place: tuple[str, str | None]) -> list[tuple[str, list[str]]]:
    """The shortest expression, one for a whole key and one for a range of it."""
    texts = conditions(place)
    return [texts[0], *texts[-len(OPERATIONS) : -len(OPERATIONS) + 2]]


# What a filter may name is in every index, but no key of any place.
FILTERS: tuple[str, ...] = (
    "v = :f",
    "v < :f",
    "v BETWEEN :f AND :g",
    "begins_with(v, :f)",
    "size(v) > :f",
    "v IN (:f, :g)",
)
FILTERS += (
    "contains(v, :f)",
    "attribute_type(v, :f)",
    "NOT attribute_exists(v) OR v = :f",
    "#v <> :f AND :g = :f",
)
SHOWN: tuple[Request, ...] = (
    {},
    {"Select": "COUNT"},
    {"Select": "ALL_ATTRIBUTES"},
    {"Select": "ALL_PROJECTED_ATTRIBUTES"},
    {"ProjectionExpression": "v, more"},
    {"ProjectionExpression": "v", "Select": "SPECIFIC_ATTRIBUTES"},
    {"ProjectionExpression": "v", "Select": "COUNT"},
    {"ReturnConsumedCapacity": "INDEXES", "Limit": 2},
)


def filtered(request: Request, text: str, values: dict[str, Any]) -> Request:
    named = {"ExpressionAttributeNames": {"#v": "v"}} if "#v" in text else {}
    used = {name: value for name, value in values.items() if name in text}
    sent = request["ExpressionAttributeValues"] | used
    return {**request, "FilterExpression": text, "ExpressionAttributeValues": sent, **named}


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_every_filter_and_projection_gets_the_same_answer(
    ways: TwoWays, place: tuple[str, str | None]
) -> None:
    bodies = set()
    for text, kinds in last_conditions(place):
        for shown in SHOWN:
            plain = ask(place, text, choices(kinds)[-1], **shown)
            filters = [
                filtered(plain, words, {":f": value, ":g": {"S": "v2"}})
                for words in FILTERS
                for value in ({"S": "v1"}, {"S": "S"}, {"N": "1"})
            ]
            for request in (plain, *filters):
                outcome = ways.agree(request)
                assert ways.is_prepared(request) == (outcome[0] == 200)
                bodies.add(outcome[1])
    assert len(bodies) > 3


@pytest.mark.parametrize("place", [("texts", None), ("texts", "local"), ("texts", "global")], ids=str)
@pytest.mark.parametrize("words", FILTERS)
def test_spoilt_filter_values_get_the_same_answer(
    ways: TwoWays, place: tuple[str, str | None], words: str
) -> None:
    text, kinds = conditions(place)[-1]
    plain = ask(place, text, choices(kinds)[-1])
    good = {":f": {"S": "v1"}, ":g": {"S": "v2"}}
    for select in ({}, {"Select": "COUNT"}):
        ways.agree(filtered(plain, words, good) | select)
        for name, value in itertools.product(good, SPOILT):
            if name in words:
                ways.agree(filtered(plain, words, good | {name: value}) | select)
    for names in (None, {}, {"#v": "pk"}, {"#v": "v", "#w": "v"}, {"#v": 1}):
        ways.agree({**filtered(plain, words, good), "ExpressionAttributeNames": names})


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
    *({**PLAIN, "ScanIndexForward": flag} for flag in (0, "?", [], {})),
    *({**PLAIN, "ConsistentRead": flag} for flag in (0, "?", [], {})),
    *({**PLAIN, "Limit": limit} for limit in (0, -1, True, "1", [], {})),
    *({**PLAIN, "ReturnConsumedCapacity": mode} for mode in ("none", 1, [])),
    {**GLOBAL, "ConsistentRead": True},
    *(
        {**PLAIN, "Select": select}
        for select in ("ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "count", 1)
    ),
    {**PLAIN, "ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"S": "ab"}}},
    *({**PLAIN, "FilterExpression": text} for text in ("pk = :s", "v = :x", "v", "", "v.#x = :s", 1, [])),
    *({**PLAIN, "ProjectionExpression": text} for text in ("v v", "v, v", "", "#x", 1, [])),
    {**PLAIN, "AttributesToGet": ["n"]},
    {**PLAIN, "QueryFilter": {"v": {"ComparisonOperator": "NULL"}}},
    {**PLAIN, "ConditionalOperator": "AND"},
    {**PLAIN, "KeyConditions": {}},
    ask(("texts", None), "pk = :p AND sk <> :s", BOTH),
    ask(("texts", None), "pk = :p OR sk = :s", BOTH),
    ask(("texts", None), "pk > :p AND sk = :s", BOTH),
    ask(("texts", None), "pk = :p AND g = :s", BOTH),
    ask(("texts", None), "pk = :p AND sk.a = :s", BOTH),
    ask(("texts", None), "pk = :p AND sk BETWEEN :s AND :p", BOTH),
    ask(("texts", "several"), "g = :p", A),
)
PREPARED: tuple[Request, ...] = (
    PLAIN,
    GLOBAL,
    NAMED,
    {**PLAIN, "ConsistentRead": True},
    {**GLOBAL, "ConsistentRead": False},
    {**PLAIN, "IndexName": None},
    {**PLAIN, "ExpressionAttributeNames": None},
    {**PLAIN, "Limit": None},
    *({**PLAIN, "Limit": limit} for limit in (2**31 - 1, 2**31, 2**64 - 1)),
    {**PLAIN, "Limit": 2, "ScanIndexForward": False, "ReturnConsumedCapacity": "NONE"},
    *({**PLAIN, "ScanIndexForward": flag, "ConsistentRead": flag} for flag in (None, "true", "no")),
    *({**PLAIN, "ReturnConsumedCapacity": mode} for mode in (None, "TOTAL", "INDEXES")),
    *({**PLAIN, "Select": select} for select in (None, "COUNT", "ALL_ATTRIBUTES")),
    {**PLAIN, "Limit": 1.5},
    {**PLAIN, "Unknown": 1},
    {**PLAIN, "FilterExpression": "v = :s"},
    {**PLAIN, "FilterExpression": "NOT v = :s", "ProjectionExpression": "v, more", "Limit": 3},
    {**PLAIN, "ProjectionExpression": "v", "Select": "SPECIFIC_ATTRIBUTES"},
    {**PLAIN, "FilterExpression": "v > :p", "Select": "COUNT", "ReturnConsumedCapacity": "INDEXES"},
    {
        **ask(("texts", "local"), "pk = :p", A),
        "Select": "ALL_ATTRIBUTES",
        "ReturnConsumedCapacity": "INDEXES",
    },
    {**ask(("texts", "local"), "pk = :p", A), "ProjectionExpression": "more", "Limit": 3},
    ask(("texts", None), "pk = :p AND sk = :p", A),
    ask(("texts", None), "(:s < sk) AND (:p = pk)", BOTH),
    ask(("texts", None), "pk = :p AND sk = :s", BOTH, ConsistentRead=True),
    ask(("texts", None), "pk = :p AND sk = :s", A | {":s": {"S": "nothing"}}, Limit=2),
)


@pytest.mark.parametrize("request_", ELSEWHERE, ids=repr)
def test_all_else_takes_the_long_path(ways: TwoWays, request_: Request) -> None:
    for plain in (PLAIN, GLOBAL, NAMED):
        ways.agree(plain)
    ways.agree(request_)
    known = request_.get("KeyConditionExpression") == "pk = :p"
    assert known or not ways.is_prepared(request_)


@pytest.mark.parametrize("request_", PREPARED, ids=repr)
def test_requests_like_one_before_take_the_short_path(ways: TwoWays, request_: Request) -> None:
    assert ways.agree(request_)[0] == 200
    assert ways.is_prepared(request_)


@pytest.mark.slow
@settings(max_examples=size(150, 400), deadline=None)
@given(data=some.data())
def test_any_request_gets_the_same_answer(ways: TwoWays, data: some.DataObject) -> None:
    base = data.draw(some.sampled_from([*PREPARED, *ELSEWHERE]))
    other = data.draw(some.sampled_from([*PREPARED, *ELSEWHERE]))
    taken = data.draw(some.sets(some.sampled_from(sorted(base.keys() | other.keys() | {"Limit"}))))
    ways.agree(base | {name: other[name] for name in taken if name in other})


def test_tables_that_come_change_and_go() -> None:
    service = Clocked()
    ways = TwoWays(service, "Query")
    text = {":p": {"S": "a"}, ":s": {"S": "1"}}
    number = {":p": {"S": "a"}, ":s": {"N": "1"}}
    by_text, by_number = (ask(("changing", None), "pk = :p AND sk = :s", values) for values in (text, number))

    def statuses() -> list[int]:
        return [ways.agree(request)[0] for request in (by_text, by_number)]

    assert statuses() == [400, 400]
    create(service, "changing", "pk", "sk", types={})
    assert statuses() == [400, 400]
    service.settle()
    assert statuses() == [200, 400]
    assert ways.is_prepared(by_text)
    service.call("PutItem", TableName="changing", Item={"pk": {"S": "a"}, "sk": {"S": "1"}})
    assert b'"Count":1' in ways.agree(by_text)[1]
    service.call("DeleteTable", TableName="changing")
    assert not ways.is_prepared(by_text)
    assert statuses() == [400, 400]
    service.settle()
    create(service, "changing", "pk", "sk", types={"sk": "N"})
    service.settle()
    assert not ways.is_prepared(by_text)
    assert statuses() == [400, 200]
    assert ways.is_prepared(by_number)
    assert b'"Count":0' in ways.agree(by_number)[1]


def test_indexes_that_come_and_go() -> None:
    service = Clocked()
    ways = TwoWays(service, "Query")
    create(service, "changing", "pk", types={})
    service.settle()
    service.call("PutItem", TableName="changing", Item={"pk": {"S": "a"}, "g": {"S": "a"}})
    by_table, by_index = ask(("changing", None), "pk = :p", A), ask(("changing", "late"), "g = :p", A)
    assert [ways.agree(request)[0] for request in (by_table, by_index)] == [200, 400]

    added = {"Create": index("late", "g")}
    types = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")]
    service.call(
        "UpdateTable", TableName="changing", AttributeDefinitions=types, GlobalSecondaryIndexUpdates=[added]
    )
    assert not ways.is_prepared(by_table)  # another record: judged anew
    assert [ways.agree(request)[0] for request in (by_table, by_index)] == [200, 400]
    assert ways.is_prepared(by_table)
    assert not ways.is_prepared(by_index)
    service.settle()
    assert b'"Count":1' in ways.agree(by_index)[1]
    assert ways.is_prepared(by_index)

    gone = {"Delete": {"IndexName": "late"}}
    service.call("UpdateTable", TableName="changing", GlobalSecondaryIndexUpdates=[gone])
    assert not ways.is_prepared(by_index)
    assert ways.agree(by_index)[0] == 400
    service.settle()
    assert [ways.agree(request)[0] for request in (by_table, by_index)] == [200, 400]


def test_what_is_prepared_is_bounded(ways: TwoWays, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = PreparedRequests(entries_max=3)
    monkeypatch.setattr(ways.service.context, "prepared", prepared)
    operators = ("=", "<", "<=", ">", ">=")
    requests = [ask(("texts", None), f"pk = :p AND sk {operator} :s", BOTH) for operator in operators]
    for request in requests:
        ways.agree(request)
        assert ways.is_prepared(request)
        assert len(prepared.queries) <= 3
    assert [ways.is_prepared(request) for request in requests] == [False, False, True, True, True]


def test_long_texts_and_names_are_not_kept(ways: TwoWays, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways.service.context, "prepared", PreparedRequests())
    for chars, is_kept in ((1024, True), (1025, False)):
        padded = ask(("texts", None), "pk = :p".ljust(chars - len(":p")), A)
        filter_chars = chars - len("pk = :p") - len(":p")
        projected = chars - len("pk = :p") - len(":p") - 2 * len("#long")
        for request in (
            padded,
            ask(("texts", None), "pk = :p", A, FilterExpression="v = :p".ljust(filter_chars)),
            ask(
                ("texts", None),
                "pk = :p",
                A,
                ProjectionExpression="#long",
                ExpressionAttributeNames={"#long": "x" * projected},
            ),
        ):
            assert ways.agree(request)[0] == 200
            assert ways.is_prepared(request) == is_kept
