"""ExecuteStatement, reading: what SELECT finds, how it reads, in which order, page by page, and what it refuses."""

from typing import Any

import pytest

from item_tables import make_table, unique
from partiql_calls import Statements

OVERLAP = "Overlapping conditions with range keys are not supported in where clause"
WRONG_KEY_TYPE = "Key attribute's data type should match its data type in table's schema: Key "
REVERSED = (
    "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
    "lower bound operand: AttributeValue: {S:2}, upper bound operand: AttributeValue: {S:1}"
)


@pytest.fixture(scope="module")
def songs(client: Any, range_table: str) -> Statements:
    return Statements(client, range_table)


@pytest.fixture(scope="module")
def pk(songs: Statements) -> str:
    """A partition with three items."""
    name = unique()
    songs.put(
        pk=name,
        sk="1",
        n={"N": "1"},
        flag="one",
        yes={"BOOL": True},
        nul={"NULL": True},
        tags={"SS": ["a", "b"]},
        m={"M": {"k": {"L": [{"S": "c"}, {"S": "d"}]}, "x": {"S": "y"}}},
        l={"L": [{"S": "a"}, {"S": "b"}]},
    )
    songs.put(pk=name, sk="2", n={"N": "2"}, flag="two", data={"B": b"abc"})
    songs.put(pk=name, sk="3", n={"N": "3.5"}, flag="three", quote="it's here")
    return name


def test_a_whole_table_is_scanned(client: Any, songs: Statements, pk: str) -> None:
    assert songs.items("SELECT * FROM {t}") == client.scan(TableName=songs.table)["Items"]


def test_a_table_can_be_named_without_quotes_or_by_its_arn(client: Any) -> None:
    name = make_table(client, "pk", TableName=unique("Plain").replace("-", "_"))
    client.put_item(TableName=name, Item={"pk": {"S": "x"}})
    arn = client.describe_table(TableName=name)["Table"]["TableArn"]
    for target in (name, f'"{name}"', f'"{arn}"'):
        answer = client.execute_statement(
            Statement=f"select pk from {target}", ReturnConsumedCapacity="TOTAL"
        )
        assert answer["Items"] == [{"pk": {"S": "x"}}]
        assert answer["ConsumedCapacity"]["TableName"] == target.strip('"')


def test_a_key_gives_its_item(songs: Statements, pk: str) -> None:
    assert songs.keys(f"pk = '{pk}' AND sk = '2'") == ["2"]
    assert songs.keys("pk = ? AND sk = ?", {"S": pk}, {"S": "2"}) == ["2"]
    assert songs.keys(f"'{pk}' = pk AND '2' = sk") == ["2"]
    assert songs.run("SELECT * FROM {t} WHERE pk = 'nothing' AND sk = '1'") == {"Items": []}


def test_columns_are_named_by_their_last_name(songs: Statements, pk: str) -> None:
    found = songs.items(
        f"SELECT sk, m.k[1], l[0], \"flag\", nowhere, m.absent FROM {{t}} WHERE pk = '{pk}' AND sk='1'"
    )
    assert found == [{"sk": {"S": "1"}, "k[1]": {"S": "d"}, "l[0]": {"S": "a"}, "flag": {"S": "one"}}]
    assert songs.items(f"SELECT nowhere FROM {{t}} WHERE pk = '{pk}'") == [{}, {}, {}]


