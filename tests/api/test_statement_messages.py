"""Answers of the service to PartiQL statements, as they were recorded in September and October 2026."""

from typing import Any

import pytest

from item_tables import index, make_table, unique
from partiql_calls import WELL_FORMED, Statements

LEFTOVER = WELL_FORMED + "Unexpected token after expression"
ALIASING = "Aliasing is not supported"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
DIGITS = "Attempting to store more than 38 significant digits in a Number"
UNCONVERTIBLE = "The parameter cannot be converted to a numeric value"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
MULTI = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys "
    "or multi-attribute RANGE keys."
)
NEEDS_KEY = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
OVERLAP = "Overlapping conditions with range keys are not supported in where clause"


@pytest.fixture(scope="module")
def songs(client: Any, range_table: str) -> Statements:
    return Statements(client, range_table)


@pytest.fixture(scope="module")
def numbered(client: Any) -> Statements:
    return Statements(client, make_table(client, "pk", types={"pk": "N"}))


@pytest.fixture
def pk(songs: Statements) -> str:
    name = unique()
    for sk in "123":
        songs.put(pk=name, sk=sk, x=sk, ss={"SS": ["a"]}, m={"M": {"inner": {"SS": ["x"]}}})
    return name


def position(statement: str, token: str, length: int | None = None) -> str:
    """Where a token stands in a statement of one line."""
    return f"1:{statement.index(token) + 1}:{len(token) if length is None else length}"


# Row 1: alternatives that negate the sort key may overlap others.


@pytest.mark.parametrize(
    ("negation", "found"),
    [
        ("NOT sk = '1'", "23"),
        ("sk <> '1'", "23"),
        ("NOT begins_with(sk, 'x')", "123"),
        ("NOT sk IN ['1', '3']", "2"),
        ("sk NOT IN ['1', '3']", "2"),
        ("NOT sk > '5'", "123"),
        ("NOT (sk = '1')", "23"),
        ("sk NOT BETWEEN '1' AND '1'", "23"),
    ],
)
def test_an_alternative_may_negate_the_sort_key(
    songs: Statements, pk: str, negation: str, found: str
) -> None:
    both = f"pk = '{pk}' AND {negation} OR pk = '{pk}' AND sk = '2'"
    assert songs.keys(both) == list(found)
    ordered = f"pk = '{pk}' AND ({negation} OR sk = '2') ORDER BY sk DESC"
    assert songs.keys(ordered) == list(found[::-1])
    paged: list[str] = []
    page: dict[str, Any] = {"NextToken": None}
    while "NextToken" in page:
        more = {"NextToken": page["NextToken"]} if page["NextToken"] else {}
        page = songs.run(f"SELECT * FROM {{t}} WHERE {both}", Limit=1, **more)
        paged += [item["sk"]["S"] for item in page["Items"]]
    assert paged == list(found)


def test_a_whole_partition_may_stand_beside_a_negated_sort_key(songs: Statements, pk: str) -> None:
    assert songs.keys(f"pk = '{pk}' OR pk = '{pk}' AND NOT sk = '1'") == ["1", "2", "3"]
    assert songs.keys(f"pk = '{pk}' AND sk <> '1' OR pk = '{pk}' AND sk <> '2'") == ["1", "2", "3"]


@pytest.mark.parametrize("other", ["x = '1'", "x <> '1'", "NOT x = '1'", "sk >= '2'"])
def test_other_alternatives_may_not_overlap(songs: Statements, pk: str, other: str) -> None:
    where = f"pk = '{pk}' AND {other} OR pk = '{pk}' AND sk = '2'"
    assert songs.invalid(f"SELECT * FROM {{t}} WHERE {where}") == OVERLAP


# Row 2: keywords are no names, not even behind a dot, unless they are quoted.


@pytest.mark.parametrize(
    "word", ["inner", "outer", "cross", "join", "left", "right", "full", "natural", "Size"]
)
def test_a_keyword_is_no_component_of_a_path(songs: Statements, pk: str, word: str) -> None:
    where = f"pk = '{pk}' AND sk = '1'"
    for statement in (
        f"SELECT m.{word} FROM {{t}} WHERE {where}",
        f"SELECT * FROM {{t}} WHERE {where} AND attribute_exists(m.{word})",
        f"UPDATE {{t}} SET m.{word} = set_add(m.{word}, <<'y'>>) WHERE {where}",
        f"UPDATE {{t}} REMOVE m.{word} WHERE {where}",
        f"DELETE FROM {{t}} WHERE {where} AND m.{word} = 1",
    ):
        assert songs.invalid(statement) == WELL_FORMED + "Invalid path dot component"
    songs.run(f"UPDATE {{t}} SET m.\"{word}\" = 'quoted' WHERE {where}")
    assert songs.items(f"SELECT m['{word}'] FROM {{t}} WHERE {where}") == [{word: {"S": "quoted"}}]


