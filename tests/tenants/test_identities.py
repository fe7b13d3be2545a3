"""Nobody becomes somebody else: by keys, roles, sessions, tags or policies that are not theirs."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tenants.shared_house import ACCOUNT, ROLE, TABLE, House, allow, document, item_of, key_of, trust
from tenants.signed_callers import SignedCaller, session_of

DENIED = "AccessDeniedException"
ADMINISTRATOR = "arn:aws:iam::aws:policy/AdministratorAccess"
OWN_TENANT = {"StringEquals": {"aws:RequestTag/tenant": "${aws:username}"}}
TENANT_ROLE = f"arn:aws:iam::{ACCOUNT}:role/self-tagged"


@pytest.fixture(scope="module", autouse=True)
def items(house: House) -> None:
    for owner in ("alice", "bob"):
        house.must("PutItem", TableName=TABLE, Item=item_of(owner))


@pytest.fixture(scope="session")
def carol(house: House) -> SignedCaller:
    """Somebody who looks after their own keys, and may become a tenant under their own name."""
    own = f"arn:aws:iam::{ACCOUNT}:user/${{aws:username}}"
    house.role("self-tagged", trust(ACCOUNT), allow("GetItem", Condition=_leading()))
    return house.user(
        "carol",
        allow(*(f"iam:{verb}AccessKey*" for verb in ("Create", "Delete", "Update", "List")), resource=own),
        allow("sts:AssumeRole", resource=TENANT_ROLE),
        allow("sts:TagSession", resource=TENANT_ROLE, Condition=OWN_TENANT),
        allow("iam:CreatePolicyVersion", resource=f"arn:aws:iam::{ACCOUNT}:policy/carol-*"),
    )


def _leading() -> dict[str, Any]:
    return {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:PrincipalTag/tenant}"]}}


def _code(call: Any, **request: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**request)
    code: str = caught.value.response["Error"]["Code"]
    return code


def _tags(**tags: str) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def test_keys_are_made_for_oneself_only(carol: SignedCaller) -> None:
    iam = carol.client("iam")
    for name in ("bob", "BOB", "Bob", "admin", "ADMIN", "broker", "nobody", "carol/../bob", "*", "CAROLX"):
        assert _code(iam.create_access_key, UserName=name) in {"AccessDenied", "ValidationError"}, name
        assert _code(iam.list_access_keys, UserName=name) in {"AccessDenied", "ValidationError"}, name
    made = iam.create_access_key()["AccessKey"]
    assert made["UserName"] == "carol"
    iam.delete_access_key(AccessKeyId=made["AccessKeyId"])
    made = iam.create_access_key(UserName="Carol")["AccessKey"]
    assert made["UserName"] == "carol"
    iam.delete_access_key(UserName="CAROL", AccessKeyId=made["AccessKeyId"])


def test_a_key_of_somebody_else_is_not_reached_under_the_own_name(house: House, carol: SignedCaller) -> None:
    iam = carol.client("iam")
    for key in (house.admin.access_key, house.people["bob"].access_key):
        for name in ({"UserName": "carol"}, {}):
            assert _code(iam.delete_access_key, AccessKeyId=key, **name) == "NoSuchEntity"
            assert _code(iam.update_access_key, AccessKeyId=key, Status="Inactive", **name) == "NoSuchEntity"
    assert house.people["bob"].ask("GetItem", {"TableName": TABLE, "Key": key_of("bob")}).status == 200


def test_a_key_ends_with_its_deletion(carol: SignedCaller) -> None:
    iam = carol.client("iam")
    made = iam.create_access_key()["AccessKey"]
    second = SignedCaller(carol.endpoint, made["AccessKeyId"], made["SecretAccessKey"])
    session = SignedCaller(
        carol.endpoint, *session_of(second.client("sts").get_session_token()["Credentials"])
    )
    for caller in (second, session):
        assert caller.client("sts").get_caller_identity()["Arn"].endswith("user/carol")
    iam.delete_access_key(AccessKeyId=made["AccessKeyId"])
    for caller in (second, session):
        reply = caller.ask("GetItem", {"TableName": TABLE, "Key": key_of("alice")})
        assert reply.error == "UnrecognizedClientException"


def test_a_session_is_tagged_with_the_own_name_only(carol: SignedCaller) -> None:
    sts = carol.client("sts")
    request = {"RoleArn": TENANT_ROLE, "RoleSessionName": "carol"}
    for tags in (
        _tags(tenant="bob"),
        _tags(Tenant="bob"),
        _tags(TENANT="bob", other="carol"),
        _tags(other="carol"),
    ):
        assert _code(sts.assume_role, **request, Tags=tags) == "AccessDenied", tags
    assert _code(sts.assume_role, **request, Tags=_tags(tenant="carol", Tenant="bob")) == "ValidationError"
    own = carol.assume(TENANT_ROLE, "carol", Tags=_tags(tenant="carol"))
    assert own.ask("GetItem", {"TableName": TABLE, "Key": key_of("carol")}).status == 200
    for person in (own, carol.assume(TENANT_ROLE, "carol")):
        for owner in ("alice", "bob"):
            assert person.ask("GetItem", {"TableName": TABLE, "Key": key_of(owner)}).error == DENIED


def test_a_role_is_not_assumed_by_those_it_does_not_trust(house: House, carol: SignedCaller) -> None:
    for caller in (carol, house.people["bob"], house.people["bob's session"], house.admin):
        sts = caller.client("sts")
        for arn in (ROLE, ROLE.replace("tenant", "TENANT"), ROLE.replace("role/", "role/x/"), f"{ROLE}x"):
            code = _code(sts.assume_role, RoleArn=arn, RoleSessionName="alice", Tags=_tags(tenant="alice"))
            assert code == "AccessDenied", arn
        assert _code(sts.assume_role, RoleArn=ROLE, RoleSessionName="../alice") == "ValidationError"


def test_a_chain_of_roles_keeps_the_tag(house: House) -> None:
    """A transitive tag can be neither changed nor left out in the next session."""
    link = house.role("chain-link", trust(f"arn:aws:iam::{ACCOUNT}:user/broker"), allow("sts:*"))
    last = house.role("chain-end", trust(link), allow("GetItem", Condition=_leading()))
    tags = _tags(tenant="alice")
    first = house.people["broker"].assume(link, "alice", Tags=tags, TransitiveTagKeys=["tenant"])
    sts = first.client("sts")
    for other in (_tags(tenant="bob"), _tags(Tenant="bob"), _tags(TENANT="alice")):
        assert _code(sts.assume_role, RoleArn=last, RoleSessionName="x", Tags=other) == "ValidationError"
    for more in ({}, {"Tags": _tags(other="bob")}):
        second = first.assume(last, "bob", **more)
        assert second.ask("GetItem", {"TableName": TABLE, "Key": key_of("alice")}).status == 200
        assert second.ask("GetItem", {"TableName": TABLE, "Key": key_of("bob")}).error == DENIED


@pytest.mark.parametrize(
    "wider", [{"Policy": document(allow("*"))}, {"PolicyArns": [{"arn": ADMINISTRATOR}]}]
)
def test_a_session_policy_makes_nothing_wider(house: House, wider: dict[str, Any]) -> None:
    person = house.people["broker"].assume(ROLE, "alice", Tags=_tags(tenant="alice"), **wider)
    assert person.ask("GetItem", {"TableName": TABLE, "Key": key_of("alice")}).status == 200
    assert person.ask("GetItem", {"TableName": TABLE, "Key": key_of("bob")}).error == DENIED
    assert person.ask("Scan", {"TableName": TABLE}).error == DENIED


def test_a_session_token_is_its_owners_only(house: House) -> None:
    alice, bob = house.people["alice's session"], house.people["bob's session"]
    user = house.people["bob"]
    request = {"TableName": TABLE, "Key": key_of("bob")}
    for key, secret, token in (
        (alice.access_key, alice.secret, bob.token),
        (bob.access_key, alice.secret, bob.token),
        (user.access_key, user.secret, alice.token),
        (bob.access_key, bob.secret, None),
        (bob.access_key, bob.secret, str(bob.token)[:-1] + "A"),
        (user.access_key, user.secret, "x"),
    ):
        reply = SignedCaller(house.endpoint, key, secret, token).ask("GetItem", request)
        assert reply.error in {"UnrecognizedClientException", "InvalidSignatureException"}, reply.raw
    assert bob.ask("GetItem", request).status == 200


def test_a_session_of_a_user_may_what_the_user_may(house: House) -> None:
    alice = house.people["alice"]
    session = SignedCaller(
        house.endpoint, *session_of(alice.client("sts").get_session_token()["Credentials"])
    )
    assert session.ask("GetItem", {"TableName": TABLE, "Key": key_of("alice")}).status == 200
    assert session.ask("GetItem", {"TableName": TABLE, "Key": key_of("bob")}).error == DENIED
    assert _code(session.client("sts").get_session_token) == "AccessDenied"


def test_a_policy_of_others_gets_no_new_version(house: House, carol: SignedCaller) -> None:
    iam = house.admin.client("iam")
    for name in ("shared-rules", "carol-rules"):
        iam.create_policy(PolicyName=name, PolicyDocument=document(allow("GetItem")))
    arn = f"arn:aws:iam::{ACCOUNT}:policy"
    version = {"PolicyDocument": document(allow("*")), "SetAsDefault": True}
    own = carol.client("iam")
    for other in (
        f"{arn}/shared-rules",
        f"{arn}/SHARED-RULES",
        f"{arn}/x/shared-rules",
        f"{arn}/carol-x/../shared-rules",
        f"{arn}/carol-/shared-rules",
        f"{arn}/carol-x/shared-rules",
        arn.replace("aws", "aws-cn") + "/shared-rules",
        ADMINISTRATOR,
    ):
        code = _code(own.create_policy_version, PolicyArn=other, **version)
        assert code in {"AccessDenied", "NoSuchEntity", "ValidationError", "InvalidInput"}, (other, code)
    assert len(iam.list_policy_versions(PolicyArn=f"{arn}/shared-rules")["Versions"]) == 1
    own.create_policy_version(PolicyArn=f"{arn}/carol-rules", **version)


def test_a_tag_that_is_sent_is_not_a_tag_that_is_there(house: House) -> None:
    """Whoever may touch what has their tag cannot give it to what has none, and so make it theirs."""
    same = {"StringEquals": {"aws:ResourceTag/tenant": "${aws:PrincipalTag/tenant}"}}
    dave = house.user("dave", allow("iam:*", "sts:*", "cloudwatch:*", Condition=same), tenant="dave")
    house.user("untagged")
    iam, sts = dave.client("iam"), dave.client("sts")
    own = _tags(tenant="dave")
    assert _code(iam.tag_user, UserName="untagged", Tags=own) == "AccessDenied"
    assert _code(iam.tag_role, RoleName="tenant", Tags=own) == "AccessDenied"
    house.role("untagged", trust(ACCOUNT))
    request = {"RoleArn": f"arn:aws:iam::{ACCOUNT}:role/untagged", "RoleSessionName": "dave"}
    assert _code(sts.assume_role, **request, Tags=own) == "AccessDenied"
    alarm = f"arn:aws:cloudwatch:us-east-1:{ACCOUNT}:alarm:none"
    tagging = dave.ask("TagResource", {"ResourceARN": alarm, "Tags": own}, service="monitoring")
    assert tagging.body["__type"].rpartition("#")[2] in {"AccessDenied", DENIED}
    house.admin.client("iam").tag_role(RoleName="untagged", Tags=own)
    assert sts.assume_role(**request, Tags=own)["AssumedRoleUser"]
