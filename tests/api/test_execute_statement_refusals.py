"""ExecuteStatement, refusing: statements, parameters and members that cannot be, in the service's words."""

from typing import Any

import pytest

from item_tables import invalid, refused
from partiql_calls import WELL_FORMED, Statements

FAILED = "failed to satisfy constraint"
ENUM = "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
WRONG_TYPE = "Incorrect operand type for operator or function; operator or function: "


@pytest.fixture(scope="module")
def songs(client: Any, range_table: str) -> Statements:
    return Statements(client, range_table)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("n > true", WRONG_TYPE + ">, operand type: BOOL"),
        ("n <= null", WRONG_TYPE + "<=, operand type: NULL"),
        ("n < <<1>>", WRONG_TYPE + "<, operand type: NS"),
        ("n >= [1]", WRONG_TYPE + ">=, operand type: L"),
        ("n BETWEEN 1 AND {'a': 1}", WRONG_TYPE + "BETWEEN, operand type: M"),
        ("attribute_exists(n) > false", WRONG_TYPE + ">, operand type: BOOL"),
        ("begins_with(flag, 1)", WRONG_TYPE + "begins_with, operand type: N"),
        ("attribute_type(l, 1)", WRONG_TYPE + "attribute_type, operand type: N"),
        ("attribute_type(l, true)", WRONG_TYPE + "attribute_type, operand type: BOOL"),
        (
            "attribute_type(n, 'X')",
            "Invalid attribute type name found; type: X, valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}",
        ),
        ("n > -flag", "Unsupported operator in Condition Expression. Operator: -"),
        ("n + 1 > 1", "Unsupported operator in Condition Expression. Operator: +"),
        (
            "s = <<'a', 'a'>>",
            "One or more parameter values were invalid: Input collection [a, a] contains duplicates.",
        ),
        ("s = <<>>", "Empty bags are not supported"),
        (
            "s = <<1, 'a'>>",
            "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags",
        ),
    ],
)
def test_operands_are_checked_before_the_table_is_looked_for(client: Any, where: str, message: str) -> None:
    statement = f"SELECT * FROM nowhere WHERE pk = 'x' AND {where}"
    assert invalid(client.execute_statement, Statement=statement) == message


def test_a_parameter_is_checked_like_a_literal(songs: Statements) -> None:
    assert (
        songs.invalid("SELECT * FROM {t} WHERE n > ?", {"BOOL": True}) == WRONG_TYPE + ">, operand type: BOOL"
    )
    assert songs.invalid("SELECT * FROM {t} WHERE pk = ?") == (
        "Number of parameters in request and statement don't match."
    )
    assert songs.invalid("SELECT * FROM {t}", {"S": "x"}) == (
        "Number of parameters in request and statement don't match."
    )
    assert songs.invalid("SELECT WHERE", {"SS": ["a", "a"]}) == (
        "One or more parameter values were invalid: Input collection [a, a] contains duplicates."
    )
    assert songs.keys("pk = 'nothing' AND x = ?", {"NS": ["1", "2"]}) == []


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("1e126", OVERFLOW),
        ("1e2147483647", UNDERFLOW),
        ("1e2147483648", "The parameter cannot be converted to a numeric value: 1e2147483648"),
        ("1e-2147483647", UNDERFLOW),
        ("1e-2147483648", "The parameter cannot be converted to a numeric value: 1e-2147483648"),
        (
            "1e99999999999999999999",
            "The parameter cannot be converted to a numeric value: 1e99999999999999999999",
        ),
        ("x", "The parameter cannot be converted to a numeric value: x"),
        ("1" * 39, "Attempting to store more than 38 significant digits in a Number"),
    ],
)
def test_numbers_have_an_exponent_of_32_bits(songs: Statements, number: str, message: str) -> None:
    for parameter in ({"N": number}, {"NS": [number]}, {"L": [{"M": {"a": {"N": number}}}]}):
        assert songs.invalid("SELECT * FROM {t} WHERE n = ?", parameter) == message
    if "parameter" in message and number != "x":
        assert songs.invalid(f"SELECT * FROM {{t}} WHERE n = {number}") == WELL_FORMED


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SLECT * FROM t", WELL_FORMED + "Expected data manipulation"),
        ("UPDATE a-b SET x = 1 WHERE pk = 'x'", WELL_FORMED + "Expected data manipulation"),
        ("INSERT INTO urls (key, other) VALUES (?, ?)", WELL_FORMED + "Unexpected keyword"),
        ("SELECT * FROM {t} WHERE pk = 'x' garbage", WELL_FORMED + "Unexpected token after expression"),
        (
            "SELECT * FROM {t}; SELECT * FROM {t}",
            WELL_FORMED + "Unexpected token after semicolon. (Only one query is allowed.)",
        ),
        ("INSERT INTO {t} (pk, sk) VALUES ('a', 'b')", WELL_FORMED + "Unexpected token after expression"),
        (
            "SELECT * FROM {t} WHERE pk LIKE 'a%'",
            "Unsupported operator in Condition Expression. Operator: like",
        ),
        ("SELECT * FROM {t} other WHERE pk = 'x'", "Aliasing is not supported"),
        ("SELECT * FROM {t} /* open", WELL_FORMED),
        ("SELECT * FROM {t} # no comment", WELL_FORMED),
        ("SELECT COUNT(*) FROM {t}", "Unexpected path component at 1:8:5"),
        ("SELECT l[-1] FROM {t}", "List index is not within the allowable range; index: [-1] at 1:11:1"),
        ('SELECT * FROM "" WHERE pk = 1', "Path component cannot be an empty string"),
        ('SELECT * FROM {t}."" WHERE pk = 1', "Path component cannot be an empty string"),
        ('SELECT * FROM {t}."a"."b"', "A path may contain at most 2 components in the FROM clause"),
        (
            "EXISTS(SELECT * FROM {t} WHERE pk = 'x' AND sk = '1' AND a = 1)",
            "EXISTS can only be used in ExecuteTransaction write requests.",
        ),
    ],
)
def test_statements_that_cannot_be_read(songs: Statements, statement: str, message: str) -> None:
    assert songs.invalid(statement) == message


def test_hostile_nesting_is_refused(songs: Statements) -> None:
    assert songs.invalid("SELECT * FROM {t} WHERE " + "(" * 3000 + "a = 1" + ")" * 3000) == WELL_FORMED
    assert songs.invalid("SELECT * FROM {t} WHERE " + "NOT " * 1500 + "a = 1") == WELL_FORMED


def test_unknown_tables_and_indexes(client: Any, songs: Statements) -> None:
    assert refused(client.execute_statement, Statement="SELECT * FROM nowhere") == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )
    assert songs.invalid('SELECT * FROM {t}."none"') == "The table does not have the specified index"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"Limit": 0},
            "Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
        ),
        (
            {"Parameters": []},
            f"Value '[]' at 'parameters' {FAILED}: Member must have length greater than or equal to 1",
        ),
        (
            {"ReturnConsumedCapacity": "x"},
            f"Value 'x' at 'returnConsumedCapacity' {FAILED}: {ENUM}",
        ),
        (
            {"Statement": ""},
            "Value '' at 'statement' failed to satisfy constraint: Member must have length greater than or equal to 1",
        ),
    ],
)
def test_members_are_checked_first(client: Any, more: dict[str, Any], message: str) -> None:
    request = {"Statement": "SELECT * FROM nowhere", **more}
    assert invalid(client.execute_statement, **request) == f"1 validation error detected: {message}"