@pytest.mark.parametrize("word", ["key", "value", "date", "user", "level", "count", "timestamp", "ORDER"])
def test_a_keyword_is_no_name(songs: Statements, pk: str, word: str) -> None:
    assert songs.invalid(f"SELECT * FROM {{t}} WHERE {word} = 1") == WELL_FORMED + "Unexpected keyword"
    assert songs.invalid(f"UPDATE {{t}} SET {word} = 1 WHERE pk = '{pk}' AND sk = '1'") == (
        WELL_FORMED + "Expected identifier for simple path"
    )
    songs.run(f"UPDATE {{t}} SET \"{word}\" = 1 WHERE pk = '{pk}' AND sk = '1'")
    assert songs.keys(f"pk = '{pk}' AND \"{word}\" = 1") == ["1"]


# Row 15: number literals say where in the value they stand.


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT * FROM {t} WHERE pk = 1e126", f"{OVERFLOW} under root"),
        ("SELECT * FROM {t} WHERE pk = 1e-131", f"{UNDERFLOW} under root"),
        ("SELECT * FROM {t} WHERE pk = 123456789012345678901234567890123456789", f"{DIGITS} under root"),
        ("INSERT INTO {t} VALUE {'pk': 1e126}", f"{OVERFLOW} under root"),
        ("UPDATE {t} SET a = 1e-131 WHERE pk = 970005", f"{UNDERFLOW} under root"),
        ("INSERT INTO {t} VALUE {'pk': 970006, 'm': {'x': 1e126}}", f"{OVERFLOW} under root.x"),
        ("INSERT INTO {t} VALUE {'pk': 970007, 'l': [1, 1e126]}", f"{OVERFLOW} under root[1]"),
        ("SELECT * FROM {t} WHERE pk = 1e2147483648", WELL_FORMED),
        ("SELECT * FROM {t} WHERE pk = 1e99999999999", WELL_FORMED),
        ("SELECT * FROM {t} WHERE pk = 1.5e-2147483647", WELL_FORMED),
    ],
)
def test_number_literals_out_of_range(numbered: Statements, statement: str, message: str) -> None:
    assert numbered.invalid(statement) == message


# Row 16: numbers in parameters have an exponent of 32 bits, and wrap at its end.

POSITIONS = [
    "SELECT * FROM {t} WHERE pk = 'x' AND n = ?",
    "INSERT INTO {t} VALUE {'pk': 'x', 'sk': 's', 'n': ?}",
    "UPDATE {t} SET n = ? WHERE pk = 'x' AND sk = 's'",
    "SELECT * FROM {t} WHERE pk = ?",
]


@pytest.mark.parametrize("statement", POSITIONS)
def test_numbers_in_parameters(songs: Statements, statement: str) -> None:
    for number in ("1e99999999999", "-1e99999999999", "1e-99999999999", "1e2147483648", "1e-2147483648"):
        assert songs.invalid(statement, {"N": number}) == f"{UNCONVERTIBLE}: {number}"
    assert songs.invalid(statement, {"N": "1e2147483647"}) == UNDERFLOW
    assert songs.invalid(statement, {"N": ""}) == UNCONVERTIBLE
    for parameter in (
        {"L": [{"N": "1"}, {"N": "1e99999999999"}]},
        {"M": {"x": {"N": "1e99999999999"}}},
        {"NS": ["1", "1e99999999999"]},
    ):
        assert songs.invalid(statement, parameter) == f"{UNCONVERTIBLE}: 1e99999999999"


def nested(depth: int, leaf: dict[str, Any]) -> dict[str, Any]:
    for _ in range(depth):
        leaf = {"M": {"n": leaf}}
    return leaf