def test_columns_inside_documents_are_found_in_every_row(songs: Statements) -> None:
    partitions = [unique(), unique()]
    for partition in partitions:
        for number in range(40):
            document = {"L": [{"S": "first"}, {"N": str(number)}]}
            songs.put(pk=partition, sk=f"{number:02}", m={"M": {"k": document}})
    columns = [{"k[1]": {"N": str(number)}} for number in range(40)]
    one, both = f"'{partitions[0]}'", f"['{partitions[0]}', '{partitions[1]}']"
    assert songs.items(f"SELECT m.k[1] FROM {{t}} WHERE pk = {one}") == columns
    assert songs.items(f"SELECT m.k[1] FROM {{t}} WHERE pk = {one} AND sk < '02'") == columns[:2]
    assert songs.items(f"SELECT m.k[1] FROM {{t}} WHERE pk = {one} ORDER BY sk DESC") == columns[::-1]
    assert songs.items(f"SELECT m.k[1] FROM {{t}} WHERE pk IN {both}") == columns * 2
    scanned = songs.items("SELECT m.k[1] FROM {t}")
    assert len(scanned) == songs.client.scan(TableName=songs.table)["Count"]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("n = 1", "1"),
        ("n <> 1", "23"),
        ("n != 1", "23"),
        ("n > 1", "23"),
        ("n >= 2 AND n < 3.5", "2"),
        ("n <= 2", "12"),
        ("2 < n", "3"),
        ("n = 1e0", "1"),
        ("n = - - 1", "1"),
        ("n > -/* c */-1", "23"),
        ("n BETWEEN - 2 AND +2 AND n IN [- 1, 1, 2]", "12"),
        ("n NOT BETWEEN 1 AND 2", "3"),
        ("n IN (1, 3.5)", "13"),
        ("NOT n IN [1]", "23"),
        ("n NOT IN [1]", "23"),
        ("flag = 'one' OR flag = 'three'", "13"),
        ("NOT (flag = 'one' OR flag = 'three')", "2"),
        ("NOT NOT flag = 'one'", "1"),
        ("begins_with(flag, 't')", "23"),
        ("contains(tags, 'a')", "1"),
        ("CONTAINS(flag, 'hre')", "3"),
        ("size(flag) > 3", "3"),
        ("size(l) = 2", "1"),
        ("attribute_type(n, 'N')", "123"),
        ("attribute_type(data, 'B')", "2"),
        ("attribute_exists(m.x) AND ATTRIBUTE_NOT_EXISTS (nope) AND attribute_exists(l[0])", "1"),
        ("tags IS MISSING", "23"),
        ("tags IS NOT MISSING", "1"),
        ("nul IS NULL", "1"),
        ("nul IS NOT NULL", "23"),
        ("absent IS NULL", ""),
        ("n IS NUMERIC AND flag IS STRING", "123"),
        ("m IS TUPLE AND l IS LIST AND n IS NUMERIC AND yes IS BOOL", "1"),
        ("nul = null", "1"),
        ("yes = true", "1"),
        ("tags = <<'b', 'a'>>", "1"),
        ("l = ['a', 'b']", "1"),
        ("m.x = 'y'", "1"),
        ("m['x'] = 'y'", "1"),
        ("quote = 'it''s here'", "3"),
        ("nope <> 1", "123"),
        ("NOT nope = 1", "123"),
    ],
)
def test_a_filter(songs: Statements, pk: str, where: str, found: str) -> None:
    assert songs.keys(f"pk = '{pk}' AND ({where})") == list(found)


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("attribute_exists(nope) = false", True),
        ("true = attribute_exists(n)", True),
        ("attribute_exists(n) <> 1", True),
        ("contains(nope, 'z') = false", True),
        ("(n BETWEEN 0 AND 5) = true", True),
        ("(n = 5 OR flag = 'x') = false", True),
        ("attribute_exists(nope) IN [true, false]", True),
        ("attribute_exists(n) = attribute_exists(flag)", True),
        ("attribute_exists(n) = yes", True),
        ("attribute_exists(n) = 1", False),
        ("NOT attribute_exists(n) = true", False),
        ("(attribute_exists(n) = true) = false", False),
        ("attribute_exists(n) = flag", False),
    ],
)
def test_a_condition_can_be_compared_like_a_boolean(
    songs: Statements, pk: str, where: str, holds: bool
) -> None:
    assert songs.keys(f"pk = '{pk}' AND sk = '1' AND {where}") == ["1"] * holds


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("(sk = '1' OR sk = '2')", "12"),
        ("sk IN ['2', '1']", "12"),
        ("(sk < '2' OR sk > '2' OR sk = '2')", "123"),
        ("attribute_exists(pk)", "123"),
        ("NOT sk = '1'", "23"),
        ("sk <> '1'", "23"),
        ("sk > '0' AND sk <> '1'", "23"),
        ("sk = '1' AND sk > '0'", "1"),
        ("sk = '1' AND sk > '5'", ""),
        ("sk BETWEEN '2' AND '9'", "23"),
        ("begins_with(sk, '3')", "3"),
        ("sk >= '2' AND sk <= '2'", "2"),
        ("pk = 'other'", ""),
    ],
)
def test_conditions_on_the_sort_key(songs: Statements, pk: str, where: str, found: str) -> None:
    assert songs.keys(f"pk = '{pk}' AND {where}") == list(found)


def test_several_partitions_are_read_one_after_the_other(songs: Statements) -> None:
    names = [unique("p") for _ in range(3)]
    for name in names:
        songs.put(pk=name, sk="1")
        songs.put(pk=name, sk="2")
    listed = ", ".join(f"'{name}'" for name in names)
    assert sorted(songs.keys(f"pk IN [{listed}]", name="pk")) == sorted(names * 2)
    assert sorted(songs.keys(f"pk = '{names[0]}' OR (pk = '{names[1]}' AND sk = '2')", name="pk")) == sorted(
        [names[0], names[0], names[1]]
    )
    assert songs.keys(f"pk = '{names[0]}' AND pk = '{names[1]}'") == []


