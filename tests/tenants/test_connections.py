"""Who asks is decided for every request anew: on one connection, in packed bodies, with tokens of others, at once."""

import gzip
import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tenants.shared_house import (
    ACCOUNT,
    CANARY,
    ITEM_ACTIONS,
    OWN_KEYS,
    TABLE,
    House,
    allow,
    document,
    item_of,
    key_of,
    trust,
)
from tenants.signed_callers import SignedCaller

DENIED = "AccessDeniedException"
GET = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.GetItem"}


@pytest.fixture(scope="module", autouse=True)
def items(house: House) -> None:
    for number in ("1", "2", "3"):
        for owner in ("alice", "bob"):
            house.must("PutItem", TableName=TABLE, Item=item_of(owner, number))


def signed(caller: SignedCaller, body: bytes) -> dict[str, str]:
    request = AWSRequest("POST", caller.endpoint + "/", data=body, headers=dict(GET))
    credentials = Credentials(caller.access_key, caller.secret, caller.token)
    SigV4Auth(credentials, "dynamodb", "us-east-1").add_auth(request)
    return dict(request.headers)


def test_callers_on_one_connection_are_told_apart(house: House) -> None:
    """Also by what the server remembers of the last request on it."""
    connection = http.client.HTTPConnection(urlsplit(house.endpoint).netloc, timeout=60)
    body = json.dumps({"TableName": TABLE, "Key": key_of("bob")}).encode()
    mine = json.dumps({"TableName": TABLE, "Key": key_of("alice")}).encode()

    def answer(headers: dict[str, str], sent: bytes) -> tuple[int, bytes]:
        connection.request("POST", "/", sent, headers)
        response = connection.getresponse()
        return response.status, response.read()

    try:
        for name in ("bob", "alice", "bob's session", "alice's session", "bob", "alice's session", "alice"):
            status, raw = answer(signed(house.people[name], body), body)
            may = name.startswith("bob")
            assert (name, status, CANARY.encode() in raw) == (name, 200 if may else 400, may)
        # A signature of alice's that was accepted just now, over another body; with bob's token or key in its place.
        headers = signed(house.people["alice's session"], mine)
        assert answer(headers, mine)[0] == 200
        for changed in (
            headers,
            {**headers, "X-Amz-Security-Token": str(house.people["bob's session"].token)},
            {
                **headers,
                "Authorization": headers["Authorization"].replace(
                    house.people["alice's session"].access_key, house.people["bob's session"].access_key
                ),
            },
        ):
            status, raw = answer(changed, body)
            assert (status, CANARY.encode() in raw) == (400, False)
        assert answer(headers, mine)[0] == 200
    finally:
        connection.close()


def test_a_packed_body_is_judged_by_what_is_in_it(house: House) -> None:
    caller = house.people["alice's session"]
    packed = {"Content-Encoding": "gzip"}
    for owner, error in (("alice", ""), ("bob", DENIED)):
        body = json.dumps({"TableName": TABLE, "Key": key_of(owner)}).encode()
        reply = caller.ask("GetItem", gzip.compress(body), headers=packed)
        assert (owner, reply.error, CANARY.encode() in reply.raw) == (owner, error, False)


@pytest.mark.parametrize("order", ["", " ORDER BY id DESC"])
def test_a_token_of_the_other_leads_nowhere(house: House, order: str) -> None:
    """The statement is the same; only its parameter is another."""
    bob, alice = house.people["bob"], house.people["alice"]
    request: dict[str, Any] = {"Statement": f"SELECT * FROM {TABLE} WHERE tenant = ?{order}", "Limit": 1}
    tokens = {
        name: caller.ask("ExecuteStatement", {**request, "Parameters": [{"S": name}]}).body["NextToken"]
        for name, caller in (("alice", alice), ("bob", bob))
    }
    for name, token in tokens.items():
        reply = alice.ask("ExecuteStatement", {**request, "Parameters": [{"S": "alice"}], "NextToken": token})
        assert (name, reply.status) == (name, 200 if name == "alice" else 400), reply.raw
        assert CANARY.encode() not in reply.raw
        theirs = {**request, "Parameters": [{"S": "bob"}], "NextToken": token}
        assert alice.ask("ExecuteStatement", theirs).error == DENIED


def test_the_token_of_a_transaction_repeats_nothing_for_others(house: House) -> None:
    """A repeated transaction succeeds without being done again; not for those who could not have done it."""
    put = {"Put": {"TableName": TABLE, "Item": item_of("bob")}}
    request = {"TransactItems": [put], "ClientRequestToken": "the-same-token"}
    bob, alice = house.people["bob"], house.people["alice"]
    assert bob.ask("TransactWriteItems", request).status == 200
    assert bob.ask("TransactWriteItems", request).status == 200
    assert alice.ask("TransactWriteItems", request).error == DENIED
    own = {"Put": {"TableName": TABLE, "Item": item_of("alice")}}
    other = alice.ask("TransactWriteItems", {**request, "TransactItems": [own]})
    assert other.error in {"", "IdempotentParameterMismatchException"}
    assert CANARY.encode() not in other.raw


def test_a_policy_that_is_taken_away_ends_at_once(house: House) -> None:
    """Whatever was allowed before, with conditions that are asked again and without any."""
    iam = house.admin.client("iam")
    arn = house.role("fleeting", trust(f"arn:aws:iam::{ACCOUNT}:user/broker"))
    person = house.people["broker"].assume(arn, "fleeting", Tags=[{"Key": "tenant", "Value": "alice"}])
    request = {"TableName": TABLE, "Key": key_of("alice")}
    for statement in (allow(*ITEM_ACTIONS), allow(*ITEM_ACTIONS, Condition=OWN_KEYS)):
        assert person.ask("GetItem", request).error == DENIED
        iam.put_role_policy(RoleName="fleeting", PolicyName="own", PolicyDocument=document(statement))
        assert [person.ask("GetItem", request).status for _ in range(3)] == [200] * 3
        iam.delete_role_policy(RoleName="fleeting", PolicyName="own")
    assert person.ask("GetItem", request).error == DENIED
    iam.delete_role(RoleName="fleeting")
    assert person.ask("GetItem", request).error == "UnrecognizedClientException"


def test_a_role_that_is_made_anew_revives_no_session(house: House) -> None:
    broker = trust(f"arn:aws:iam::{ACCOUNT}:user/broker")
    arn = house.role("phoenix", broker, allow("GetItem"))
    before = house.people["broker"].assume(arn, "phoenix")
    request = {"TableName": TABLE, "Key": key_of("alice")}
    assert before.ask("GetItem", request).status == 200
    iam = house.admin.client("iam")
    iam.delete_role_policy(RoleName="phoenix", PolicyName="own")
    iam.delete_role(RoleName="phoenix")
    house.role("phoenix", broker, allow("GetItem"))
    assert before.ask("GetItem", request).error == "UnrecognizedClientException"
