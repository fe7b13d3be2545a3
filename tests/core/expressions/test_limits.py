"""Both sides of every limit of an expression, and text made to hurt."""

import pytest

from hashrange.core import limits
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Binder, ConditionKind, matches
from hashrange.core.expressions.reserved import RESERVED_WORDS

VALUES = {":n": {"N": "1"}, ":s": {"S": "a"}}
TOO_MANY = "The expression contains too many operators; operator count: 301"


def refusal(text: str, kind: ConditionKind = "FilterExpression") -> str | None:
    try:
        Binder(None, VALUES).condition(kind, text)
    except Invalid as invalid:
        return invalid.message.removeprefix(f"Invalid {kind}: ")
    return None


def update_refusal(text: str) -> str | None:
    try:
        Binder(None, VALUES).update(text)
    except Invalid as invalid:
        return invalid.message.removeprefix("Invalid UpdateExpression: ")
    return None


def name_of(length: int) -> str:
    return "a" * length


def test_an_expression_may_have_4096_bytes() -> None:
    assert refusal(f"{name_of(4096 - 5)} = :n") is None
    assert update_refusal(f"REMOVE {name_of(4096 - 7)}") is None


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("FilterExpression", " expression size: 4097"),
        ("ConditionExpression", " expression size: 4097"),
        ("KeyConditionExpression", ""),
    ],
)
def test_a_longer_condition_is_refused(kind: ConditionKind, told: str) -> None:
    text = f"{name_of(4097 - 5)} = :n"
    assert refusal(text, kind) == f"Expression size has exceeded the maximum allowed size;{told}"


def test_a_longer_update_or_projection_is_refused() -> None:
    message = "Expression size has exceeded the maximum allowed size;"
    assert update_refusal(f"REMOVE {name_of(4097 - 7)}") == message
    with pytest.raises(Invalid, match=f"Invalid ProjectionExpression: {message}"):
        Binder(None, None).projection(name_of(4097))


def test_size_counts_bytes_and_comes_before_syntax() -> None:
    assert refusal("é" * 2048) == 'Syntax error; token: "é", near: "éé"'
    assert (
        refusal("é" * 2049) == "Expression size has exceeded the maximum allowed size; expression size: 4098"
    )


def test_an_empty_expression_is_refused() -> None:
    assert refusal("") == "The expression can not be empty;"
    assert update_refusal("") == "The expression can not be empty;"
    assert refusal(" ") == 'Syntax error; token: "<EOF>", near: " "'


@pytest.mark.parametrize(
    ("term", "joined_by", "fits"),
    [
        ("x=:n", " OR ", 150),
        ("NOT x=:n", " OR ", 100),
        ("x BETWEEN :n AND :n", " OR ", 150),
        ("x IN (:n,:n)", " OR ", 150),
        ("(x=:n)", " AND ", 150),
        ("contains(x,:s)", " OR ", 150),
        ("size(x)=:n", " OR ", 100),
    ],
)
def test_300_operators_and_functions(term: str, joined_by: str, fits: int) -> None:
    assert refusal(joined_by.join([term] * fits)) is None
    assert refusal(joined_by.join([term] * (fits + 1))) == TOO_MANY


def test_300_operators_in_an_update() -> None:
    assert update_refusal("SET " + ",".join(f"a{at}=x+y" for at in range(300))) is None
    assert update_refusal("SET " + ",".join(f"a{at}=x+y" for at in range(301))) == TOO_MANY
    # Assignments are not operators.
    assert update_refusal("SET " + ",".join(f"a{at}=:n" for at in range(320))) is None


def test_100_candidates_of_in() -> None:
    assert refusal(f"x IN ({','.join([':n'] * limits.IN_OPERANDS_MAX)})") is None
    too_many = f"x IN ({','.join([':n'] * (limits.IN_OPERANDS_MAX + 1))})"
    assert refusal(too_many) == "The IN operator is provided with too many operands; number of operands: 101"


def test_list_indexes_have_31_bits() -> None:
    assert refusal("a[2147483647] = :n") is None
    assert (
        refusal("a[2147483648] = :n") == "List index is not within the allowable range; index: [2147483648]"
    )


def test_573_words_are_reserved_in_any_case() -> None:
    assert len(RESERVED_WORDS) == 573
    keywords = {"AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"}
    for word in sorted(RESERVED_WORDS - keywords):
        for written in (word, word.lower(), word.capitalize()):
            assert (
                refusal(f"{written} = :n")
                == f"Attribute name is a reserved keyword; reserved keyword: {written}"
            )
            assert "reserved" in (update_refusal(f"SET a.{written} = :n") or "")
    assert Binder({"#name": "name"}, VALUES).condition("FilterExpression", "#name = :n").attributes == {
        "name"
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" * 4096, 'Syntax error; token: "<EOF>", near: "("'),
        ("(" * 2046 + "a<b" + ")" * 2046, "The expression has redundant parentheses;"),
        ("a < " + "f(" * 1355 + "b" + ")" * 1355, "Invalid function name; function: f"),
        ("not " * 1000 + "a<b", TOO_MANY),
        ("a<b " + "or (a<b " * 454 + ")" * 454, TOO_MANY),
        ("a = " + "((" * 1000, 'Syntax error; token: "<EOF>", near: "("'),
        ("a" + "[0]" * 1360, 'Syntax error; token: "<EOF>", near: "]"'),
    ],
)
def test_deep_text_is_answered(text: str, message: str) -> None:
    assert refusal(text) == message


def test_deep_conditions_within_the_limit_are_tested() -> None:
    deep = "a<b " + "or (a<b " * 149 + ")" * 149
    condition = Binder(None, None).condition("ConditionExpression", deep)
    item = {"a": {"N": "1"}, "b": {"N": "2"}}
    assert matches(condition, item)
    negated = "NOT (" * 299 + "a<b" + ")" * 299
    assert not matches(Binder(None, None).condition("ConditionExpression", negated), item)
