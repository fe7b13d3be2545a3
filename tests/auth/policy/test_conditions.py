"""When a condition is true: operators, missing keys, sets of values."""

from typing import Any

import pytest

from auth.policy.asking import TABLE, allows, asked, holds

KEY = "aws:k"
ONE_VALUE = [
    ("StringEquals", "a", "a", True),
    ("StringEquals", "a", "A", False),
    ("StringEquals", "a*", "ab", False),
    ("StringEquals", "a*", "a*", True),
    ("StringEquals", ["a", "b"], "b", True),
    ("StringEquals", ["a", "b"], "c", False),
    ("StringEquals", [], "a", False),
    ("StringEquals", "", "", True),
    ("StringEquals", 5, "5", True),
    ("StringEquals", True, "true", True),
    ("stringequals", "a", "a", True),
    ("StringNotEquals", "a", "a", False),
    ("StringNotEquals", "a", "b", True),
    ("StringNotEquals", ["a", "b"], "b", False),
    ("StringNotEquals", ["a", "b"], "c", True),
    ("StringNotEquals", [], "a", True),
    ("StringEqualsIgnoreCase", "Alice", "aLICE", True),
    ("StringEqualsIgnoreCase", "Alice", "bob", False),
    ("StringNotEqualsIgnoreCase", "Alice", "aLICE", False),
    ("StringNotEqualsIgnoreCase", "Alice", "bob", True),
    ("StringLike", "a*", "ab", True),
    ("StringLike", "a*", "Ab", False),
    ("StringLike", "a?c", "abc", True),
    ("StringLike", "a?c", "ac", False),
    ("StringLike", "tenant#1#*", "tenant#12#x", False),
    ("StringLike", "*", "", True),
    ("StringLike", "${*}", "x", False),
    ("StringNotLike", "a*", "ab", False),
    ("StringNotLike", ["a*", "b*"], "c", True),
    ("StringNotLike", ["a*", "b*"], "bc", False),
    ("NumericEquals", "10", "10.0", True),
    ("NumericEquals", "10", "1E1", True),
    ("NumericEquals", 10, "10", True),
    ("NumericEquals", "10", "ten", False),
    ("NumericEquals", "ten", "ten", False),
    ("NumericEquals", "NaN", "NaN", False),
    ("NumericNotEquals", "10", "10.0", False),
    ("NumericNotEquals", "10", "11", True),
    ("NumericNotEquals", "10", "ten", True),
    ("NumericLessThan", "10", "9.99", True),
    ("NumericLessThan", "10", "10", False),
    ("NumericLessThanEquals", "10", "10", True),
    ("NumericLessThanEquals", "10", "10.0000000000000000000000000001", False),
    ("NumericGreaterThan", "10", "10", False),
    ("NumericGreaterThan", "10", "100", True),
    ("NumericGreaterThanEquals", "10", "10", True),
    ("NumericGreaterThanEquals", ["10", "20"], "15", True),
    ("NumericLessThan", "10", "9" * 100, False),
    ("DateEquals", "2026-01-01T00:00:00Z", "1767225600", True),
    ("DateEquals", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z", True),
    ("DateEquals", "2026-01-01", "2026-01-01T00:00:00Z", True),
    ("DateNotEquals", "2026-01-01T00:00:00Z", "1767225600", False),
    ("DateLessThan", "2026-01-01T00:00:00Z", "2025-12-31T23:59:59Z", True),
    ("DateLessThan", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", False),
    ("DateLessThanEquals", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", True),
    ("DateGreaterThan", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", True),
    ("DateGreaterThanEquals", "2026-01-01T00:00:00Z", "1767225600", True),
    ("DateGreaterThan", "yesterday", "2026-01-01T00:00:01Z", False),
    ("Bool", "true", "true", True),
    ("Bool", "true", "TRUE", True),
    ("Bool", True, "true", True),
    ("Bool", False, "true", False),
    ("Bool", "false", "true", False),
    ("BinaryEquals", "YWxpY2U=", "YWxpY2U=", True),
    ("BinaryEquals", "YWxpY2U=", "Ym9i", False),
    ("BinaryEquals", "not base64", "not base64", False),
    ("IpAddress", "10.1.0.0/16", "10.1.2.3", True),
    ("IpAddress", "10.1.0.0/16", "10.2.2.3", False),
    ("IpAddress", "10.1.2.3", "10.1.2.3", True),
    ("IpAddress", "10.1.2.3/16", "10.1.9.9", True),
    ("IpAddress", ["10.0.0.0/8", "::1"], "::1", True),
    ("IpAddress", "2001:db8::/32", "2001:db8::5", True),
    ("IpAddress", "0.0.0.0/0", "::1", False),
    ("IpAddress", "somewhere", "10.1.2.3", False),
    ("IpAddress", "10.1.0.0/16", "somewhere", False),
    ("NotIpAddress", "10.1.0.0/16", "10.1.2.3", False),
    ("NotIpAddress", "10.1.0.0/16", "10.2.2.3", True),
    ("ArnEquals", TABLE, TABLE, True),
    ("ArnEquals", "arn:aws:dynamodb:*:*:table/*", TABLE, True),
    ("ArnLike", "arn:aws:dynamodb:*:*:table/o?ders", TABLE, True),
    ("ArnLike", "arn:aws:dynamodb:*:table/orders", TABLE, False),
    ("ArnLike", "*", TABLE, False),
    ("ArnNotLike", "arn:aws:dynamodb:*:*:table/*", TABLE, False),
    ("ArnNotEquals", "arn:aws:dynamodb:*:*:table/old", TABLE, True),
    ("Null", "true", "x", False),
    ("Null", "false", "x", True),
    ("Null", False, "x", True),
    ("Null", ["true", "false"], "x", True),
]


@pytest.mark.parametrize(("operator", "expected", "value", "is_true"), ONE_VALUE)
def test_one_value_is_compared(operator: str, expected: Any, value: str, is_true: bool) -> None:
    request = asked(aws__k=value)
    assert holds(operator, KEY, expected, request) is is_true
    assert holds(operator, "AWS:K", expected, request) is is_true
    if operator.lower() != "null":
        assert holds(f"{operator}IfExists", KEY, expected, request) is is_true


MISSING_KEY = [
    *((operator, False) for operator in ("StringEquals", "StringLike", "NumericEquals", "NumericLessThan")),
    *(
        (operator, False)
        for operator in ("DateEquals", "DateGreaterThan", "Bool", "BinaryEquals", "IpAddress")
    ),
    *((operator, False) for operator in ("ArnEquals", "ArnLike", "StringEqualsIgnoreCase")),
    *((operator, True) for operator in ("StringNotEquals", "StringNotLike", "StringNotEqualsIgnoreCase")),
    *(
        (operator, True)
        for operator in ("NumericNotEquals", "DateNotEquals", "NotIpAddress", "ArnNotEquals", "ArnNotLike")
    ),
]


@pytest.mark.parametrize(("operator", "is_true"), MISSING_KEY)
def test_a_missing_key(operator: str, is_true: bool) -> None:
    """It equals nothing, so it differs from everything."""
    assert holds(operator, KEY, "1", asked()) is is_true
    assert holds(f"{operator}IfExists", KEY, "1", asked())
    assert holds(f"ForAllValues:{operator}", KEY, "1", asked())
    assert holds(f"ForAllValues:{operator}IfExists", KEY, "1", asked())
    assert not holds(f"ForAnyValue:{operator}", KEY, "1", asked())
    assert holds(f"ForAnyValue:{operator}IfExists", KEY, "1", asked())


def test_null_asks_for_a_missing_key() -> None:
    assert holds("Null", KEY, "true", asked())
    assert not holds("Null", KEY, "false", asked())


SETS = [
    # operator, values of the policy, values of the request, for all of them, for any of them
    ("StringEquals", ["a", "b"], ("a",), True, True),
    ("StringEquals", ["a", "b"], ("a", "b"), True, True),
    ("StringEquals", ["a", "b"], ("a", "c"), False, True),
    ("StringEquals", ["a", "b"], ("c", "d"), False, False),
    ("StringEquals", ["a"], (), True, False),
    ("StringEquals", ["a"], ("",), True, False),
    ("StringEquals", ["a"], ("", "b"), False, False),
    ("StringEquals", ["a"], ("", "a"), False, True),
    ("StringEquals", [], ("a",), False, False),
    ("StringNotEquals", ["a", "b"], ("a",), False, False),
    ("StringNotEquals", ["a", "b"], ("a", "c"), False, True),
    ("StringNotEquals", ["a", "b"], ("c", "d"), True, True),
    ("StringNotEquals", ["a"], (), True, False),
    ("StringLike", ["tenant#*"], ("tenant#1", "tenant#2"), True, True),
    ("StringLike", ["tenant#*"], ("tenant#1", "other"), False, True),
    ("StringNotLike", ["secret*"], ("name", "secretary"), False, True),
    ("StringNotLike", ["secret*"], ("name", "address"), True, True),
    ("NumericLessThan", ["10"], ("1", "9"), True, True),
    ("NumericLessThan", ["10"], ("1", "90"), False, True),
    ("IpAddress", ["10.0.0.0/8"], ("10.1.1.1", "11.1.1.1"), False, True),
    ("ArnLike", ["arn:aws:dynamodb:*:*:table/*"], (TABLE,), True, True),
]


@pytest.mark.parametrize(("operator", "expected", "values", "for_all", "for_any"), SETS)
def test_sets_of_values(
    operator: str, expected: list[str], values: tuple[str, ...], for_all: bool, for_any: bool
) -> None:
    request = asked(aws__k=values)
    assert holds(f"ForAllValues:{operator}", KEY, expected, request) is for_all
    assert holds(f"ForAnyValue:{operator}", KEY, expected, request) is for_any
    assert holds(f"forallvalues:{operator}", KEY, expected, request) is for_all


@pytest.mark.parametrize(
    "operator", ["StringEquals", "StringNotEquals", "StringLike", "StringEqualsIfExists"]
)
def test_without_a_set_operator_nothing_is_true_of_a_multivalued_key(operator: str) -> None:
    """However many values the request has: the arity is the key's."""
    assert not holds(operator, KEY, "a", asked(aws__k=("a",)))
    assert not holds(operator, KEY, "b", asked(aws__k=("a",)))


def test_a_set_operator_takes_a_single_value_for_a_set_of_one() -> None:
    assert holds("ForAllValues:StringEquals", KEY, "a", asked(aws__k="a"))
    assert not holds("ForAnyValue:StringEquals", KEY, "a", asked(aws__k="b"))


VARIABLES = [
    ("StringEquals", "${aws:username}", "alice", True),
    ("StringEquals", "${aws:username}", "bob", False),
    ("StringEquals", "${aws:username}", "${aws:username}", False),
    ("StringLike", "${aws:username}#*", "alice#1", True),
    ("StringLike", "${aws:username}#*", "bob#1", False),
    ("StringEqualsIgnoreCase", "${aws:username}", "ALICE", True),
    ("ArnLike", "arn:aws:iam::1:user/${aws:username}", "arn:aws:iam::1:user/alice", True),
    ("Bool", "${aws:flag, 'true'}", "true", True),
    ("StringEquals", "${aws:unknown}", "", False),
    ("StringNotEquals", "${aws:unknown}", "x", True),
    ("StringEquals", "${aws:unknown, 'x'}", "x", True),
    # In numbers, dates and addresses they have no meaning.
    ("NumericEquals", "${aws:number}", "5", False),
]


@pytest.mark.parametrize(("operator", "expected", "value", "is_true"), VARIABLES)
def test_variables_in_values(operator: str, expected: str, value: str, is_true: bool) -> None:
    request = asked(aws__k=value, aws__username="alice", aws__number="5")
    assert holds(operator, KEY, expected, request) is is_true


def test_all_operators_and_all_keys_must_hold() -> None:
    request = asked(aws__k="a", aws__l="b")
    assert not holds("StringEquals", KEY, "x", request)
    both = {"StringEquals": {"aws:k": "a", "aws:l": "b"}, "StringLike": {"aws:k": "*"}}
    assert allows(request, Condition=both)
    assert not allows(request, Condition=both | {"Null": {"aws:k": "true"}})
    assert not allows(request, Condition={"StringEquals": {"aws:k": "a", "aws:l": "c"}})
