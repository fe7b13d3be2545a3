"""How policies are put together: within one account and across two."""

from typing import Any

import pytest

from auth.policy.asking import (
    ALICE,
    EVE,
    OTHERS,
    OURS,
    READER,
    ROLE,
    ROOT,
    SESSION,
    STRANGER,
    TABLE,
    USER,
    asked,
    decided,
    policy,
    statement,
)
from hashrange.auth.policy.decision import PolicyType, Rules, decide
from hashrange.auth.policy.documents import Kind
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.policy import Policy, unusable
from hashrange.auth.policy.refusals import refusal

ALLOW, DENY = policy(statement()), policy(statement("Deny"))
ELSEWHERE = policy(statement(Action="s3:*"))


def table_policy(principal: Any, effect: str = "Allow", **elements: Any) -> Policy:
    return policy(statement(effect, Principal=principal, **elements), kind=Kind.RESOURCE)


def everybody_who_is(arn: str) -> Policy:
    return table_policy("*", Condition={"ArnEquals": {"aws:PrincipalArn": arn}})


NAMED = {"AWS": USER}
DECISIONS: list[tuple[str, Caller, Rules, bool]] = [
    ("nothing applies", ALICE, Rules(), False),
    ("an identity policy allows", ALICE, Rules([ALLOW]), True),
    ("one of several allows", ALICE, Rules([ELSEWHERE, ALLOW]), True),
    ("none of several allows", ALICE, Rules([ELSEWHERE, ELSEWHERE]), False),
    ("a denial outweighs", ALICE, Rules([ALLOW, DENY]), False),
    ("a denial outweighs in any order", ALICE, Rules([DENY, ALLOW]), False),
    ("a boundary allows", ALICE, Rules([ALLOW], ALLOW), True),
    ("a boundary does not allow", ALICE, Rules([ALLOW], ELSEWHERE), False),
    ("a boundary denies", ALICE, Rules([ALLOW], DENY), False),
    ("a boundary alone", ALICE, Rules([], ALLOW), False),
    ("a session policy allows", READER, Rules([ALLOW], None, [ALLOW]), True),
    ("one of two session policies allows", READER, Rules([ALLOW], None, [ELSEWHERE, ALLOW]), True),
    ("a session policy does not allow", READER, Rules([ALLOW], None, [ELSEWHERE]), False),
    ("a session without any allowed policy", READER, Rules([ALLOW], None, []), False),
    ("a session policy denies", READER, Rules([ALLOW], None, [ALLOW, DENY]), False),
    ("a session policy alone", READER, Rules([], None, [ALLOW]), False),
    ("boundary and session allow", READER, Rules([ALLOW], ALLOW, [ALLOW]), True),
    ("boundary allows, session does not", READER, Rules([ALLOW], ALLOW, [ELSEWHERE]), False),
    # A resource policy of the same account.
    ("the table names the user", ALICE, Rules(resource=table_policy(NAMED)), True),
    ("the table names another", ALICE, Rules(resource=table_policy({"AWS": ROLE})), False),
    ("the table names the account", ALICE, Rules(resource=table_policy({"AWS": OURS})), False),
    (
        "the account, and an identity policy",
        ALICE,
        Rules([ALLOW], resource=table_policy({"AWS": OURS})),
        True,
    ),
    ("the table names everybody", ALICE, Rules(resource=table_policy("*")), True),
    ("the user in spite of a boundary", ALICE, Rules([], ELSEWHERE, resource=table_policy(NAMED)), True),
    ("not in spite of a boundary's denial", ALICE, Rules([], DENY, resource=table_policy(NAMED)), False),
    ("everybody within the boundary", ALICE, Rules([], ELSEWHERE, resource=table_policy("*")), False),
    ("everybody who is this user", ALICE, Rules([], ELSEWHERE, resource=everybody_who_is(USER)), True),
    ("everybody who is another", ALICE, Rules([], ELSEWHERE, resource=everybody_who_is(STRANGER)), False),
    ("the role", READER, Rules(resource=table_policy({"AWS": ROLE})), True),
    (
        "the role within the boundary",
        READER,
        Rules([], ELSEWHERE, resource=table_policy({"AWS": ROLE})),
        False,
    ),
    ("the role within the session", READER, Rules([], None, [ELSEWHERE], table_policy({"AWS": ROLE})), False),
    ("the role, the session allows", READER, Rules([], None, [ALLOW], table_policy({"AWS": ROLE})), True),
    ("the session by name", READER, Rules([], ELSEWHERE, [ELSEWHERE], table_policy({"AWS": SESSION})), True),
    ("the table denies", ALICE, Rules([ALLOW], resource=table_policy(NAMED, "Deny")), False),
    ("the table denies everybody", ALICE, Rules([ALLOW], resource=table_policy("*", "Deny")), False),
    ("the table denies another", ALICE, Rules([ALLOW], resource=table_policy({"AWS": ROLE}, "Deny")), True),
    (
        "the table denies the account",
        ALICE,
        Rules([ALLOW], resource=table_policy({"AWS": OURS}, "Deny")),
        False,
    ),
    # The root of the account.
    ("root needs no policy", ROOT, Rules(), True),
    ("root is denied by the table", ROOT, Rules(resource=table_policy({"AWS": OURS}, "Deny")), False),
    ("root of another account", ROOT, Rules(owner=OTHERS), False),
    ("root, admitted", ROOT, Rules(resource=table_policy({"AWS": OURS}), owner=OTHERS), True),
    # A role or a key, whose policy must say something in any case.
    ("no trust", ALICE, Rules([ALLOW], must_grant=True), False),
    ("trust in another", ALICE, Rules([ALLOW], resource=table_policy({"AWS": ROLE}), must_grant=True), False),
    ("trust in the user", ALICE, Rules(resource=table_policy(NAMED), must_grant=True), True),
    ("trust in the account", ALICE, Rules(resource=table_policy({"AWS": OURS}), must_grant=True), False),
    ("both", ALICE, Rules([ALLOW], resource=table_policy({"AWS": OURS}), must_grant=True), True),
    ("no trust in root", ROOT, Rules(resource=table_policy(NAMED), must_grant=True), False),
    ("trust in root", ROOT, Rules(resource=table_policy({"AWS": OURS}), must_grant=True), True),
    # A resource of another account.
    ("across: nobody allows", EVE, Rules(owner=OURS), False),
    ("across: only the caller's side", EVE, Rules([ALLOW], owner=OURS), False),
    (
        "across: only the table's side",
        EVE,
        Rules(resource=table_policy({"AWS": STRANGER}), owner=OURS),
        False,
    ),
    ("across: both", EVE, Rules([ALLOW], resource=table_policy({"AWS": STRANGER}), owner=OURS), True),
    ("across: the account", EVE, Rules([ALLOW], resource=table_policy({"AWS": OTHERS}), owner=OURS), True),
    ("across: everybody", EVE, Rules([ALLOW], resource=table_policy("*"), owner=OURS), True),
    ("across: boundary", EVE, Rules([ALLOW], ELSEWHERE, resource=table_policy("*"), owner=OURS), False),
    ("across: session", EVE, Rules([ALLOW], None, [ELSEWHERE], table_policy("*"), owner=OURS), False),
    ("across: denied there", EVE, Rules([ALLOW], resource=table_policy("*", "Deny"), owner=OURS), False),
    ("across: denied here", EVE, Rules([ALLOW, DENY], resource=table_policy("*"), owner=OURS), False),
]


