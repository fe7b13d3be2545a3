"""PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy and CreateTable's ResourcePolicy."""

import json
from typing import Any

import pytest

from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.config import Settings
from hashrange.core.limits import RESOURCE_POLICY_BYTES_MAX
from permissions.callers import OURS, Guarded, allow, deny, document, policy, user

WRONG = "One or more parameter values were invalid: "
MALFORMED = f"{WRONG}Invalid policy document: "
ALICE = f"arn:aws:iam::{OURS}:user/alice"
NAMED = {"Principal": {"AWS": ALICE}}
IN_USE = "Attempt to change a resource which is still in use: "
MISSING = "Resource-based policy not found for the provided ResourceArn: "


@pytest.fixture
def server() -> Guarded:
    return Guarded()


@pytest.fixture
def arn(server: Guarded) -> str:
    return server.table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})


def put(server: Clocked, arn: str, text: str, **more: Any) -> str:
    revision: str = server.call("PutResourcePolicy", ResourceArn=arn, Policy=text, **more)["RevisionId"]
    return revision


def got(server: Clocked, arn: str) -> Any:
    return json.loads(server.call("GetResourcePolicy", ResourceArn=arn)["Policy"])


def told(server: Clocked, operation: str, **request: Any) -> tuple[str, str | None]:
    return server.refused(operation, **request)


def test_a_policy_lives_until_it_is_deleted(server: Guarded, arn: str) -> None:
    assert told(server, "GetResourcePolicy", ResourceArn=arn) == ("PolicyNotFoundException", MISSING + arn)
    assert server.call("DeleteResourcePolicy", ResourceArn=arn) == {}
    first = put(server, arn, document(allow("GetItem", resource=arn, **NAMED)))
    assert first == str(int(server.clock.now() * 1000))
    server.clock.advance(20)
    second = put(server, arn, document(allow("PutItem", resource=arn, **NAMED)), ExpectedRevisionId=first)
    assert int(second) == int(first) + 20_000
    assert server.call("DeleteResourcePolicy", ResourceArn=arn) == {"RevisionId": second}
    assert told(server, "GetResourcePolicy", ResourceArn=arn)[0] == "PolicyNotFoundException"
    again = server.call("DeleteResourcePolicy", ResourceArn=arn)["RevisionId"]
    assert int(again) > int(second)


def test_the_same_policy_again_changes_nothing(server: Guarded, arn: str) -> None:
    root = {"Principal": {"AWS": OURS}}
    first = put(server, arn, document(allow("GetItem", resource=arn, **root)))
    server.clock.advance(1)
    spelt = {
        "Statement": {
            "Resource": [arn],
            "Principal": {"AWS": [f"arn:aws:iam::{OURS}:root"]},
            "Effect": "Allow",
            "Action": "dynamodb:GetItem",
        },
        "Version": "2012-10-17",
    }
    assert put(server, arn, json.dumps(spelt, indent=4)) == first
    assert put(server, arn, document(deny("Scan", resource=arn, **root))) != first


def test_no_version_and_the_old_version_are_not_the_same(server: Guarded, arn: str) -> None:
    statement = allow("GetItem", resource=arn, **NAMED)
    first = put(server, arn, document(statement, version=None))
    assert got(server, arn)["Version"] == "2008-10-17"
    server.clock.advance(1)
    assert put(server, arn, document(statement, version="2008-10-17")) != first


def test_the_form_in_which_a_policy_is_kept(server: Guarded, arn: str) -> None:
    statement = {
        "Resource": [arn, f"{arn}/index/*"],
        "Condition": {"StringEquals": {"aws:PrincipalAccount": [OURS]}},
        "Action": ["dynamodb:GetItem"],
        "Principal": {"AWS": [OURS, f"arn:aws:iam::{OURS}:root", ALICE]},
        "Effect": "allow",
        "Sid": "one",
    }
    put(server, arn, json.dumps({"Statement": statement, "Id": "mine", "Version": "2012-10-17"}))
    text = server.call("GetResourcePolicy", ResourceArn=arn)["Policy"]
    assert text == (
        '{"Version":"2012-10-17","Id":"mine","Statement":[{"Sid":"one","Effect":"Allow",'
        f'"Principal":{{"AWS":["arn:aws:iam::{OURS}:root","{ALICE}"]}},"Action":"dynamodb:GetItem",'
        f'"Resource":["{arn}","{arn}/index/*"],'
        f'"Condition":{{"StringEquals":{{"aws:PrincipalAccount":"{OURS}"}}}}}}]}}'
    )


