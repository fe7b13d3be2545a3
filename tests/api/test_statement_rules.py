"""PartiQL as it was measured, sentence by sentence: what statements return, refuse and cost."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import index, make_table, refused, unique
from partiql_calls import WELL_FORMED, Statements

CHECK_FAILED = ("ConditionalCheckFailedException", "The conditional request failed")
NEEDS_KEY = "Select statements within {} must specify the primary key in the where clause."


@pytest.fixture(scope="module")
def songs(client: Any) -> Statements:
    table = make_table(
        client,
        "pk",
        "sk",
        types={"g": "S", "k": "S"},
        GlobalSecondaryIndexes=[index("by-g", "g", projection="INCLUDE", included=("a",))],
        LocalSecondaryIndexes=[index("by-k", "pk", "k", projection="KEYS_ONLY")],
    )
    return Statements(client, table)


@pytest.fixture
def pk(songs: Statements) -> str:
    name = unique()
    for sk in "12":
        songs.put(
            pk=name, sk=sk, g=f"g-{name}", k=sk, a=sk, b=sk, ss={"SS": ["a"]}, l={"L": [{"N": "0"}] * 4}
        )
    return name


def where(pk: str, sk: str = "1") -> str:
    return f"WHERE pk = '{pk}' AND sk = '{sk}'"


def batch(songs: Statements, *statements: str, **more: Any) -> list[dict[str, Any]]:
    members = [{"Statement": songs.text(statement), **more} for statement in statements]
    answer = songs.client.batch_execute_statement(Statements=members)
    return list(answer["Responses"])


def transact(songs: Statements, *statements: str) -> dict[str, Any]:
    members = [{"Statement": songs.text(statement)} for statement in statements]
    answer = songs.client.execute_transaction(TransactStatements=members)
    answer.pop("ResponseMetadata")
    return dict(answer)


def test_writes_answer_with_nothing(songs: Statements, pk: str) -> None:
    assert songs.run(f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': 'new'}}") == {"Items": []}
    assert songs.run(f"UPDATE {{t}} SET a = 'x' {where(pk)}") == {"Items": []}
    assert songs.run(f"DELETE FROM {{t}} {where(pk)}") == {"Items": []}
    assert songs.run(f"DELETE FROM {{t}} {where(pk)}") == {"Items": []}
    assert transact(songs, f"UPDATE {{t}} SET a = 'y' {where(pk, '2')}") == {"Responses": []}


def test_an_update_needs_its_item_and_its_condition(songs: Statements, pk: str) -> None:
    assert songs.refused(f"UPDATE {{t}} SET a = 'x' {where(pk, 'none')}") == CHECK_FAILED
    assert songs.refused(f"UPDATE {{t}} SET a = 'x' {where(pk)} AND b = 'no'") == CHECK_FAILED
    assert songs.refused(f"DELETE FROM {{t}} {where(pk)} AND b = 'no'") == CHECK_FAILED
    assert songs.get(pk=pk, sk="none") is None


def test_insert_is_no_upsert(songs: Statements, pk: str) -> None:
    statement = f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1'}}"
    assert songs.refused(statement) == ("DuplicateItemException", "Duplicate primary key exists in table")
    songs.run(f"DELETE FROM {{t}} {where(pk)}")
    songs.run(statement)


def test_returning_modified_drops_the_key_and_packs_lists(songs: Statements, pk: str) -> None:
    songs.run(f"UPDATE {{t}} SET l = [0, 1, 2, 3] {where(pk)}")
    action = "SET l[3] = 'd' SET l[1] = 'b' SET c = 1"
    assert songs.items(f"UPDATE {{t}} {action} {where(pk)} RETURNING MODIFIED OLD *") == [
        {"l": {"L": [{"N": "1"}, {"N": "3"}]}}
    ]
    assert songs.items(f"UPDATE {{t}} {action} {where(pk)} RETURNING MODIFIED NEW *") == [
        {"l": {"L": [{"S": "b"}, {"S": "d"}]}, "c": {"N": "1"}}
    ]
    assert songs.items(f"UPDATE {{t}} REMOVE c {where(pk)} RETURNING MODIFIED NEW *") == []
    assert batch(songs, f"UPDATE {{t}} SET c = 1 {where(pk)} RETURNING MODIFIED OLD *") == [
        {"TableName": songs.table}
    ]


@pytest.mark.parametrize("clause", ["ALL NEW", "MODIFIED OLD", "MODIFIED NEW"])
def test_delete_returns_all_old_or_nothing(songs: Statements, pk: str, clause: str) -> None:
    assert songs.invalid(f"DELETE FROM {{t}} {where(pk)} RETURNING {clause} *") == (
        f"Invalid returning clause: RETURNING {clause} *. "
        "Only RETURNING ALL OLD * is allowed in DELETE statements."
    )
    assert songs.items(f"DELETE FROM {{t}} {where(pk)} RETURNING ALL OLD *")[0]["b"] == {"S": "1"}


def test_transactions_return_nothing(songs: Statements, pk: str) -> None:
    with pytest.raises(ClientError) as caught:
        transact(songs, f"UPDATE {{t}} SET a = 'x' {where(pk)} RETURNING ALL NEW *")
    assert caught.value.response["Error"]["Message"] == (
        "Validation failed in TransactStatements[0]: RETURNING clause is not supported in ExecuteTransaction."
    )


def test_an_update_may_begin_with_from(songs: Statements, pk: str) -> None:
    songs.run(f"FROM {{t}} {where(pk)} SET c = 2 REMOVE b")
    item = songs.get(pk=pk, sk="1") or {}
    assert (item["c"], "b" in item) == ({"N": "2"}, False)
    assert songs.refused(f"FROM {{t}} {where(pk)} AND c = 3 SET c = 5") == CHECK_FAILED
    transact(songs, f"from {{t}} {where(pk)} set c = 6")
    assert songs.items(f"FROM {{t}} {where(pk)} SET c = 7 RETURNING MODIFIED NEW *") == [{"c": {"N": "7"}}]


def test_functions_types_comments_order_and_exponents(songs: Statements, pk: str) -> None:
    songs.run(f"UPDATE {{t}} SET ss = set_add(ss, <<'b'>>) SET n = 1.5e3 {where(pk)}")
    songs.run(f"UPDATE {{t}} SET ss = SET_DELETE(ss, <<'a'>>) {where(pk)}")
    for condition in (
        "attribute_exists(n)",
        "ATTRIBUTE_NOT_EXISTS(nowhere) AND n = 1500",
        "size(a) = 1 AND n = 15E+2",
        "attribute_type(ss, 'SS') AND ss = <<'b'>>",
        "n IS NUMERIC /* a block */ AND a IS STRING -- and a line",
    ):
        assert songs.keys(f"pk = '{pk}' AND {condition}") == ["1"]
    assert songs.keys(f"pk = '{pk}' ORDER BY sk DESC") == ["2", "1"]


def test_order_needs_ordered_operands_before_it_needs_a_table(songs: Statements) -> None:
    for kind, parameter in (
        ("BOOL", True),
        ("NULL", True),
        ("SS", ["a"]),
        ("NS", ["1"]),
        ("L", []),
        ("M", {}),
    ):
        for operator in ("<", "<=", ">", ">="):
            statement = f"SELECT * FROM nowhere WHERE n {operator} ?"
            assert songs.invalid(statement, {kind: parameter}) == (
                "Incorrect operand type for operator or function; "
                f"operator or function: {operator}, operand type: {kind}"
            )


def test_an_index_shows_what_it_projects(songs: Statements, pk: str) -> None:
    by_g, by_k = f"{{t}}.\"by-g\" WHERE g = 'g-{pk}'", f"{{t}}.\"by-k\" WHERE pk = '{pk}'"
    assert [set(item) for item in songs.items(f"SELECT * FROM {by_g}")] == [{"pk", "sk", "g", "a"}] * 2
    assert [set(item) for item in songs.items(f"SELECT * FROM {by_k}")] == [{"pk", "sk", "k"}] * 2
    assert songs.invalid(f"SELECT b FROM {by_g}") == (
        "One or more parameter values were invalid: Global secondary index by-g does not project [b]"
    )
    fetched = songs.run(f"SELECT b FROM {by_k}", ReturnConsumedCapacity="INDEXES")
    assert fetched["Items"] == [{"b": {"S": "1"}}, {"b": {"S": "2"}}]
    assert fetched["ConsumedCapacity"]["Table"]["CapacityUnits"] > 0


def test_filters_on_what_an_index_does_not_project(songs: Statements, pk: str) -> None:
    table, key = '{t}."by-g"', f"g = 'g-{pk}'"
    message = (
        "One or more parameter values were invalid: "
        "Secondary index by-g does not project one or more filter attributes: [b]"
    )
    for condition in (f"{key} AND b = '1'", f"g IN ['g-{pk}', 'x'] AND b = '1'", f"{key} AND NOT b = '1'"):
        assert songs.invalid(f"SELECT pk FROM {table} WHERE {condition}") == message
    assert songs.items(f"SELECT pk FROM {table} WHERE b = '1' AND pk = '{pk}'") == []
    assert songs.items(f"SELECT pk FROM {table} WHERE ({key} AND b = '1') OR g = 'none'") == []


def test_writes_name_no_index(songs: Statements) -> None:
    assert songs.invalid('SELECT * FROM {t}."none"') == "The table does not have the specified index"
    for statement in ('UPDATE {t}."by-g" SET a = 1 WHERE pk = 1', 'DELETE FROM {t}."by-g" WHERE pk = 1'):
        assert songs.invalid(statement) == "This operation is not supported on an index"
    inserted = songs.text("INSERT INTO {t}.\"by-g\" VALUE {'pk': 'x'}")
    assert songs.invalid(inserted) == (
        "FROM clause may only contain a single table name in data manipulation statements at "
        f"1:13:{len(songs.table) + 2}"
    )


def test_reads_of_batches_and_transactions_name_the_key(songs: Statements, pk: str) -> None:
    statements = [
        "SELECT * FROM {t}",
        f"SELECT * FROM {{t}} WHERE pk = '{pk}'",
        "SELECT * FROM {t} WHERE b = '1'",
    ]
    statements.append(f"SELECT * FROM {{t}} {where(pk)} AND attribute_exists(b)")
    for statement in statements:
        error = {"Code": "ValidationError", "Message": NEEDS_KEY.format("BatchExecuteStatement")}
        assert batch(songs, statement) == [{"Error": error}]
        code, message = refused(
            songs.client.execute_transaction, TransactStatements=[{"Statement": songs.text(statement)}]
        )
        assert code == "ValidationException"
        needs = NEEDS_KEY.format("ExecuteTransaction")
        assert message == f"Validation failed in TransactStatements[0]: {needs}"


def test_batches_have_short_codes_and_name_the_tables_that_were_reached(songs: Statements, pk: str) -> None:
    responses = batch(
        songs,
        f"UPDATE {{t}} SET a = 'x' {where(pk)} AND b = 'no'",
        f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '2'}}",
        "UPDATE nowhere SET a = 1 WHERE pk = 'x'",
        "DELETE FROM {t} WHERE",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )
    assert [(response["Error"]["Code"], response.get("TableName")) for response in responses] == [
        ("ConditionalCheckFailed", songs.table),
        ("DuplicateItem", songs.table),
        ("ResourceNotFound", None),
        ("ValidationError", None),
    ]
    assert responses[3]["Error"]["Message"] == WELL_FORMED + "Unexpected term"
    assert not any("Item" in response or "Item" in response["Error"] for response in responses)


def test_both_sides_of_the_limits(songs: Statements, pk: str) -> None:
    statement = songs.text(f"SELECT * FROM {{t}} {where(pk)}")
    longest = statement + " " * (8192 - len(statement))
    assert len(songs.items(longest)) == 1
    assert songs.invalid(longest + " ").endswith(
        "at 'statement' failed to satisfy constraint: Member must have length less than or equal to 8192"
    )
    reads = [songs.text(f"SELECT * FROM {{t}} {where(pk, str(number))}") for number in range(101)]
    assert len(batch(songs, *reads[:25])) == 25
    with pytest.raises(ClientError, match="Member must have length less than or equal to 25"):
        batch(songs, *reads[:26])
    assert len(transact(songs, *reads[:100])["Responses"]) == 100
    with pytest.raises(ClientError, match="Member must have length less than or equal to 100"):
        transact(songs, *reads)
    assert songs.invalid(statement, NextToken="x" * 32_768) == "Invalid NextToken"
    assert songs.invalid(statement, NextToken="x" * 32_769).endswith(
        "Member must have length less than or equal to 32768"
    )


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("attribute_exists(b) = yes", "1"),
        ("attribute_exists(nowhere) = yes", "2"),
        ("yes = attribute_exists(b)", "1"),
        ("attribute_exists(b) <> yes", "2"),
        ("attribute_exists(b) = b", ""),
        ("(a = '1') = (b = '1')", "12"),
        ("(a = '1') IN [yes, b]", "12"),
        ("a IN ['1', b = '9']", "1"),
        ("yes IN [a, b = '9']", "2"),
        # A comparison that repeats its operands doubles with each level: this would never end.
        ("attribute_exists(b)" + " = yes" * 40, "12"),
        ("(" * 41 + "a = a.a" + ") = (b = b.b)" * 41, "12"),
    ],
)
def test_conditions_are_compared_like_booleans(
    songs: Statements, pk: str, condition: str, found: str
) -> None:
    for sk, yes in (("1", True), ("2", False)):
        songs.run(f"UPDATE {{t}} SET yes = ? {where(pk, sk)}", {"BOOL": yes})
    assert songs.keys(f"pk = '{pk}' AND {condition}") == list(found)