@pytest.mark.parametrize(
    ("caller", "rules", "expected"), [row[1:] for row in DECISIONS], ids=[row[0] for row in DECISIONS]
)
def test_policies_are_put_together(caller: Caller, rules: Rules, expected: bool) -> None:
    principal_arn = caller.role_arn or caller.arn
    assert decide(asked(caller=caller, aws__principalarn=principal_arn), rules).allowed is expected


NOT_PRINCIPAL = [
    (ALICE, {"AWS": [USER, OURS]}, True),
    (ALICE, {"AWS": [USER]}, False),
    (ALICE, {"AWS": [OURS]}, False),
    (READER, {"AWS": [SESSION, ROLE, OURS]}, True),
    (READER, {"AWS": [ROLE, OURS]}, False),
    (EVE, {"AWS": [USER, OURS]}, False),
    (ROOT, {"AWS": OURS}, True),
    (ALICE, "*", True),
]


@pytest.mark.parametrize(("caller", "element", "spared"), NOT_PRINCIPAL)
def test_a_denial_with_not_principal_spares_who_is_listed_in_full(
    caller: Caller, element: Any, spared: bool
) -> None:
    denial = policy(statement("Deny", NotPrincipal=element), kind=Kind.RESOURCE)
    grant = policy(statement(Principal="*"), kind=Kind.RESOURCE)
    both = Policy("both", [*denial.statements, *grant.statements])
    rules = Rules([ALLOW], resource=both, owner=OURS)
    assert decide(asked(caller=caller), rules).allowed is spared