def test_revisions_that_are_expected(server: Guarded, arn: str) -> None:
    text = document(allow("GetItem", resource=arn, **NAMED))
    request = {"ResourceArn": arn, "Policy": text}
    assert told(server, "PutResourcePolicy", **request, ExpectedRevisionId="1") == (
        "PolicyNotFoundException",
        f"{MISSING}Requested update for policy with revision id 1, but table orders has no associated policy.",
    )
    revision = put(server, arn, text, ExpectedRevisionId="NO_POLICY")
    assert told(server, "PutResourcePolicy", **request, ExpectedRevisionId="1") == (
        "PolicyNotFoundException",
        (
            f"{MISSING}Requested update for policy with revision id 1, but the policy associated to target table "
            f"orders has revision id {revision}."
        ),
    )
    assert told(server, "DeleteResourcePolicy", ResourceArn=arn, ExpectedRevisionId="NO_POLICY") == (
        "PolicyNotFoundException",
        (
            f"{MISSING}Requested policy update expecting none to be present for table orders, but a policy exists "
            f"with revision id {revision}."
        ),
    )


def test_changes_that_follow_too_soon(server: Guarded, arn: str) -> None:
    server.context.settings = Settings(resource_policy_cooldown=15)
    first, second = (document(allow(action, resource=arn, **NAMED)) for action in ("GetItem", "PutItem"))
    server.clock.advance(20)
    put(server, arn, first)
    server.clock.advance(14.5)
    code, message = told(server, "PutResourcePolicy", ResourceArn=arn, Policy=second)
    assert code == "ThrottlingException"
    assert str(message).startswith(
        "Resource-based policy for table orders modified within the previous 15000 milliseconds. "
        "Please try again after "
    )
    assert told(server, "DeleteResourcePolicy", ResourceArn=arn)[0] == "ThrottlingException"
    put(server, arn, first)
    server.clock.advance(0.5)
    put(server, arn, second)


def test_a_table_whose_policy_has_just_changed_is_not_deleted(server: Guarded, arn: str) -> None:
    """Where the service's pace is kept; otherwise a change applies at once."""
    text = document(allow("GetItem", resource=arn, **NAMED))
    for name, cooldown in (("orders", 15), ("others", 0)):
        server.context.settings = Settings(resource_policy_cooldown=cooldown)
        if name == "others":
            server.table(name)
        put(server, arn.replace("orders", name), text)
        server.clock.advance(1.5)
        if cooldown:
            assert told(server, "DeleteTable", TableName=name) == (
                "ResourceInUseException",
                f"{IN_USE}Table: orders has a pending resource-based policy update.",
            )
            server.clock.advance(0.5)
        server.call("DeleteTable", TableName=name)


def test_resources_that_have_no_policy(server: Guarded, arn: str) -> None:
    def refusal(resource: str) -> tuple[str, str | None]:
        return told(server, "GetResourcePolicy", ResourceArn=resource)

    validation, missing = "ValidationException", "ResourceNotFoundException"
    assert refusal("orders") == (validation, f"{WRONG}ARNs must start with 'arn:': orders")
    other = arn.replace(OURS, "999999999999")
    assert refusal(other) == (
        validation,
        "This action is only supported by accounts that match the resource owner\u2019s account.",
    )
    for moved in (arn.replace("us-east-1", "eu-west-1"), arn.replace("arn:aws:", "arn:aws-cn:")):
        assert refusal(moved) == (validation, f"{WRONG}Invalid resource Arn: {moved}")
    index = f"{arn}/index/by-city"
    assert refusal(index) == (
        validation,
        f"{WRONG}Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {index}",
    )
    backup = f"{arn}/backup/01234567890123-abcdef01"
    assert refusal(backup) == (validation, f"{WRONG}Provided Arn is not a DynamoDB resource arn: {backup}")
    assert refusal(f"{arn}s") == (missing, "Requested resource not found: Table: orderss not found")
    assert refusal(f"{arn}/stream/2020-01-01T00:00:00.000") == (
        missing,
        "Requested resource not found: Stream: 2020-01-01T00:00:00.000 not found for Table: orders",
    )


