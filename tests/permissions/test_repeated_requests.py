"""Requests for what was asked for before: the judge has less to do, and decides as before."""

import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import orjson
import pytest

from hashrange.api.permissions.denials import AccessDenied
from hashrange.audit.events import Origin
from hashrange.auth.principals import Principal
from hashrange.chain.authorize import Authorize
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Link, Runner, chained
from hashrange.wire.interfaces import Peer
from hashrange.wire.origins import Arrival
from permissions.callers import ALL_OPERATIONS, OURS, Guarded, allow, deny, document, user
from run_now import run_now
from wiring import eventually

ORDERS = f"arn:aws:dynamodb:us-east-1:{OURS}:table/orders"
OWN = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}


@pytest.fixture
def server() -> Guarded:
    server = Guarded()
    server.table()
    return server


def key(owner: str) -> dict[str, Any]:
    return {"TableName": "orders", "Key": {"owner": {"S": owner}, "id": {"S": "1"}}}


def query(owner: str, **more: Any) -> dict[str, Any]:
    values = {":o": {"S": owner}}
    return {
        "TableName": "orders",
        "KeyConditionExpression": "#o = :o",
        "ExpressionAttributeNames": {"#o": "owner"},
        "ExpressionAttributeValues": values,
        **more,
    }


def test_each_request_of_a_tenant_is_looked_at(server: Guarded) -> None:
    alice = user(allow("*", Condition=OWN))
    for _ in range(3):
        assert not server.denies(alice, "GetItem", **key("alice"))
        assert server.denies(alice, "GetItem", **key("bob"))
        assert not server.denies(alice, "Query", **query("alice"))
        assert server.denies(alice, "Query", **query("bob"))
        assert not server.denies(alice, "DeleteItem", **key("alice"))
        assert server.denies(alice, "DeleteItem", **key("bob"))


def test_actions_and_indexes_are_told_apart(server: Guarded) -> None:
    table_only = user(allow("GetItem", "Scan", resource=ORDERS))
    index_only = user(allow("Scan", resource=ORDERS + "/index/*"))
    for _ in range(3):
        assert not server.denies(table_only, "GetItem", **key("alice"))
        assert server.denies(table_only, "DeleteItem", **key("alice"))
        assert not server.denies(table_only, "Scan", TableName="orders")
        assert server.denies(table_only, "Scan", TableName="orders", IndexName="by-city")
        assert server.denies(index_only, "Scan", TableName="orders")
        assert not server.denies(index_only, "Scan", TableName="orders", IndexName="by-city")


def test_each_kind_of_answer_of_a_write_is_looked_at(server: Guarded) -> None:
    quiet = user(allow("*", Condition={"StringEquals": {"dynamodb:ReturnValues": "NONE"}}))
    on_failure = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    for _ in range(3):
        assert not server.denies(quiet, "DeleteItem", **key("alice"))
        assert server.denies(quiet, "DeleteItem", **key("alice"), ReturnValues="ALL_OLD")
        assert server.denies(quiet, "DeleteItem", **key("alice"), **on_failure)


def test_a_policy_of_the_table_counts_from_the_next_request_on(server: Guarded) -> None:
    alice, bob = user(allow("*", Condition=OWN)), user(name="bob")
    denial = deny("GetItem", resource="*", Principal={"AWS": alice.arn})
    grant = allow("GetItem", resource="*", Principal={"AWS": bob.arn})
    for _ in range(2):
        assert not server.denies(alice, "GetItem", **key("alice"))
        assert server.denies(bob, "GetItem", **key("bob"))
        server.call("PutResourcePolicy", ResourceArn=ORDERS, Policy=document(denial, grant))
        assert server.denies(alice, "GetItem", **key("alice"))
        assert not server.denies(bob, "GetItem", **key("bob"))
        server.call("DeleteResourcePolicy", ResourceArn=ORDERS)


def test_the_tags_of_a_table_count_from_the_next_request_on(server: Guarded) -> None:
    tagged = user(allow("GetItem", Condition={"StringEquals": {"aws:ResourceTag/team": "blue"}}))
    for team in ("blue", "red", "blue"):
        server.call("TagResource", ResourceArn=ORDERS, Tags=[{"Key": "team", "Value": team}])
        for _ in range(2):
            assert server.denies(tagged, "GetItem", **key("alice")) is (team == "red")


def test_a_table_may_be_named_by_its_arn(server: Guarded) -> None:
    reader = user(allow("GetItem", resource=ORDERS))
    for _ in range(2):
        assert not server.denies(reader, "GetItem", **{**key("alice"), "TableName": ORDERS})
        assert server.denies(user(), "GetItem", **{**key("alice"), "TableName": ORDERS})


def test_what_is_remembered_is_bounded(server: Guarded) -> None:
    """Clients choose the names that they ask for."""
    context = server.context
    reader = user(allow("GetItem"))
    for number in range(600):
        error = server.error(reader, "GetItem", **{**key("alice"), "TableName": f"missing-{number}"})
        assert error is not None
        assert error.code == "ResourceNotFoundException"
    assert len(context.allowed) <= 256
    for number in range(300):
        request = {**query("alice"), "IndexName": f"missing-{number}"}
        error = server.error(user(allow("*")), "Query", **request)
        assert error is not None
        assert error.code == "ValidationException"
    assert len(context.residuals) <= 256


class _Exchange:
    """A connection whose next request comes as soon as the handler has returned."""

    def __init__(self, agent: bytes) -> None:
        self.peer = Peer("192.0.2.1")
        self.headers = {b"User-Agent": agent}


class _Call(Call, gc=False):
    exchange: Any

    def arrival(self) -> Callable[[], Origin]:
        return Arrival(self.exchange, b"REQUEST")


def _denied(server: Guarded, principal: Principal, exchange: _Exchange, *links: Link) -> bool:
    context = msgspec.structs.replace(server.context, principal=principal)
    body = orjson.dumps({"TableName": "orders"})
    call = _Call(ALL_OPERATIONS["Scan"], context, None, body, exchange)
    call.decode()
    executor: Any = SimpleNamespace(run=chained(server.executor.run, Authorize(), *links))
    try:
        run_now(executor, call)
    except AccessDenied:
        return True
    return False


def test_a_call_that_is_planned_later_comes_from_where_it_came_from(server: Guarded) -> None:
    browser = user(allow("Scan", Condition={"StringEquals": {"aws:UserAgent": "browser"}}))

    def later(call: Call, done: Done, following: Runner, /) -> None:
        call.retain()
        exchange.headers[b"User-Agent"] = b"another"
        following(call, done)

    exchange = _Exchange(b"browser")
    assert not _denied(server, browser, exchange, later)
    exchange = _Exchange(b"another")
    assert _denied(server, browser, exchange)


@pytest.mark.parametrize("asks", [False, True])
def test_a_call_is_freed_with_its_last_reference(server: Guarded, asks: bool) -> None:
    """The collector does not look at calls: a cycle would stay forever."""
    by_agent = {"Condition": {"StringEquals": {"aws:UserAgent": "browser"}}} if asks else {}
    exchange = _Exchange(b"browser")
    gone = weakref.ref(exchange)
    gc.disable()
    try:
        assert not _denied(server, user(allow("Scan", **by_agent)), exchange)
        del exchange
        # A read that took long was finished by another thread, which may still be about to leave.
        assert eventually(lambda: gone() is None, seconds=30)
    finally:
        gc.enable()
