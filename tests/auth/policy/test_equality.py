"""For random policies, requests and contexts the compiled engine decides as the plain evaluator does."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from auth.policy import plain_evaluator
from hashrange.auth.policy.decision import Rules, decide
from hashrange.auth.policy.documents import Kind, parse
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.keys import keys_of
from hashrange.auth.policy.residual import EVERYTHING, residual
from hashrange.auth.policy.statements import Asked

OURS, OTHERS = "111111111111", "222222222222"
ACTIONS = ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem", "dynamodb:BatchGetItem"]
ACTION_PATTERNS = [*ACTIONS, "*", "dynamodb:*", "dynamodb:Get*", "DYNAMODB:?etItem", "dynamodb:*Item", "s3:*"]
TABLE = f"arn:aws:dynamodb:us-east-1:{OURS}:table/"
RESOURCES = [TABLE + "orders", TABLE + "orders/index/by-date", TABLE + "alice", TABLE + "a*b"]
RESOURCE_PATTERNS = [
    *RESOURCES,
    "*",
    TABLE + "*",
    TABLE + "orders/*",
    TABLE + "?????s",
    TABLE + "${aws:username}",
    TABLE + "${aws:username, 'orders'}",
    TABLE + "a${*}b",
    f"arn:aws:dynamodb:*:{OURS}:table/or*s",
    "arn:*:dynamodb:*:*:*",
]
TEXTS = ["alice", "bob", "Alice", "a*b", "", "tenant#1", "tenant#12", "10", "10.0", "9", "true", "10.1.2.3"]
VALUES = [
    *TEXTS,
    *(
        "*",
        "a*",
        "?ob",
        "tenant#*",
        "${aws:username}",
        "${aws:missing}",
        "${aws:missing, 'bob'}",
        "${*}",
        "${$}",
    ),
    *(
        "${aws:username}#*",
        "10.1.0.0/16",
        "::1",
        "2026-01-01T00:00:00Z",
        "1767225600",
        "YWxpY2U=",
        TABLE + "*",
        "1E1",
    ),
]
KEYS = [
    "aws:username",
    "aws:PrincipalArn",
    "dynamodb:LeadingKeys",
    "dynamodb:Attributes",
    "aws:Missing",
    "aws:SourceIp",
]
OPERATORS = [
    *("StringEquals", "StringNotEquals", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", "StringLike"),
    *("StringNotLike", "NumericEquals", "NumericNotEquals", "NumericLessThan", "NumericGreaterThanEquals"),
    *(
        "DateEquals",
        "DateNotEquals",
        "DateLessThanEquals",
        "DateGreaterThan",
        "Bool",
        "BinaryEquals",
        "IpAddress",
    ),
    *("NotIpAddress", "ArnLike", "ArnNotLike", "ArnEquals", "ArnNotEquals"),
]
USER = f"arn:aws:iam::{OURS}:user/alice"
ROLE = f"arn:aws:iam::{OURS}:role/reader"
SESSION = f"arn:aws:sts::{OURS}:assumed-role/reader/work"
CALLERS = [
    {"account": OURS, "arn": USER},
    {"account": OURS, "arn": SESSION, "role": ROLE},
    {"account": OURS, "arn": f"arn:aws:iam::{OURS}:root", "root": "yes"},
    {"account": OTHERS, "arn": f"arn:aws:iam::{OTHERS}:user/eve"},
]
PRINCIPALS = [
    "*",
    OURS,
    f"arn:aws:iam::{OURS}:root",
    OTHERS,
    USER,
    ROLE,
    SESSION,
    f"arn:aws:iam::{OTHERS}:user/eve",
]


def some(values: list[str]) -> st.SearchStrategy[Any]:
    return st.one_of(st.sampled_from(values), st.lists(st.sampled_from(values), min_size=1, max_size=3))


operators = st.one_of(
    st.just("Null"),
    st.builds(
        lambda quantifier, operator, if_exists: quantifier + operator + if_exists,
        st.sampled_from(["", "", "ForAllValues:", "ForAnyValue:"]),
        st.sampled_from(OPERATORS),
        st.sampled_from(["", "IfExists"]),
    ),
)
conditions = st.dictionaries(
    operators, st.dictionaries(st.sampled_from(KEYS), some(VALUES), min_size=1, max_size=2), max_size=2
)


@st.composite
def statements(draw: st.DrawFn, *, principals: bool) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": draw(st.sampled_from(["Allow", "Allow", "Deny"]))}
    statement[draw(st.sampled_from(["Action", "Action", "NotAction"]))] = draw(some(ACTION_PATTERNS))
    statement[draw(st.sampled_from(["Resource", "Resource", "NotResource"]))] = draw(some(RESOURCE_PATTERNS))
    if principals:
        element = draw(st.one_of(st.just("*"), st.fixed_dictionaries({"AWS": some(PRINCIPALS)})))
        statement[draw(st.sampled_from(["Principal", "Principal", "NotPrincipal"]))] = element
    if draw(st.booleans()):
        statement["Condition"] = draw(conditions)
    return statement


def documents(*, principals: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda version, listed: version | {"Statement": listed},
        st.sampled_from(
            [{"Version": "2012-10-17"}, {"Version": "2012-10-17"}, {"Version": "2008-10-17"}, {}]
        ),
        st.lists(statements(principals=principals), min_size=1, max_size=3),
    )


single = st.dictionaries(
    st.sampled_from(["aws:username", "aws:PrincipalArn", "aws:SourceIp"]), st.sampled_from(TEXTS)
)
multiple = st.dictionaries(
    st.sampled_from(["dynamodb:LeadingKeys", "dynamodb:Attributes"]),
    st.lists(st.sampled_from(TEXTS), max_size=3).map(tuple),
)


@given(
    action=st.sampled_from(ACTIONS),
    resource=st.sampled_from(RESOURCES),
    caller=st.sampled_from(CALLERS),
    keys=st.builds(lambda one, many: {**one, **many}, single, multiple),
    identity=st.lists(documents(), max_size=2),
    boundary=st.none() | documents(),
    session=st.none() | st.lists(documents(), min_size=1, max_size=2),
    table=st.none() | documents(principals=True),
)
def test_the_compiled_engine_equals_the_plain_evaluator(
    action: str,
    resource: str,
    caller: dict[str, str],
    keys: dict[str, Any],
    identity: list[dict[str, Any]],
    boundary: dict[str, Any] | None,
    session: list[dict[str, Any]] | None,
    table: dict[str, Any] | None,
) -> None:
    def compiled(document: dict[str, Any], kind: Kind = Kind.IDENTITY) -> Any:
        return parse(json.dumps(document), kind, name="policy")

    rules = Rules(
        identity=[compiled(document) for document in identity],
        boundary=None if boundary is None else compiled(boundary),
        session=None if session is None else [compiled(document) for document in session],
        resource=None if table is None else compiled(table, Kind.RESOURCE),
        owner=OURS,
    )
    who = Caller(caller["account"], caller["arn"], caller.get("role"), is_root="root" in caller)
    asked = Asked(action, resource, who, keys_of(keys))
    plainly = plain_evaluator.allowed(
        {
            "action": action,
            "resource": resource,
            "caller": caller,
            "keys": {k.lower(): v for k, v in keys.items()},
        },
        identity=identity,
        boundary=boundary,
        session=session,
        resource=table,
        owner=OURS,
    )
    # Twice: the second time the statements of the action are remembered.
    assert [decide(asked, rules).allowed, decide(asked, rules).allowed] == [plainly, plainly]
    if table is None and caller["account"] == OURS:
        left = residual(action, resource, rules, is_root="root" in caller)
        assert (left is not None and left.allows(resource, asked.keys)) is plainly
        assert plainly or left is not EVERYTHING