def test_documents_that_are_refused(server: Guarded, arn: str) -> None:
    def refusal(text: str) -> str:
        code, message = told(server, "PutResourcePolicy", ResourceArn=arn, Policy=text)
        assert code == "ValidationException"
        return str(message)

    good = allow("GetItem", resource=arn, **NAMED)
    assert refusal("") == f"{MALFORMED}This policy contains invalid Json"
    assert refusal("{") == f"{MALFORMED}This policy contains invalid Json"
    assert refusal(document()) == f"{MALFORMED}Could not parse the policy: Statement is empty!"
    without = {name: value for name, value in good.items() if name != "Resource"}
    assert refusal(document(without)) == f"{MALFORMED}Missing required field Resource"
    stream = f"{arn}/stream/2020-01-01T00:00:00.000"
    assert refusal(document({**good, "Resource": stream})).startswith(
        f'{MALFORMED}The relative-id "table/orders/stream/2020-01-01T00:00:00.000" is invalid for ARN "arn:'
    )
    assert refusal(document(allow("GetRecords", "GetItem", "DescribeStream", resource=arn, **NAMED))) == (
        f'{MALFORMED}The following action names are invalid: "dynamodb:GetRecords", "dynamodb:DescribeStream"'
    )
    assert "action names are invalid" in refusal(document(allow("ListStreams", "CreateTable", **NAMED)))
    twice = {**good, "Sid": "same"}
    assert refusal(document(twice, twice)) == f"{MALFORMED}The Statement Ids in the policy are not unique"
    assert refusal(document({**good, "Principal": OURS})).startswith(
        f"{MALFORMED}Syntax error at position (1,"
    )
    assert refusal(document({**good, "Principal": {"AWS": "somebody"}})) == (
        f"{WRONG}Invalid principal in policy document."
    )
    with pytest.raises(ApiError):
        server.call("GetResourcePolicy", ResourceArn=arn)


def test_the_size_of_a_document_counts_white_space(server: Guarded, arn: str) -> None:
    text = document(allow("GetItem", resource=arn, **NAMED))
    put(server, arn, text.ljust(RESOURCE_POLICY_BYTES_MAX))
    assert told(
        server, "PutResourcePolicy", ResourceArn=arn, Policy=text.ljust(RESOURCE_POLICY_BYTES_MAX + 1)
    ) == (
        "ValidationException",
        f"{WRONG}Maximum policy size of 20480 bytes exceeded",
    )


@pytest.mark.parametrize(
    ("statement", "public"),
    [
        (allow("GetItem", Principal="*"), True),
        (allow("GetItem", Principal={"AWS": "*"}), True),
        (allow("GetItem", Principal={"AWS": [ALICE, "*"]}), True),
        (allow("GetItem", NotPrincipal={"AWS": ALICE}), True),
        (deny("GetItem", Principal="*"), False),
        (allow("GetItem", Principal="*", Condition={"StringEquals": {"aws:PrincipalAccount": OURS}}), False),
        (allow("GetItem", Principal="*", Condition={"ArnLike": {"aws:principalarn": ALICE}}), False),
        (
            allow("GetItem", Principal="*", Condition={"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:*"}}),
            True,
        ),
        (allow("GetItem", Principal="*", Condition={"StringEquals": {"aws:userid": "${aws:userid}"}}), True),
        (
            allow("GetItem", Principal="*", Condition={"StringNotEquals": {"aws:PrincipalAccount": OURS}}),
            True,
        ),
        (
            allow("GetItem", Principal="*", Condition={"StringEqualsIfExists": {"aws:SourceVpc": "vpc-1"}}),
            True,
        ),
        (allow("GetItem", Principal="*", Condition={"StringEquals": {"aws:username": "alice"}}), True),
    ],
)
def test_a_policy_that_lets_everybody_in_is_refused(
    server: Guarded, arn: str, statement: Any, public: bool
) -> None:
    text = document(statement)
    if not public:
        put(server, arn, text)
        return
    code, message = told(server, "PutResourcePolicy", ResourceArn=arn, Policy=text)
    assert code == "ValidationException"
    assert str(message).startswith("Resource-based policy grants unbounded access in one or more elements.")


