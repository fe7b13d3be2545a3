"""What docs/tenants.md warns of is true, as it is on AWS; and its policies are those of the examples."""

import ast
import json
import re
from typing import Any

import pytest

from hashrange.auth.policy.documents import Kind, parse
from house import ROOT
from tenants.shared_house import (
    ACCOUNT,
    CANARY,
    OWN_KEYS,
    SOME_KEY,
    TABLE,
    TABLES,
    House,
    allow,
    item_of,
    key_of,
    trust,
)
from tenants.signed_callers import SignedCaller

DENIED = "AccessDeniedException"
PAGE = (ROOT / "docs" / "tenants.md").read_text("utf-8")
ARN = f"{TABLES}/{TABLE}"
READING = ("GetItem", "Query", "Scan", "PartiQLSelect")
FULL_SCANS = {"Bool": {"dynamodb:FullTableScan": "true"}}


@pytest.fixture(scope="module", autouse=True)
def items(house: House) -> None:
    for owner in ("alice", "bob"):
        house.must("PutItem", TableName=TABLE, Item=item_of(owner))


def tenant(house: House, role: str, name: str, *statements: dict[str, Any]) -> SignedCaller:
    arn = house.role(role, trust(f"arn:aws:iam::{ACCOUNT}:user/broker"), *statements)
    return house.people["broker"].assume(arn, "guide", Tags=[{"Key": "tenant", "Value": name}])


def test_leading_keys_alone_do_not_limit_a_scan(house: House) -> None:
    careless = tenant(house, "careless", "alice", allow(*READING, resource=ARN, Condition=OWN_KEYS))
    assert careless.ask("GetItem", {"TableName": TABLE, "Key": key_of("bob")}).error == DENIED
    assert CANARY.encode() in careless.ask("Scan", {"TableName": TABLE}).raw
    statement = {"Statement": f"SELECT * FROM {TABLE}"}
    assert CANARY.encode() in careless.ask("ExecuteStatement", statement).raw


def test_full_scans_can_be_denied_by_their_own_key(house: House) -> None:
    """It has no say about Scan, only about PartiQL."""
    forbidding = {**allow("PartiQLSelect", Condition=FULL_SCANS), "Effect": "Deny"}
    caller = tenant(house, "no-scans", "alice", allow(*READING, resource=ARN, Condition=OWN_KEYS), forbidding)
    assert caller.ask("ExecuteStatement", {"Statement": f"SELECT * FROM {TABLE}"}).error == DENIED
    own = {"Statement": f"SELECT * FROM {TABLE} WHERE tenant = 'alice'"}
    assert caller.ask("ExecuteStatement", own).status == 200
    assert caller.ask("Scan", {"TableName": TABLE}).status == 200


def test_the_leading_keys_of_an_index_are_its_own(house: House) -> None:
    """So a tenant who is called like a city reads its items; unless the index is left out."""
    condition = OWN_KEYS | SOME_KEY
    request = {
        "TableName": TABLE,
        "IndexName": "by-city",
        "KeyConditionExpression": "city = :c",
        "ExpressionAttributeValues": {":c": {"S": "Rome"}},
    }
    careless = tenant(
        house, "all-indexes", "Rome", allow("Query", resource=[ARN, f"{ARN}/index/*"], Condition=condition)
    )
    assert CANARY.encode() in careless.ask("Query", request).raw
    named = [ARN, f"{ARN}/index/by-tenant-city"]
    careful = tenant(house, "one-index", "Rome", allow("Query", resource=named, Condition=condition))
    assert careful.ask("Query", request).error == DENIED


@pytest.mark.parametrize(("pattern", "others"), [("#*", False), ("*", True)])
def test_a_prefix_needs_a_separator(house: House, pattern: str, others: bool) -> None:
    like = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["${aws:PrincipalTag/tenant}" + pattern]}}
    caller = tenant(
        house, f"prefix-{others}", "red", allow("GetItem", resource=ARN, Condition=like | SOME_KEY)
    )
    for owner, reached in (("red#orders", True), ("reddish#orders", others), ("blue#red#orders", False)):
        reply = caller.ask("GetItem", {"TableName": TABLE, "Key": key_of(owner)})
        assert (owner, reply.status == 200) == (owner, reached)


def _blocks() -> list[Any]:
    return [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def _constant(program: str, name: str) -> Any:
    """A constant of an example, with its other constants put in."""
    tree = ast.parse((ROOT / "examples" / "tenants" / program).read_text("utf-8"))
    names: dict[str, Any] = {"ACCOUNT": ACCOUNT, "REGION": "us-east-1"}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            code = compile(ast.Module([node], []), program, "exec")
            exec(code, names)
    return names[name]


def test_the_policies_of_the_page_are_those_of_the_examples() -> None:
    shared, trust, tagged = _blocks()
    broker = {"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/broker"}}
    assert trust["Statement"] == [_constant("leading_keys.py", "TRUST") | broker]
    parse(json.dumps(trust), Kind.TRUST, name="page")
    (statement,) = shared["Statement"]
    example = _constant("leading_keys.py", "OWN_ITEMS")
    assert {**statement, "Resource": None} == {**example, "Resource": None}
    policy = [{**each, "Resource": "*"} for each in _constant("own_tables.py", "POLICY")]
    assert tagged == policy
    for statements in (shared["Statement"], tagged):
        text = json.dumps({"Version": "2012-10-17", "Statement": statements})
        parse(text, Kind.IDENTITY, name="page")
