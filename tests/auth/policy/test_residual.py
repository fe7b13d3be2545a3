"""What is left of a decision once action and resource are known."""

from typing import Any

from auth.policy.asking import TABLE, policy, statement
from hashrange.auth.policy.decision import Rules
from hashrange.auth.policy.documents import Kind
from hashrange.auth.policy.keys import keys_of
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.residual import EVERYTHING, Residual, residual

GET = "dynamodb:GetItem"
ALICES = {"StringEquals": {"aws:username": "alice"}}


def left(*statements: dict[str, Any], is_root: bool = False, **rules: Any) -> Residual | None:
    return residual(GET, TABLE, Rules([policy(*statements)] if statements else [], **rules), is_root=is_root)


def remaining(*statements: dict[str, Any], **rules: Any) -> Residual:
    found = left(*statements, **rules)
    assert found is not None
    return found


def test_nothing_is_left_of_what_is_always_allowed() -> None:
    assert remaining(statement(Condition=ALICES), statement()) is EVERYTHING
    assert remaining(is_root=True) is EVERYTHING


def test_what_nobody_grants_stays_denied() -> None:
    assert not remaining().allows(TABLE, keys_of({}))
    assert not remaining(statement(Action="dynamodb:PutItem")).allows(TABLE, keys_of({}))
    assert not remaining(statement(), boundary=policy(statement(Action="s3:*"))).allows(TABLE, keys_of({}))
    assert not remaining(statement(), session=[]).allows(TABLE, keys_of({}))


def test_what_is_always_denied_and_what_the_resource_says_is_left_to_the_engine() -> None:
    assert left(statement(), statement("Deny")) is None
    about_everybody = policy(statement(Principal="*"), kind=Kind.RESOURCE)
    assert left(statement(), resource=about_everybody) is None


def test_conditions_are_left() -> None:
    mine = remaining(statement(Condition=ALICES))
    assert mine is not EVERYTHING
    assert mine.allows(TABLE, keys_of({"aws:username": "alice"}))
    assert not mine.allows(TABLE, keys_of({"aws:username": "bob"}))
    not_mine = remaining(statement(), statement("Deny", Condition=ALICES))
    assert not not_mine.allows(TABLE, keys_of({"aws:username": "alice"}))
    assert not_mine.allows(TABLE, keys_of({"aws:username": "bob"}))


def test_a_resource_with_a_variable_is_left() -> None:
    named = remaining(statement(Resource=TABLE.replace("orders", "${aws:username}")))
    assert named.allows(TABLE, keys_of({"aws:username": "orders"}))
    assert not named.allows(TABLE, keys_of({"aws:username": "others"}))


def test_policies_remember_no_names_that_cannot_be() -> None:
    """A client may ask for a table whose name is as long as a request."""
    everything = Policy("everything", policy(statement()).statements)
    for number in range(2_000):
        everything.about(GET, f"{TABLE}-{number}")
        everything.about(GET, f"{TABLE}-{number}" + "x" * 2_000)
    remembered = everything._remembered
    assert len(remembered) <= 512
    assert max(len(resource) for _, resource in remembered) < 1_100
