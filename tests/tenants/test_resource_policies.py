"""Policies of tables on a server with identities: whom they may name, and how one confirms to lock oneself out."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from item_tables import definitions, key_schema
from tenants.conftest import OTHER_ACCOUNT
from tenants.shared_house import ACCOUNT, TABLES, House, allow, document, trust
from tenants.signed_callers import Reply, SignedCaller

NAME = "guarded"
ARN = f"{TABLES}/{NAME}"
SCHEMA: dict[str, Any] = {"KeySchema": key_schema("id"), "AttributeDefinitions": definitions(id="S")}


@pytest.fixture(scope="module", autouse=True)
def table(house: House) -> None:
    house.table(NAME, **SCHEMA)
    house.role("deep", document({"Effect": "Deny", "Principal": "*", "Action": "sts:AssumeRole"}))


@pytest.fixture(autouse=True)
def no_policy_is_left(house: House) -> Iterator[None]:
    yield
    house.must("DeleteResourcePolicy", ResourceArn=ARN)


def put(caller: SignedCaller, principal: Any, **headers: str) -> Reply:
    text = document({**allow("GetItem", resource=ARN), "Principal": principal})
    return caller.ask("PutResourcePolicy", {"ResourceArn": ARN, "Policy": text}, headers=headers)


@pytest.mark.parametrize(
    "principal",
    [
        ACCOUNT,
        OTHER_ACCOUNT,
        f"arn:aws:iam::{OTHER_ACCOUNT}:root",
        f"arn:aws:iam::{ACCOUNT}:user/alice",
        f"arn:aws:iam::{OTHER_ACCOUNT}:user/admin",
        f"arn:aws:iam::{ACCOUNT}:role/deep",
        f"arn:aws:sts::{ACCOUNT}:assumed-role/deep/anybody",
        f"arn:aws:sts::{ACCOUNT}:federated-user/anybody",
    ],
)
def test_a_policy_names_those_that_there_are(house: House, principal: str) -> None:
    reply = put(house.admin, {"AWS": [principal, f"arn:aws:iam::{ACCOUNT}:user/bob"]})
    assert reply.status == 200, reply.raw


@pytest.mark.parametrize(
    "principal",
    [
        "999999999999",
        "arn:aws:iam::999999999999:root",
        f"arn:aws:iam::{ACCOUNT}:user/nobody",
        f"arn:aws:iam::{ACCOUNT}:user/ALICE",
        f"arn:aws:iam::{ACCOUNT}:user/staff/alice",
        f"arn:aws:iam::{OTHER_ACCOUNT}:user/alice",
        f"arn:aws:iam::{ACCOUNT}:role/nothing",
        f"arn:aws:iam::{ACCOUNT}:role/alice",
        f"arn:aws:sts::{ACCOUNT}:assumed-role/nothing/session",
        f"arn:aws:sts::{ACCOUNT}:assumed-role/DEEP/session",
        "arn:aws:sts::999999999999:federated-user/anybody",
        f"arn:aws-cn:iam::{ACCOUNT}:user/alice",
    ],
)
def test_a_policy_names_nobody_else(house: House, principal: str) -> None:
    wrong = "One or more parameter values were invalid: Invalid principal in policy document."
    named = {"AWS": [f"arn:aws:iam::{ACCOUNT}:user/bob", principal]}
    reply = put(house.admin, named)
    assert (reply.error, reply.body["message"]) == ("ValidationException", wrong)
    statement = {"Effect": "Deny", "Action": "dynamodb:GetItem", "Resource": ARN, "NotPrincipal": named}
    request = {"TableName": "never", **SCHEMA, "BillingMode": "PAY_PER_REQUEST"}
    made = house.admin.ask("CreateTable", {**request, "ResourcePolicy": document(statement)})
    assert (made.error, made.body["message"]) == ("ValidationException", wrong)
    missing = house.admin.ask("GetResourcePolicy", {"ResourceArn": ARN})
    assert missing.error == "PolicyNotFoundException"


def test_a_policy_means_the_user_and_not_the_name(house: House) -> None:
    """Whoever is made anew under an old name has nothing of what the name was given, and is denied nothing either."""
    arn = f"arn:aws:iam::{ACCOUNT}:user/gone"
    request = {"TableName": NAME, "Key": {"id": {"S": "1"}}}
    first = house.user("gone")
    text = document({**allow("GetItem", resource=ARN), "Principal": {"AWS": arn}})
    house.must("PutResourcePolicy", ResourceArn=ARN, Policy=text)
    assert first.ask("GetItem", request).status == 200
    assert _shown(house) == arn
    iam = house.admin.client("iam")
    user_id = iam.get_user(UserName="gone")["User"]["UserId"]
    iam.delete_access_key(UserName="gone", AccessKeyId=first.access_key)
    iam.delete_user(UserName="gone")
    assert _shown(house) == user_id
    second = house.user("gone")
    assert second.ask("GetItem", request).error == "AccessDeniedException"
    assert _shown(house) == user_id
    assert put(house.admin, {"AWS": user_id}).error == "ValidationException"
    house.must("PutResourcePolicy", ResourceArn=ARN, Policy=text)
    assert second.ask("GetItem", request).status == 200
    new_id = iam.get_user(UserName="gone")["User"]["UserId"]
    before = house.must("GetResourcePolicy", ResourceArn=ARN)
    assert put(house.admin, {"AWS": new_id}).body["RevisionId"] == before["RevisionId"]
    assert _shown(house) == arn


def test_a_policy_means_the_role_and_not_the_name(house: House) -> None:
    iam = house.admin.client("iam")
    request = {"TableName": NAME, "Key": {"id": {"S": "1"}}}
    role = house.role("temporary", trust(f"arn:aws:iam::{ACCOUNT}:user/broker"))
    assert put(house.admin, {"AWS": role}).status == 200
    assert house.people["broker"].assume(role, "first").ask("GetItem", request).status == 200
    iam.delete_role(RoleName="temporary")
    house.role("temporary", trust(f"arn:aws:iam::{ACCOUNT}:user/broker"))
    assert (
        house.people["broker"].assume(role, "second").ask("GetItem", request).error == "AccessDeniedException"
    )


def _shown(house: House) -> str:
    policy = json.loads(house.must("GetResourcePolicy", ResourceArn=ARN)["Policy"])
    name: str = policy["Statement"][0]["Principal"]["AWS"]
    return name


def test_a_header_confirms_that_one_locks_oneself_out(house: House) -> None:
    """The administrator of the house loses the right to change the policy; the account's root keeps it."""
    keeper = house.user("keeper", allow("dynamodb:*"))
    locking = document(
        {
            "Effect": "Deny",
            "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/keeper"},
            "Action": "dynamodb:PutResourcePolicy",
            "Resource": ARN,
        }
    )
    header = "x-amz-confirm-remove-self-resource-access"
    request = {"ResourceArn": ARN, "Policy": locking}
    assert keeper.ask("PutResourcePolicy", request).error == "AccessDeniedException"
    assert (
        keeper.ask("PutResourcePolicy", request, headers={header: "false"}).error == "AccessDeniedException"
    )
    own = {**request, "ConfirmRemoveSelfResourceAccess": False}
    assert keeper.ask("PutResourcePolicy", own, headers={header: "true"}).error == "AccessDeniedException"
    assert keeper.ask("PutResourcePolicy", b"[", headers={header: "true"}).error == "SerializationException"
    large = {**request, "ExpectedRevisionId": "NO_POLICY", "Unknown": "x" * 40_000}
    assert keeper.ask("PutResourcePolicy", large).error == "AccessDeniedException"
    assert keeper.ask("PutResourcePolicy", large, headers={header: "True"}).status == 200
    assert keeper.ask("PutResourcePolicy", request, headers={header: "true"}).error == "AccessDeniedException"
    house.must("DeleteResourcePolicy", ResourceArn=ARN)
    assert keeper.ask("PutResourcePolicy", request, headers={header: "true"}).status == 200
