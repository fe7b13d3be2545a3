"""The policy simulator: what would be decided, by which statement, and what was missing."""

import json
from typing import Any

import pytest

from iam_refusals import ACCOUNT, TRUST, refused
from owned_server import document, statement

TABLE = f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/orders"
OWN_ROWS = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}
GET, PUT = "dynamodb:GetItem", "dynamodb:PutItem"


def custom(iam: Any, *documents: str, **more: Any) -> Any:
    request = {"ActionNames": [GET], "ResourceArns": [TABLE], **more}
    return iam.simulate_custom_policy(PolicyInputList=list(documents), **request)["EvaluationResults"]


def decision(iam: Any, *documents: str, **more: Any) -> str:
    (result,) = custom(iam, *documents, **more)
    return str(result["EvalDecision"])


def entry(name: str, *values: str, kind: str = "string") -> dict[str, Any]:
    return {"ContextKeyName": name, "ContextKeyValues": list(values), "ContextKeyType": kind}


def test_the_services_own_example(iam: Any) -> None:
    """https://docs.aws.amazon.com/cli/latest/reference/iam/simulate-custom-policy.html."""
    policy = (
        '{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"dynamodb:*","Resource":"*",'
        '"Condition":{"DateGreaterThan":{"aws:CurrentTime":"2015-08-16T12:00:00Z"}}}}'
    )
    request = {"PolicyInputList": [policy], "ActionNames": ["dynamodb:CreateBackup"]}
    answer = iam.simulate_custom_policy(
        **request, ContextEntries=[entry("aws:CurrentTime", "2019-04-25T11:00:00Z", kind="date")]
    )
    (result,) = answer["EvaluationResults"]
    assert (result["EvalActionName"], result["EvalResourceName"]) == ("dynamodb:CreateBackup", "*")
    assert result["EvalDecision"] == "allowed"
    (matched,) = result["MatchedStatements"]
    assert matched["SourcePolicyId"] == "PolicyInputList.1"
    assert matched["StartPosition"] == {"Line": 1, "Column": 38}
    assert matched["EndPosition"] == {"Line": 1, "Column": 167}
    assert result["MissingContextValues"] == []
    (without,) = iam.simulate_custom_policy(**request)["EvaluationResults"]
    assert (without["EvalDecision"], without["MissingContextValues"]) == ("implicitDeny", ["aws:CurrentTime"])


def test_decisions(iam: Any) -> None:
    allow, deny = document(statement("Allow", GET)), document(statement("Deny", GET))
    assert decision(iam, allow) == "allowed"
    assert decision(iam, allow, deny) == "explicitDeny"
    assert decision(iam, allow, ActionNames=[PUT]) == "implicitDeny"
    assert decision(iam, allow, PermissionsBoundaryPolicyInputList=[document(statement("Allow", PUT))]) == (
        "implicitDeny"
    )
    (bounded,) = custom(iam, allow, PermissionsBoundaryPolicyInputList=[document(statement("Allow", PUT))])
    assert bounded["PermissionsBoundaryDecisionDetail"] == {"AllowedByPermissionsBoundary": False}


def test_a_resource_policy_and_its_owner(iam: Any) -> None:
    caller = f"arn:aws:iam::{ACCOUNT}:user/bob"
    nothing = document(statement("Allow", "s3:GetObject"))
    policy = document(statement("Allow", GET, Principal={"AWS": caller}, Resource=TABLE))
    assert decision(iam, nothing, ResourcePolicy=policy, CallerArn=caller) == "allowed"
    assert decision(iam, nothing, ResourcePolicy=policy) == "implicitDeny"
    theirs = TABLE.replace(ACCOUNT, "999999999999")
    everything = document(statement("Allow", "*"))
    assert decision(iam, everything, ResourceArns=[theirs], CallerArn=caller) == "implicitDeny"
    open_to_him = policy.replace(TABLE, theirs)
    more = {"ResourceArns": [theirs], "CallerArn": caller, "ResourcePolicy": open_to_him}
    assert decision(iam, everything, **more) == "allowed"
    assert decision(iam, nothing, **more) == "implicitDeny"