def test_a_policy_that_cannot_be_read_allows_nothing() -> None:
    assert not decide(asked(), Rules([ALLOW, unusable("broken")])).allowed


def test_the_decision_says_what_decided() -> None:
    granted = decided(
        asked(), statement(Sid="Other", Action="s3:*"), statement(Sid="Reads", Action="dynamodb:Get*")
    )
    assert granted.statement is not None
    assert (granted.allowed, granted.type, granted.statement.name) == (True, PolicyType.IDENTITY, "Reads")
    denied = decided(asked(), statement(), statement("Deny"))
    assert denied.statement is not None
    assert (denied.allowed, denied.explicit, denied.statement.name) == (False, True, "2")


MANAGED = policy(statement("Deny"), arn=f"arn:aws:iam::{OURS}:policy/no-reads")
BEGIN = f"User: {USER} is not authorized to perform: dynamodb:GetItem on resource: {TABLE}"
REFUSALS = [
    (ALICE, Rules(), "because no identity-based policy allows the dynamodb:GetItem action"),
    (ALICE, Rules([DENY]), "with an explicit deny in an identity-based policy"),
    (
        ALICE,
        Rules([MANAGED]),
        f"with an explicit deny in an identity-based policy: arn:aws:iam::{OURS}:policy/no-reads",
    ),
    (ALICE, Rules([ALLOW], ELSEWHERE), "because no permissions boundary allows the dynamodb:GetItem action"),
    (ALICE, Rules([ALLOW], DENY), "with an explicit deny in a permissions boundary"),
    (
        ALICE,
        Rules([ALLOW], None, [ELSEWHERE]),
        "because no session policy allows the dynamodb:GetItem action",
    ),
    (ALICE, Rules([ALLOW], None, [DENY]), "with an explicit deny in a session policy"),
    (
        ALICE,
        Rules([ALLOW], resource=table_policy("*", "Deny")),
        "with an explicit deny in a resource-based policy",
    ),
    (
        ALICE,
        Rules([ALLOW], owner=OTHERS),
        "because no resource-based policy allows the dynamodb:GetItem action",
    ),
]


@pytest.mark.parametrize(("caller", "rules", "tail"), REFUSALS)
def test_a_refusal_names_the_type_of_policy(caller: Caller, rules: Rules, tail: str) -> None:
    request = asked(caller=caller)
    assert refusal(request, decide(request, rules)) == f"{BEGIN} {tail}"


def test_a_session_is_named_by_its_own_arn() -> None:
    request = asked("dynamodb:ListTables", resource="*", caller=READER)
    assert refusal(request, decide(request, Rules())) == (
        f"User: {SESSION} is not authorized to perform: dynamodb:ListTables "
        "because no identity-based policy allows the dynamodb:ListTables action"
    )
