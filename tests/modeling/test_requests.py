"""Requests made from a model: what they say, and that a server answers them as the model foresees."""

from dataclasses import replace
from typing import Any

import botocore.validate
import pytest

from hashrange.modeling import read_requests, table_requests, write_requests
from hashrange.modeling.conditions import parse_condition
from hashrange.modeling.demand import read_demand, write_demand
from hashrange.modeling.model import (
    Assignment,
    Attribute,
    Model,
    Now,
    Parameter,
    ReadPattern,
    Scaling,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.planning import plan_read
from hashrange.modeling.requests import ApiRequest, TransactWriteItems
from hashrange.modeling.wire_values import MissingParameter, wire_value
from item_tables import unique
from service_model import dynamodb
from small_models import entity, index, model, read, renamed, table

ORDER = entity(
    "Order",
    {
        "PK": "USER#{user_id}",
        "SK": "ORDER#{placed_at}#{order_id}",
        "GSI1PK": "OPEN#{shard(order_id, 3)}",
        "GSI1SK": "{placed_at}",
    },
    only_if='status = "OPEN"',
    count=4,
    user_id="uuid",
    order_id="ulid",
    placed_at="timestamp",
    status="OPEN|PAID",
    total="integer",
    events=Attribute("events", "L", size=10),
)
SHOP = model(
    replace(table(index("GSI1", "GSI1PK", "GSI1SK")), ttl_attribute="gone_at", point_in_time_recovery=True),
    ORDER,
)
ITEMS = [
    {
        "user_id": "ann",
        "order_id": f"o{number}",
        "placed_at": f"2026-01-0{number}T00:00:00Z",
        "status": "OPEN" if number % 2 else "PAID",
        "total": number,
        "events": ["made"],
    }
    for number in range(1, 7)
]


def valid(request: ApiRequest) -> ApiRequest:
    """The request, if botocore finds nothing wrong with it."""
    shape = dynamodb().operation_model(request.operation).input_shape
    report = botocore.validate.ParamValidator().validate(request.members(), shape)
    assert not report.has_errors(), report.generate_report()
    return request


def write(*steps: WriteStep, **members: Any) -> WritePattern:
    return WritePattern("W1", steps, **members)


def sent(client: Any, request: ApiRequest) -> Any:
    """Send a request as it is: boto3's client has binary values decoded, of which there are none here."""
    name = "".join(f"_{char.lower()}" if char.isupper() else char for char in request.operation).lstrip("_")
    return getattr(client, name)(**valid(request).members(), ReturnConsumedCapacity="TOTAL")


def created(client: Any, shop: Model) -> Model:
    shop = renamed(shop, unique("planned"))
    (shop_table,) = shop.tables.values()
    client.create_table(**valid(table_requests.create_table(shop_table, shop)).members())
    return shop


def asked(client: Any, shop: Model, pattern: ReadPattern, **parameters: object) -> list[str]:
    """The orders of an answer, merged from all shards."""
    plan = plan_read(shop, pattern)
    assert plan.problems == ()
    answers = [sent(client, request) for request in read_requests.requests_for(plan, parameters, shop)]
    items = [item for answer in answers for item in answer.get("Items", [answer.get("Item")])]
    assert read_demand(shop, plan).rcu == sum(
        answer["ConsumedCapacity"]["CapacityUnits"] for answer in answers
    )
    return sorted(item["order_id"]["S"] for item in items)


@pytest.mark.slow
def test_a_server_answers_what_the_model_says(client: Any) -> None:
    shop = created(client, SHOP)
    put = write(WriteStep("put", "Order", condition=parse_condition("not exists")))
    for item in ITEMS:
        (request,) = write_requests.requests_for(put, [item], {}, shop)
        units = sent(client, request)["ConsumedCapacity"]["CapacityUnits"]
        assert units == 1 + (item["status"] == "OPEN")
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        sent(client, request)
    since = read("Order", where="user_id = ?user and placed_at > ?since")
    assert asked(client, shop, since, user="ann", since="2026-01-04T00:00:00Z") == ["o5", "o6"]
    one = read("Order", where="user_id = ?user and placed_at = ?at and order_id = ?id", consistent=True)
    assert asked(client, shop, one, user="ann", at="2026-01-02T00:00:00Z", id="o2") == ["o2"]
    paid = read("Order", where="user_id = ?user", filter='status = "PAID" and total >= ?least')
    assert asked(client, shop, paid, user="ann", least=3) == ["o4", "o6"]
    opened = read("Order", where='status = "OPEN"', order="placed_at")
    assert asked(client, shop, opened) == ["o1", "o3", "o5"]
    pay = WriteStep(
        "update",
        "Order",
        condition=parse_condition('status = "OPEN" and total < ?most'),
        assignments=(Assignment("set", "status", "PAID"), Assignment("append", "events", Parameter("event"))),
    )
    change = write(pay, transaction=True, idempotency_token=True)
    (request,) = write_requests.requests_for(
        change, ITEMS[:1], {"event": "paid", "most": 9}, shop, token="t" * 36
    )
    sent(client, request)
    assert asked(client, shop, opened) == ["o3", "o5"]


def test_a_table_has_what_create_table_needs() -> None:
    (shop_table,) = SHOP.tables.values()
    requests = [valid(request) for request in table_requests.requests_for(shop_table, SHOP)]
    assert [request.operation for request in requests] == [
        "CreateTable",
        "UpdateTimeToLive",
        "UpdateContinuousBackups",
    ]
    members = requests[0].members()
    assert members["KeySchema"] == [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ]
    names = [definition["AttributeName"] for definition in members["AttributeDefinitions"]]
    assert names == ["GSI1PK", "GSI1SK", "PK", "SK"]
    assert "ProvisionedThroughput" not in members


def test_provisioned_tables_begin_at_their_minimum() -> None:
    shop_table = replace(
        SHOP.tables["shop"], billing="PROVISIONED", read_scaling=Scaling(5, 50), write_scaling=Scaling(2, 20)
    )
    request = valid(table_requests.create_table(shop_table, SHOP))
    assert isinstance(request, table_requests.CreateTable)
    for units in (request.provisioned_throughput, request.global_secondary_indexes[0].provisioned_throughput):
        assert units == table_requests.ProvisionedThroughput(read_capacity_units=5, write_capacity_units=2)


def test_every_value_has_a_placeholder_of_its_own() -> None:
    pattern = read(
        "Order",
        where="user_id = ?a and placed_at >= ?b",
        filter='status <> "PAID" and total in (1, 2)',
        project=("total", "status"),
    )
    (request,) = read_requests.requests_for(plan_read(SHOP, pattern), {"a": "x", "b": "y"}, SHOP)
    members = valid(request).members()
    assert members["FilterExpression"] == "#n2 <> :v3 AND #n3 IN (:v4, :v5)"
    assert members["ProjectionExpression"] == "#n3, #n2"
    assert members["ExpressionAttributeNames"] == {"#n0": "PK", "#n1": "SK", "#n2": "status", "#n3": "total"}
    assert len(members["ExpressionAttributeValues"]) == 6


def test_a_missing_parameter_is_named() -> None:
    plan = plan_read(SHOP, read("Order", where="user_id = ?user"))
    with pytest.raises(MissingParameter, match=r"\?user"):
        read_requests.requests_for(plan, {}, SHOP)


def test_a_batch_asks_for_each_key_once() -> None:
    pattern = read("Order", where="user_id = ?u and placed_at = ?t and order_id = ?o", batch=3)
    plan = plan_read(SHOP, pattern)
    sets = [{"u": "a", "t": "t", "o": name} for name in ("x", "y", "x")]
    (request,) = read_requests.requests_for(plan, sets, SHOP)
    assert len(valid(request).members()["RequestItems"]["shop"]["Keys"]) == 2


def test_times_have_the_form_of_the_attribute() -> None:
    pattern = read("Order", where="user_id = ?u and placed_at >= now - 1 days")
    (request,) = read_requests.requests_for(plan_read(SHOP, pattern), {"u": "x"}, SHOP, now=86_400)
    assert request.members()["ExpressionAttributeValues"][":v1"] == {"S": "ORDER#1970-01-01T00:00:00Z"}


def test_an_update_writes_the_index_keys_that_follow() -> None:
    paid = write(WriteStep("update", "Order", assignments=(Assignment("set", "status", "PAID"),)))
    (request,) = write_requests.requests_for(paid, ITEMS[:1], {}, SHOP)
    assert request.members()["UpdateExpression"] == "SET #n0 = :v0 REMOVE #n1, #n2"
    reopened = write(WriteStep("update", "Order", assignments=(Assignment("set", "status", "OPEN"),)))
    (request,) = write_requests.requests_for(reopened, ITEMS[1:2], {}, SHOP)
    assert request.members()["UpdateExpression"] == "SET #n0 = :v0, #n1 = :v1, #n2 = :v2"


def test_the_actions_of_an_update_have_their_clauses() -> None:
    step = WriteStep(
        "update",
        "Order",
        assignments=(
            Assignment("add", "total", 1),
            Assignment("subtract", "stock", Parameter("n")),
            Assignment("remove", "draft"),
            Assignment("set", "seen_at", Now()),
        ),
    )
    (request,) = write_requests.requests_for(write(step), ITEMS[:1], {"n": 2}, SHOP)
    expected = "SET #n1 = #n1 - :v1, #n3 = :v2 ADD #n0 :v0 REMOVE #n2"
    assert valid(request).members()["UpdateExpression"] == expected


def test_a_transaction_has_all_steps_and_its_token() -> None:
    steps = (
        WriteStep("put", "Order", count=2),
        WriteStep("check", "Order"),
        WriteStep("delete", "Order", condition=parse_condition("exists")),
    )
    pattern = write(*steps, transaction=True, idempotency_token=True)
    (request,) = write_requests.requests_for(pattern, ITEMS[:4], {}, SHOP, token="one")
    assert isinstance(valid(request), TransactWriteItems)
    members = request.members()
    assert [next(iter(element)) for element in members["TransactItems"]] == [
        "Put",
        "Put",
        "ConditionCheck",
        "Delete",
    ]
    assert members["ClientRequestToken"] == "one"
    assert write_demand(SHOP, pattern).transactional


def test_plain_writes_go_in_batches_of_25() -> None:
    pattern = write(WriteStep("put", "Order", count=30))
    requests = write_requests.requests_for(
        pattern, [{**ITEMS[0], "order_id": str(n)} for n in range(30)], {}, SHOP
    )
    sizes = [len(valid(request).members()["RequestItems"]["shop"]) for request in requests]
    assert sizes == [25, 5]


def test_a_read_modify_write_reads_first() -> None:
    pattern = write(WriteStep("put", "Order", reads_first=True))
    requests = write_requests.requests_for(pattern, ITEMS[:1], {}, SHOP)
    assert [valid(request).operation for request in requests] == ["GetItem", "PutItem"]


def test_too_few_items_are_refused() -> None:
    with pytest.raises(ValueError, match="writes 2 items, not 1"):
        write_requests.requests_for(write(WriteStep("put", "Order", count=2)), ITEMS[:1], {}, SHOP)


@pytest.mark.parametrize(
    ("value", "kind", "wire"),
    [
        (True, None, {"BOOL": True}),
        (None, None, {"NULL": True}),
        (1.50, None, {"N": "1.5"}),
        (b"ab", "B", {"B": "YWI="}),
        (["b", "a", "b"], "SS", {"SS": ["a", "b"]}),
        ([1, "a"], "L", {"L": [{"N": "1"}, {"S": "a"}]}),
        ({"a": 1}, "M", {"M": {"a": {"N": "1"}}}),
        ("007", "N", {"N": "7"}),
        ({2, 1}, None, {"NS": ["1", "2"]}),
    ],
)
def test_values_have_their_type(value: object, kind: Any, wire: dict[str, object]) -> None:
    assert wire_value(value, kind) == wire


@pytest.mark.parametrize(
    ("where", "filtered"),
    [
        ("user_id = ?user and placed_at between ?low and ?high", None),
        ("user_id = ?user and placed_at >= ?low and placed_at <= ?high", None),
        ("user_id = ?user", "placed_at between ?low and ?high"),
    ],
)
def test_bounds_that_cross_ask_for_nothing(where: str, filtered: str | None) -> None:
    plan = plan_read(SHOP, read("Order", where=where, filter=filtered))
    bounds = {"user": "ann", "low": "2026-01-03T00:00:00Z", "high": "2026-01-02T00:00:00Z"}
    assert read_requests.requests_for(plan, bounds, SHOP) == ()
    assert len(read_requests.requests_for(plan, bounds | {"high": bounds["low"]}, SHOP)) == 1


def test_open_ends_that_meet_ask_for_nothing() -> None:
    plan = plan_read(SHOP, read("Order", where="user_id = ?user and placed_at > ?at and placed_at < ?at"))
    assert plan.served
    assert read_requests.requests_for(plan, {"user": "ann", "at": "2026-01-03T00:00:00Z"}, SHOP) == ()