def test_results_come_in_pages(iam: Any) -> None:
    request = {
        "PolicyInputList": [document(statement("Allow", GET))],
        "ActionNames": [GET, PUT],
        "ResourceArns": [f"{TABLE}{number}" for number in range(3)],
    }
    paginator = iam.get_paginator("simulate_custom_policy")
    results = list(
        paginator.paginate(**request, PaginationConfig={"PageSize": 2}).search("EvaluationResults")
    )
    assert [(result["EvalActionName"], result["EvalResourceName"][-1]) for result in results] == [
        (action, str(number)) for action in (GET, PUT) for number in range(3)
    ]
    assert [result["EvalDecision"] for result in results] == ["allowed"] * 3 + ["implicitDeny"] * 3
    with refused("InvalidInput", 400, "Marker"):
        iam.simulate_custom_policy(**request, Marker="%%%%")


def test_a_user_with_groups_a_boundary_and_conditions(iam: Any, name: str) -> None:
    user = iam.create_user(UserName=name)["User"]
    iam.create_group(GroupName=name)
    iam.add_user_to_group(GroupName=name, UserName=name)
    iam.put_group_policy(
        GroupName=name,
        PolicyName="own",
        PolicyDocument=document(statement("Allow", GET, Sid="OwnRows", Condition=OWN_ROWS)),
    )
    request = {"PolicySourceArn": user["Arn"], "ActionNames": [GET], "ResourceArns": [TABLE]}

    def simulated(**more: Any) -> Any:
        (result,) = iam.simulate_principal_policy(**request, **more)["EvaluationResults"]
        return result

    mine = simulated(ContextEntries=[entry("dynamodb:LeadingKeys", name, kind="stringList")])
    assert mine["EvalDecision"] == "allowed"
    assert [(one["SourcePolicyId"], one["SourcePolicyType"]) for one in mine["MatchedStatements"]] == [
        (f"group_{name}_own", "group")
    ]
    assert mine["ResourceSpecificResults"][0]["EvalResourceDecision"] == "allowed"
    theirs = simulated(ContextEntries=[entry("dynamodb:LeadingKeys", "other", kind="stringList")])
    assert (theirs["EvalDecision"], theirs["MatchedStatements"]) == ("implicitDeny", [])
    # Of a set operator over all values nothing is asked of a key that is not there.
    assert simulated()["MissingContextValues"] == ["dynamodb:LeadingKeys"]
    boundary = "arn:aws:iam::aws:policy/AmazonDynamoDBReadOnlyAccess"
    iam.put_user_permissions_boundary(UserName=name, PermissionsBoundary=boundary)
    added = iam.simulate_principal_policy(
        PolicySourceArn=user["Arn"],
        ActionNames=[PUT],
        ResourceArns=[TABLE],
        PolicyInputList=[document(statement("Allow", PUT))],
    )["EvaluationResults"][0]
    assert added["EvalDecision"] == "implicitDeny"
    assert added["PermissionsBoundaryDecisionDetail"] == {"AllowedByPermissionsBoundary": False}
    keys = iam.get_context_keys_for_principal_policy(PolicySourceArn=user["Arn"])["ContextKeyNames"]
    assert {"aws:username", "dynamodb:LeadingKeys"} <= set(keys)