@pytest.mark.parametrize("depth", [40, 100])
def test_the_first_fault_of_the_parameters_is_reported(songs: Statements, depth: int) -> None:
    deep, bad = nested(depth, {"S": "leaf"}), {"N": "abc"}
    pair = "SELECT * FROM {t} WHERE pk = 'x' AND x = ? AND y = ?"
    single = "SELECT * FROM {t} WHERE pk = 'x' AND x = ?"
    assert songs.invalid(pair, deep, bad) == TOO_DEEP
    assert songs.invalid(pair, bad, deep) == f"{UNCONVERTIBLE}: abc"
    assert songs.invalid(single, {"M": {"d": deep, "bad": bad}}) == TOO_DEEP
    assert songs.invalid(single, {"M": {"bad": bad, "d": deep}}) == f"{UNCONVERTIBLE}: abc"
    assert songs.invalid(single, nested(depth, bad)) == TOO_DEEP
    assert songs.invalid(pair, deep, {"N": "1e126"}) == TOO_DEEP
    (response,) = songs.client.batch_execute_statement(
        Statements=[{"Statement": songs.text(pair), "Parameters": [deep, bad]}]
    )["Responses"]
    assert response == {"Error": {"Code": "ValidationError", "Message": TOO_DEEP}}


# Row 17: an index whose key has several hash or range attributes.


@pytest.fixture(scope="module")
def wide(client: Any) -> Statements:
    key = [("h1", "HASH"), ("h2", "HASH"), ("r1", "RANGE")]
    several = {
        "IndexName": "wide",
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in key],
        "Projection": {"ProjectionType": "ALL"},
    }
    table = make_table(
        client,
        "id",
        types=dict.fromkeys(("h1", "h2", "r1"), "S"),
        GlobalSecondaryIndexes=[several, index("narrow", "h1", "r1")],
    )
    statements = Statements(client, table)
    statements.put(id="i1", h1="a", h2="x", r1="m")
    return statements


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM {t}.wide WHERE h1 = 'a'",
        "SELECT id FROM {t}.wide WHERE h1 = 'a' AND h2 = 'x' ORDER BY r1 DESC",
        "SELECT * FROM {t}.wide WHERE h1 = 5",
        "SELECT * FROM {t}.wide WHERE id = 'i1'",
        "SELECT * FROM {t}.wide",
        "SELECT COUNT(*) FROM {t}.wide",
        "SELECT id, id FROM {t}.wide",
        "SELECT * FROM {t}.wide WHERE f(id)",
    ],
)
def test_an_index_of_several_attributes_is_not_read(wide: Statements, statement: str) -> None:
    assert wide.invalid(statement) == MULTI


def test_what_comes_before_an_index_of_several_attributes(wide: Statements) -> None:
    assert wide.invalid("SELECT * FROM {t}.wide WHERE") == WELL_FORMED + "Unexpected term"
    assert wide.invalid("SELECT * FROM {t}.wide WHERE h1 = 1e99999999999") == WELL_FORMED
    assert wide.invalid("SELECT * FROM {t}.wide WHERE h1 = ?", {"N": "1e99999999999"}) == (
        f"{UNCONVERTIBLE}: 1e99999999999"
    )


def test_the_rest_of_its_table_is_read_and_written(wide: Statements) -> None:
    assert len(wide.items("SELECT * FROM {t} WHERE id = 'i1'")) == 1
    assert len(wide.items("SELECT * FROM {t}.narrow WHERE h1 = 'a'")) == 1
    wide.run("INSERT INTO {t} VALUE {'id': 'n1'}")
    wide.run("UPDATE {t} SET a = 1 WHERE id = 'n1'")
    wide.run("DELETE FROM {t} WHERE id = 'n1'")


def test_in_a_batch_only_its_own_member_fails(wide: Statements) -> None:
    statements = [
        "SELECT * FROM {t}.narrow WHERE h1 = 'a' AND r1 = 'm'",
        "SELECT * FROM {t}.wide WHERE h1 = 'a' AND h2 = 'x' AND r1 = 'm'",
        "SELECT id FROM {t} WHERE id = 'i1'",
    ]
    answer = wide.client.batch_execute_statement(
        Statements=[{"Statement": wide.text(statement)} for statement in statements]
    )
    assert answer["Responses"] == [
        {"Error": {"Code": "ValidationError", "Message": NEEDS_KEY}},
        {"Error": {"Code": "ValidationError", "Message": MULTI}},
        {"Item": {"id": {"S": "i1"}}, "TableName": wide.table},
    ]