def test_a_list_of_partitions_comes_ten_at_a_time(songs: Statements) -> None:
    names = [unique("ten") for _ in range(12)]
    for name in names:
        songs.put(pk=name, sk="1")
    statement = (
        f"SELECT pk FROM {{t}} WHERE pk IN [{', '.join(f'{chr(39)}{name}{chr(39)}' for name in names)}]"
    )
    first = songs.run(statement)
    second = songs.run(statement, NextToken=first["NextToken"])
    assert [len(first["Items"]), len(second["Items"])] == [10, 2]
    assert "NextToken" not in second


def test_order_by(songs: Statements) -> None:
    one, two = sorted([unique("o"), unique("o")])
    for name in (one, two):
        for sort in "123":
            songs.put(pk=name, sk=sort)

    def order(rest: str) -> list[str]:
        found = songs.items(f"SELECT pk, sk FROM {{t}} WHERE {rest}")
        return [("b" if item["pk"]["S"] == two else "a") + item["sk"]["S"] for item in found]

    both = f"pk IN ['{one}', '{two}']"
    assert order(f"pk = '{one}' ORDER BY sk DESC") == ["a3", "a2", "a1"]
    assert order(f"pk = '{one}' ORDER BY sk") == ["a1", "a2", "a3"]
    # Without its own term the sort key comes descending.
    assert order(f"pk = '{one}' ORDER BY pk ASC") == ["a3", "a2", "a1"]
    assert order(f"{both} ORDER BY pk DESC, sk ASC") == ["b1", "b2", "b3", "a1", "a2", "a3"]
    assert order(f"{both} ORDER BY pk, sk") == ["a1", "a2", "a3", "b1", "b2", "b3"]
    ordered = f"SELECT pk, sk FROM {{t}} WHERE {both} ORDER BY pk DESC"
    first = songs.run(ordered, Limit=2)
    assert [item["sk"]["S"] for item in first["Items"]] == ["3", "2"]
    second = songs.run(ordered, Limit=2, NextToken=first["NextToken"])
    assert [(item["pk"]["S"], item["sk"]["S"]) for item in second["Items"]] == [(two, "1"), (one, "3")]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("ORDER BY sk", "Must have WHERE clause in the statement when using ORDER BY clause."),
        ("WHERE pk = 'o' ORDER BY n DESC", "Attribute n in ORDER BY clause must be part of the primary key"),
        (
            "WHERE pk > 'a' ORDER BY sk",
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.",
        ),
        (
            "WHERE pk IN ['o', 'p'] ORDER BY sk DESC",
            "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.",
        ),
    ],
)
def test_order_by_has_its_limits(songs: Statements, rest: str, message: str) -> None:
    assert songs.invalid(f"SELECT sk FROM {{t}} {rest}") == message


def test_pages(songs: Statements, pk: str) -> None:
    statement = f"SELECT sk FROM {{t}} WHERE pk = '{pk}' AND n > 1"
    first = songs.run(statement, Limit=1)
    assert first["Items"] == []
    assert first["LastEvaluatedKey"] == {"pk": {"S": pk}, "sk": {"S": "1"}}
    second = songs.run(statement, Limit=5, NextToken=first["NextToken"], ConsistentRead=True)
    assert [item["sk"]["S"] for item in second["Items"]] == ["2", "3"]
    assert "NextToken" not in second


def test_a_scan_goes_on_where_it_stopped(client: Any, songs: Statements, pk: str) -> None:
    found: list[Any] = []
    more: dict[str, Any] = {}
    while True:
        page = songs.run("SELECT * FROM {t}", Limit=2, **more)
        found += page["Items"]
        if "NextToken" not in page:
            break
        more = {"NextToken": page["NextToken"]}
    # Other tests may have filled the shared table beyond one page.
    pages = client.get_paginator("scan").paginate(TableName=songs.table)
    assert found == [item for page in pages for item in page["Items"]]


def test_one_item_by_its_key_has_no_next_page(songs: Statements, pk: str) -> None:
    assert "NextToken" not in songs.run(f"SELECT * FROM {{t}} WHERE pk='{pk}' AND sk='1'", Limit=1)


