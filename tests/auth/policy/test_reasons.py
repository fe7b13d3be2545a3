"""Reasons: what is told of a decision is what was decided, with all that was missing, and bounded."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from hashrange.auth.policy import wording
from hashrange.auth.policy.context_keys import context_keys
from hashrange.auth.policy.decision import Rules, decide
from hashrange.auth.policy.documents import Kind, parse
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.positions import statement_positions
from hashrange.auth.policy.reasons import Reasons, Recorded, reasons
from hashrange.auth.policy.statements import Asked

CALLER = Caller("111122223333", "arn:aws:iam::111122223333:user/bob")
TABLE = "arn:aws:dynamodb:us-east-1:111122223333:table/orders"
GET = "dynamodb:GetItem"


def document(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def policy(*statements: dict[str, Any], name: str = "p", kind: Kind = Kind.IDENTITY) -> Policy:
    return parse(document(*statements), kind, name=name)


def allow(**elements: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": GET, "Resource": "*", **elements}


def told(rules: Rules, **keys: Any) -> Reasons:
    asked = Asked(GET, TABLE, CALLER, keys)
    return reasons(asked, rules, decide(asked, rules), Recorded(keys))


def words(rules: Rules, **keys: Any) -> str:
    return "\n".join(wording.lines(told(rules, **keys)))


def test_all_conditions_that_do_not_hold_are_told() -> None:
    conditions = {"StringEquals": {"aws:a": "1", "aws:b": "2", "aws:c": "3"}}
    reason = told(
        Rules([policy(allow(Sid="S", Condition=conditions))]), **{"aws:a": "1", "aws:b": ("x", "y")}
    )
    (considered,) = reason.considered
    assert [unmet.key for unmet in considered.unmet] == ["aws:b", "aws:c"]
    assert reason.condition_keys == {"aws:a": "1", "aws:b": ["x", "y"], "aws:c": None}
    text = "\n".join(wording.lines(reason))
    assert "StringEquals aws:b: 2 does not hold: the request has x, y; and" in text
    assert "StringEquals aws:c: 3 does not hold: the request has no such key." in text
    assert text.endswith(json.dumps({"Effect": "Allow", "Action": GET, "Resource": TABLE}))


def test_who_would_have_to_allow_it_is_told() -> None:
    mine, nothing = policy(allow()), policy(allow(Action="s3:GetObject"))
    assert "The caller's own policies are not enough: the permissions boundary must allow it" in words(
        Rules([mine], boundary=nothing)
    )
    assert "the session policy must allow it" in words(Rules([mine], session=[nothing]))
    assert "no identity-based policy allows it" in words(Rules([nothing]))
    assert "belongs to another account" in words(Rules([mine], owner="999999999999"))
    denial = policy({**allow(Sid="No"), "Effect": "Deny"}, name="closed")
    assert "by statement No of the identity-based policy closed." in words(Rules([mine, denial]))
    assert (
        words(Rules([mine])) == f"Allowed: {GET} on {TABLE}, by statement 1 of the identity-based policy p."
    )
    elsewhere = policy(allow(Resource=f"{TABLE}-2"))
    assert "allows the action, but not on this resource." in words(Rules([elsewhere]))
    theirs = policy(
        allow(Principal={"AWS": "arn:aws:iam::111122223333:user/eve"}), kind=Kind.RESOURCE, name="resource"
    )
    assert "not to this principal" in words(Rules([], resource=theirs))


def test_what_is_told_is_bounded() -> None:
    values = [f"{number}-" + "x" * 1000 for number in range(30)]
    conditions = {"ForAnyValue:StringEquals": {"dynamodb:LeadingKeys": values}}
    many = [allow(Sid=f"S{number}", Condition=conditions) for number in range(30)]
    reason = told(Rules([policy(*many)]), **{"dynamodb:leadingkeys": tuple("y" * 2000 for _ in range(30))})
    assert len(msgspec.json.encode(reason)) < 200_000
    assert msgspec.json.decode(msgspec.json.encode(reason), type=Reasons) == reason


texts = st.text(alphabet='"\\{}[],:ab\n', max_size=6)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.sampled_from([None, 1]), st.booleans())
def test_positions_are_those_of_the_statements(
    parts: list[tuple[str, str]], indent: int | None, first: bool
) -> None:
    """Whatever brackets and quotes stand in texts."""
    statements: list[dict[str, Any]] = [
        {"Sid": sid, "Condition": {"StringEquals": {"aws:x": [value, {"S": value}]}}} for sid, value in parts
    ]
    members: dict[str, Any] = {"Id": parts[0][0], "Statement": statements}
    if not first:
        members = dict(reversed(members.items()))
    text = json.dumps(members, indent=indent)
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    cut = [
        text[offsets[start.line - 1] + start.column - 2 : offsets[end.line - 1] + end.column - 1]
        for start, end in statement_positions(text)
    ]
    assert [json.loads(piece) for piece in cut] == statements


def test_keys_are_told_once_and_as_they_are_spelt() -> None:
    conditions = {"StringLike": {"aws:Referer": "${aws:userid}"}, "Null": {"AWS:referer": "true"}}
    text = document(allow(Condition=conditions, Resource="arn:aws:s3:::b/${*}${aws:username, 'x'}/${$}"))
    assert context_keys(text) == ["aws:Referer", "aws:userid", "aws:username"]