# Row 18: aliases.


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT * FROM {t} t WHERE pk = 'x'", ALIASING),
        ("SELECT * FROM {t} AS t WHERE pk = 'x'", ALIASING),
        ("UPDATE {t} t SET a = 3 WHERE pk = 'x'", ALIASING),
        ("DELETE FROM {t} t WHERE pk = 'x'", ALIASING),
        ("INSERT INTO {t} t VALUE {'pk': 'x'}", LEFTOVER),
        ("SELECT * FROM {t} WHERE pk = 'x' foo", LEFTOVER),
        ("SELECT * FROM {t} WHERE pk = 1 e5", LEFTOVER),
        ("SELECT * FROM {t} WHERE pk = 'x')", LEFTOVER),
        ("INSERT INTO {t} VALUE {'pk': 'x'} foo", LEFTOVER),
        ("UPDATE {t} SET a = 9 WHERE pk = 'x' foo", LEFTOVER),
        ("DELETE FROM {t} WHERE pk = 'x' foo", LEFTOVER),
        ("DELETE FROM {t} WHERE pk = 'x' ORDER BY pk", LEFTOVER),
        ("SELECT * FROM {t} ORDER BY pk WHERE pk = 'x'", LEFTOVER),
        ("SELECT * FROM {t} WHERE pk = 'x' # note", WELL_FORMED),
        ("SELECT * FROM {t} WHERE pk = 'x' /* note", WELL_FORMED),
    ],
)
def test_aliases_and_left_over_tokens(songs: Statements, statement: str, message: str) -> None:
    assert songs.invalid(statement) == message


# Row 19: functions.


def test_functions_that_are_none(songs: Statements, pk: str) -> None:
    exists = songs.text(f"SELECT * FROM {{t}} WHERE pk = '{pk}' AND EXISTS(ss)")
    assert songs.invalid(exists) == f"Unrecognized function: exists at {position(exists, 'EXISTS')}"
    added = songs.text(f"SELECT * FROM {{t}} WHERE pk = '{pk}' AND set_add(ss, <<'x'>>) = ss")
    assert songs.invalid(added) == f"Unrecognized function: set_add at {position(added, 'set_add')}"
    inserted = songs.text("INSERT INTO {t} VALUE {'pk': 'x', 'sk': '1', 'ss': set_add(<<'a'>>, <<'b'>>)}")
    assert songs.invalid(inserted) == (
        f"Unsupported data type: set_add under key root at {position(inserted, 'set_add')}"
    )


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("t = set_add(ss, <<'x'>>)", "The first argument to SET_ADD must equal the assignment value"),
        ("ss = set_add(<<'a'>>, <<'b'>>)", "The first argument to SET_ADD must equal the assignment value"),
        ("ss = set_add(ss)", "SET_ADD must have exactly two arguments"),
        ("ss = set_add(ss, <<'x'>>, <<'y'>>)", "SET_ADD must have exactly two arguments"),
        ("t = set_delete(ss, <<'a'>>)", "The first argument to SET_DELETE must equal the assignment value"),
    ],
)
def test_arguments_of_set_functions(songs: Statements, pk: str, action: str, message: str) -> None:
    statement = songs.text(f"UPDATE {{t}} SET {action} WHERE pk = '{pk}' AND sk = '1'")
    function = "set_delete" if "set_delete" in action else "set_add"
    assert songs.invalid(statement) == f"{message} at {position(statement, function)}"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("ss = set_add(ss, <<1>>)", "An operand in the update expression has an incorrect data type"),
        ("x = set_add(x, <<'x'>>)", "An operand in the update expression has an incorrect data type"),
        ("ss = set_delete(ss, <<1>>)", "An operand in the update expression has an incorrect data type"),
        (
            "ss = set_add(ss, <<'x', 'x'>>)",
            "One or more parameter values were invalid: Input collection [x, x] contains duplicates.",
        ),
        ("ss = set_add(ss, <<>>)", "Empty bags are not supported"),
        ("m.inner = set_add(m.inner, <<'y'>>)", WELL_FORMED + "Invalid path dot component"),
    ],
)
def test_members_of_set_functions(songs: Statements, pk: str, action: str, message: str) -> None:
    assert songs.invalid(f"UPDATE {{t}} SET {action} WHERE pk = '{pk}' AND sk = '1'") == message


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("attribute_exists('ss')", "Operator or function requires a document path; {}attribute_exists"),
        (
            "attribute_exists()",
            "Incorrect number of operands for operator or function; {}attribute_exists, number of operands: 0",
        ),
        (
            "attribute_exists(ss, ns)",
            "Incorrect number of operands for operator or function; {}attribute_exists, number of operands: 2",
        ),
    ],
)
def test_arguments_of_attribute_exists(songs: Statements, condition: str, message: str) -> None:
    expected = message.format("operator or function: ")
    assert songs.invalid(f"SELECT * FROM {{t}} WHERE pk = 'x' AND {condition}") == expected