def test_a_token_belongs_to_its_statement(songs: Statements, pk: str) -> None:
    statement = "SELECT sk FROM {t} WHERE pk = ?"
    token = songs.run(statement, {"S": pk}, Limit=1)["NextToken"]
    mismatch = "NextToken does not match request"
    assert songs.invalid(statement, {"S": "other"}, NextToken=token) == mismatch
    assert songs.invalid("SELECT sk FROM {t}", NextToken=token) == mismatch
    for broken in ("x", "garbage!", "e30=", "WzFd"):
        assert songs.invalid(statement, {"S": pk}, NextToken=broken) == "Invalid NextToken"


@pytest.mark.parametrize(
    "sorts",
    [
        "sk < '2' OR sk >= '2'",
        "sk <= '2' OR sk > '2'",
        "sk BETWEEN '1' AND '2' OR sk = '3'",
        "sk = '1' OR sk BETWEEN '2' AND '3'",
    ],
)
def test_ranges_that_meet_do_not_overlap(songs: Statements, pk: str, sorts: str) -> None:
    assert songs.keys(f"pk = '{pk}' AND ({sorts})") == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("pk IN ['r', 'r']", OVERLAP),
        ("pk = 'r' OR pk = 'r'", OVERLAP),
        ("pk = 'r' AND (sk > '0' OR sk < '5')", OVERLAP),
        ("pk = 'r' AND (sk = '1' OR flag = 'two')", OVERLAP),
        ("(pk = 'r' AND flag = 'one') OR (pk = 'r' AND flag = 'two')", OVERLAP),
        ("pk = 1 OR pk = 'r'", WRONG_KEY_TYPE + "pk"),
        ("pk = 'r' AND sk IN ['1', 2]", WRONG_KEY_TYPE + "sk"),
        ("pk = true", "Key value must be of type S, N, or B. Key name: pk, Key type: BOOL"),
        ("pk = 'r' AND sk = null", "Key value must be of type S, N, or B. Key name: sk, Key type: NULL"),
        (
            "pk.x = 'r'",
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
        ),
        (
            "pk = 'r' AND sk BETWEEN '2' AND '1'",
            REVERSED,
        ),
    ],
)
def test_conditions_that_keys_cannot_have(songs: Statements, where: str, message: str) -> None:
    assert songs.invalid(f"SELECT sk FROM {{t}} WHERE {where}") == message


def test_conditions_that_are_only_filters(songs: Statements) -> None:
    assert songs.keys("pk > 1") == []
    songs.items("SELECT sk FROM {t} WHERE pk = 'r' OR sk = '1'")


def listed(count: int) -> str:
    return ", ".join(f"'v{number}'" for number in range(count))


def test_how_many_reads_a_statement_may_become(songs: Statements) -> None:
    too_many = "Too many decomposed read operations for a given query."
    for where in (
        f"pk IN [{listed(51)}]",
        f"pk = 'r' AND sk IN [{listed(51)}]",
        f"pk IN [{listed(26)}] AND sk IN ['1', '2']",
    ):
        assert songs.invalid(f"SELECT sk FROM {{t}} WHERE {where}") == too_many
    for where in (f"pk IN [{listed(50)}] AND flag IN [{listed(100)}]", f"pk IN [{listed(51)}] OR flag = 'x'"):
        songs.run(f"SELECT sk FROM {{t}} WHERE {where}")
    assert songs.invalid(f"SELECT sk FROM {{t}} WHERE pk = 'r' AND flag IN [{listed(101)}]") == (
        "The IN operator is provided with too many operands; number of operands: 101"
    )


def test_comments_and_a_semicolon_are_fine(songs: Statements, pk: str) -> None:
    statement = f"SELECT/**/* FROM {{t}} -- the table\nWHERE pk/* key */='{pk}' AND sk='1'; --"
    assert len(songs.items(statement)) == 1
    assert len(songs.items(f"SELECT l[-0] FROM {{t}} WHERE pk = '{pk}' AND sk='1'")) == 1


def test_capacity_of_reads(songs: Statements, pk: str) -> None:
    get = f"SELECT * FROM {{t}} WHERE pk = '{pk}' AND sk = '1'"
    units = songs.run(get, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    assert units == {"TableName": songs.table, "CapacityUnits": 0.5}
    units = songs.run(get.replace(pk, "none"), ReturnConsumedCapacity="INDEXES", ConsistentRead=True)
    assert units["ConsumedCapacity"] == {
        "TableName": songs.table,
        "CapacityUnits": 1.0,
        "Table": {"CapacityUnits": 1.0},
    }
    listed = songs.run(f"SELECT * FROM {{t}} WHERE pk IN ['{pk}', 'none']", ReturnConsumedCapacity="TOTAL")
    assert listed["ConsumedCapacity"]["CapacityUnits"] == 1.0