def test_nobody_locks_themselves_out_by_accident(server: Guarded, arn: str) -> None:
    locking = document(deny("PutResourcePolicy", resource=arn, Principal="*"))
    assert told(server, "PutResourcePolicy", ResourceArn=arn, Policy=locking) == (
        "AccessDeniedException",
        "The new resource policy will not allow you to update the resource policy in the future.",
    )
    put(server, arn, document(deny("DeleteResourcePolicy", resource=arn, Principal="*")))
    put(server, arn, locking, ConfirmRemoveSelfResourceAccess=True)
    code, message = told(server, "PutResourcePolicy", ResourceArn=arn, Policy=document(deny("Scan", **NAMED)))
    assert code == "AccessDeniedException"
    assert str(message).endswith("with an explicit deny in a resource-based policy")


def test_a_stream_has_a_policy_of_its_own(server: Guarded, arn: str) -> None:
    stream = server.describe("orders")["LatestStreamArn"]
    put(server, arn, document(deny("Scan", resource=arn, Principal="*")))
    put(server, stream, document(deny("DescribeStream", resource=stream, Principal="*")))
    assert got(server, arn) != got(server, stream)
    assert server.denies(server.principal, "DescribeStream", StreamArn=stream)
    assert not server.denies(server.principal, "DescribeTable", TableName="orders")
    server.call("DeleteResourcePolicy", ResourceArn=stream)
    assert not server.denies(server.principal, "DescribeStream", StreamArn=stream)
    assert server.denies(server.principal, "Scan", TableName="orders")
    mixed = document(deny("DescribeStream", resource=arn, Principal="*"))
    assert "relative-id" in str(told(server, "PutResourcePolicy", ResourceArn=stream, Policy=mixed)[1])


def test_a_new_table_may_have_a_policy(server: Guarded) -> None:
    resource = f"arn:aws:dynamodb:us-east-1:{OURS}:table/fresh"
    text = document(allow("DescribeTable", "Scan", resource=resource, **NAMED))
    described = server.table("fresh", ResourcePolicy=text)
    assert described == resource
    assert got(server, resource)["Statement"][0]["Action"] == ["dynamodb:DescribeTable", "dynamodb:Scan"]
    assert not server.denies(user(), "Scan", TableName="fresh")
    assert server.denies(user(name="bob"), "Scan", TableName="fresh")
    server.call("DeleteTable", TableName="fresh")
    server.clock.advance(10)
    server.run_jobs()
    server.table("fresh")
    assert told(server, "GetResourcePolicy", ResourceArn=resource)[0] == "PolicyNotFoundException"


def test_a_table_is_not_made_with_a_bad_policy(server: Guarded) -> None:
    with pytest.raises(ApiError, match="invalid Json"):
        server.table("fresh", ResourcePolicy="no")
    assert server.call("ListTables")["TableNames"] == []


def test_a_policy_outlives_its_process(server: Guarded, arn: str) -> None:
    revision = put(server, arn, document(allow("GetItem", resource=arn, **NAMED)))
    again = Clocked(server.engine)
    assert again.call("GetResourcePolicy", ResourceArn=arn)["RevisionId"] == revision


def test_without_permissions_policies_are_kept_all_the_same() -> None:
    open_server = Clocked()
    Guarded.table(open_server)  # type: ignore[arg-type]
    arn = open_server.describe("orders")["TableArn"]
    put(open_server, arn, document(deny("Scan", resource=arn, Principal="*")))
    assert open_server.call("Scan", TableName="orders")["Count"] == 0


def test_a_resource_policy_adds_to_what_a_user_may(server: Guarded, arn: str) -> None:
    key = {"owner": {"S": "a"}, "id": {"S": "1"}}
    put(server, arn, document(allow("GetItem", resource=arn, **NAMED)))
    alice, bob = user(), user(name="bob")
    assert not server.denies(alice, "GetItem", TableName="orders", Key=key)
    assert server.denies(bob, "GetItem", TableName="orders", Key=key)
    assert server.denies(alice, "PutItem", TableName="orders", Item=key)
    bounded = user(boundary=policy(allow("PutItem")))
    assert not server.denies(bounded, "GetItem", TableName="orders", Key=key)


def test_a_value_that_nothing_can_match_is_refused(server: Guarded, arn: str) -> None:
    condition = {"Condition": {"NumericLessThan": {"aws:MultiFactorAuthAge": "soon"}}}
    text = document(allow("GetItem", resource=arn, **NAMED, **condition))
    refusal = ("ValidationException", f"{MALFORMED}Syntax errors in policy.")
    assert told(server, "PutResourcePolicy", ResourceArn=arn, Policy=text) == refusal