# Row 20, and what else begins or ends where it should not.


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("x IS INT4", "Unsupported operation: IsType"),
        ("x IS INT8", "Unsupported operation: IsType"),
        ("x IS DOUBLE PRECISION", "Unsupported operation: IsType"),
        ("x IS CHARACTER VARYING", "Unsupported operation: IsType"),
        ("SELECT * FROM {t} WHERE pk = 'a' AND x IS FOO", WELL_FORMED + "Expected type name"),
        ("SELECT * FROM {t} WHERE IS NULL", WELL_FORMED + "Unexpected operator"),
        ("SELECT * FROM {t} WHERE pk = LIKE", WELL_FORMED + "Unexpected operator"),
        ("SELECT * FROM {t} WHERE", WELL_FORMED + "Unexpected term"),
        ("SELECT * FROM {t} WHERE;", WELL_FORMED + "Unexpected term"),
        ("SELECT * FROM {t} WHERE   ", WELL_FORMED + "Unexpected term"),
        ("UPDATE {t} SET a = 1 WHERE", WELL_FORMED + "Unexpected term"),
        ("DELETE FROM {t} WHERE", WELL_FORMED + "Unexpected term"),
        ("SELECT * FROM {t} WHERE NOT", WELL_FORMED + "Unexpected term"),
        ("SELECT * FROM {t} WHERE (", WELL_FORMED + "Unexpected term"),
        ("SELECT * FROM nowhere WHERE", WELL_FORMED + "Unexpected term"),
        ("SELECT * FROM {t} WHERE ORDER BY pk", WELL_FORMED + "Unexpected keyword"),
        ("DELETE FROM", WELL_FORMED + "Expected identifier for simple path"),
        ("DELETE FROM;", WELL_FORMED + "Expected identifier for simple path"),
        ("DELETE FROM WHERE pk = 'a'", WELL_FORMED + "Expected identifier for simple path"),
        ("SELECT * FROM", WELL_FORMED + "Unexpected term"),
        ("FROM {t} SET c = 1 WHERE pk = 'x'", LEFTOVER),
        ("FROM {t} SET c = 1 WHERE pk = 'x' SET d = 2", LEFTOVER),
        (
            "FROM {t} SET c = 1",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
        (
            "FROM {t} WHERE a = 1 REMOVE b",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
    ],
)
def test_statements_that_break_off(songs: Statements, statement: str, message: str) -> None:
    assert songs.invalid(statement) == message


# What DynamoDB Local of May 2026, which shares its PartiQL library with the service, refuses and we did not.


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT a, a FROM {t}", "Duplicate identifiers in select clause: a"),
        (
            "SELECT m, m.x FROM nowhere",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m, x]",
        ),
        (
            "INSERT INTO {t} VALUE {'pk': 'x', 'sk': '1', 'a': 1, 'a': 2}",
            "Duplicate keys in tuple. Key: a under root at 1:",
        ),
        ("SELECT * FROM {t} WHERE pk = 'x' LIMIT 1", "Unsupported clause: LIMIT at 1:"),
        ("SELECT COUNT(*) FROM nowhere", "Unexpected path component at 1:8:5"),
    ],
)
def test_statements_that_mean_nothing_to_the_service(songs: Statements, statement: str, message: str) -> None:
    assert songs.invalid(statement).startswith(message)


def test_surplus_parameters_are_seen_last(songs: Statements) -> None:
    mismatch = "Number of parameters in request and statement don't match."
    assert songs.invalid("SELECT * FROM {t} WHERE n = ? AND f(x)") == mismatch
    assert songs.invalid("SELECT * FROM {t} WHERE n < true", {"S": "x"}).startswith("Incorrect operand type")
    assert songs.invalid("SELECT * FROM {t} WHERE n = 1", {"S": "x"}) == mismatch