def test_roles_and_groups(iam: Any, name: str) -> None:
    role = iam.create_role(RoleName=name, Path="/app/", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    group = iam.create_group(GroupName=name)["Group"]["Arn"]
    own = {"StringEquals": {"aws:PrincipalArn": role}}
    iam.put_role_policy(
        RoleName=name, PolicyName="p", PolicyDocument=document(statement("Allow", GET, Condition=own))
    )
    iam.attach_group_policy(GroupName=name, PolicyArn="arn:aws:iam::aws:policy/AmazonDynamoDBReadOnlyAccess")
    for arn in (role, group):
        (result,) = iam.simulate_principal_policy(
            PolicySourceArn=arn, ActionNames=[GET], ResourceArns=[TABLE]
        )["EvaluationResults"]
        assert result["EvalDecision"] == "allowed"


def test_the_keys_of_a_policy(iam: Any) -> None:
    policy = document(
        statement("Allow", GET, Condition={**OWN_ROWS, "IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}),
        statement("Deny", PUT, Resource="arn:aws:s3:::b/${aws:PrincipalTag/team, 'none'}/*"),
    )
    answer = iam.get_context_keys_for_custom_policy(PolicyInputList=[policy])
    assert answer["ContextKeyNames"] == [
        *("aws:PrincipalTag/team", "aws:SourceIp", "aws:username", "dynamodb:LeadingKeys")
    ]


@pytest.mark.parametrize(
    ("operation", "request_", "code"),
    [
        ("simulate_custom_policy", {"PolicyInputList": ["{}"], "ActionNames": [GET]}, "InvalidInput"),
        (
            "simulate_custom_policy",
            {"PolicyInputList": [document(statement("Allow", GET))], "ActionNames": ["nothing"]},
            "InvalidInput",
        ),
        (
            "simulate_principal_policy",
            {"PolicySourceArn": f"arn:aws:iam::{ACCOUNT}:user/not-there", "ActionNames": [GET]},
            "NoSuchEntity",
        ),
        (
            "simulate_principal_policy",
            {"PolicySourceArn": "arn:aws:iam::999999999999:user/theirs", "ActionNames": [GET]},
            "NoSuchEntity",
        ),
        (
            "simulate_principal_policy",
            {"PolicySourceArn": f"arn:aws:iam::{ACCOUNT}:policy/p", "ActionNames": [GET]},
            "InvalidInput",
        ),
        (
            "get_context_keys_for_principal_policy",
            {"PolicySourceArn": "arn:aws:s3:::not-an-identity"},
            "InvalidInput",
        ),
    ],
)
def test_what_cannot_be_simulated(iam: Any, operation: str, request_: Any, code: str) -> None:
    with refused(code, 404 if code == "NoSuchEntity" else 400):
        getattr(iam, operation)(**request_)


def test_positions_are_counted_in_lines(iam: Any) -> None:
    policy = json.dumps(json.loads(document(statement("Deny", PUT), statement("Allow", GET))), indent=1)
    (result,) = custom(iam, policy)
    (matched,) = result["MatchedStatements"]
    lines = policy.splitlines()
    start, end = matched["StartPosition"], matched["EndPosition"]
    assert lines[start["Line"] - 1][start["Column"] - 2] == "{"
    assert lines[end["Line"] - 1][end["Column"] - 2] == "}"
    assert "Allow" in "".join(lines[start["Line"] - 1 : end["Line"]])
    assert "Deny" not in "".join(lines[start["Line"] - 1 : end["Line"]])


def test_long_policies_have_short_pages(iam: Any) -> None:
    """However much is asked for, a request looks at a bounded number of statements."""
    long = document(*[statement("Allow", f"dynamodb:Action{number}") for number in range(1000)])
    request = {
        "PolicyInputList": [long],
        "ActionNames": [GET],
        "ResourceArns": [f"{TABLE}{number}" for number in range(60)],
    }
    first = iam.simulate_custom_policy(**request, MaxItems=1000)
    assert (len(first["EvaluationResults"]), first["IsTruncated"]) == (49, True)
    pages = iam.get_paginator("simulate_custom_policy").paginate(**request)
    assert len(pages.build_full_result()["EvaluationResults"]) == 60
    with refused("InvalidInput", 400, "too large"):
        custom(iam, *[long] * 9)
