"""BatchExecuteStatement: every statement by itself, short error codes, capacity added up by table."""

from typing import Any

import pytest

from item_tables import invalid, unique
from partiql_calls import WELL_FORMED, Statements

NEEDS_KEY = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
NOT_RETURNED = (
    "Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements."
)
VALUES = "One or more parameter values were invalid: "


@pytest.fixture(scope="module")
def songs(client: Any, range_table: str) -> Statements:
    return Statements(client, range_table)


@pytest.fixture
def pk(songs: Statements) -> str:
    name = unique()
    for sort in "12":
        songs.put(pk=name, sk=sort, flag=f"f{sort}", m={"M": {"x": {"S": "y"}}})
    return name


def where(pk: str, sk: str = "1") -> str:
    return f"WHERE pk = '{pk}' AND sk = '{sk}'"


def members(songs: Statements, *statements: str | dict[str, Any]) -> list[dict[str, Any]]:
    asked = [{"Statement": each} if isinstance(each, str) else each for each in statements]
    return [{**each, "Statement": songs.text(each["Statement"])} for each in asked]


def batch(songs: Statements, *statements: str | dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = songs.client.batch_execute_statement(Statements=members(songs, *statements), **more)
    answer.pop("ResponseMetadata")
    return dict(answer)


def test_reads(songs: Statements, pk: str) -> None:
    answer = batch(
        songs,
        f"SELECT flag, m.x FROM {{t}} {where(pk)}",
        {"Statement": "SELECT * FROM {t} WHERE pk = ? AND sk IN ['2']", "Parameters": [{"S": pk}]},
        f"SELECT * FROM {{t}} {where(pk, '3')}",
    )
    assert answer == {
        "Responses": [
            {"Item": {"flag": {"S": "f1"}, "x": {"S": "y"}}, "TableName": songs.table},
            {"Item": songs.get(pk=pk, sk="2"), "TableName": songs.table},
            {"TableName": songs.table},
        ]
    }


def test_reads_name_the_whole_key_and_nothing_else(songs: Statements, pk: str) -> None:
    statements = [
        "SELECT * FROM {t}",
        f"SELECT * FROM {{t}} WHERE pk = '{pk}'",
        f"SELECT * FROM {{t}} {where(pk)} AND flag = 'f1'",
        f"SELECT * FROM {{t}} {where(pk)} AND pk = 'other'",
        f'SELECT * FROM {{t}}."index" {where(pk)}',
    ]
    refusal = {"Error": {"Code": "ValidationError", "Message": NEEDS_KEY}}
    answer = batch(songs, *statements, f"SELECT sk FROM {{t}} {where(pk)}")
    assert answer["Responses"] == [refusal] * 5 + [{"Item": {"sk": {"S": "1"}}, "TableName": songs.table}]


def test_writes(songs: Statements, pk: str) -> None:
    new = unique()
    answer = batch(
        songs,
        f"INSERT INTO {{t}} VALUE {{'pk': '{new}', 'sk': '1'}}",
        f"UPDATE {{t}} SET n = 1 {where(pk)} RETURNING MODIFIED NEW *",
        f"DELETE FROM {{t}} {where(pk, '2')} RETURNING ALL OLD *",
        f"DELETE FROM {{t}} {where(pk, '3')} RETURNING ALL OLD *",
    )
    responses = answer["Responses"]
    assert responses[0] == {"TableName": songs.table}
    assert responses[1] == {"Item": {"n": {"N": "1"}}, "TableName": songs.table}
    assert responses[2]["Item"]["flag"] == {"S": "f2"}
    assert responses[3] == {"TableName": songs.table}
    assert songs.get(pk=new, sk="1") is not None
    assert songs.get(pk=pk, sk="2") is None


def test_each_failure_is_its_own(songs: Statements, pk: str) -> None:
    answer = batch(
        songs,
        f"SLECT * FROM {{t}} {where(pk)}",
        f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1'}}",
        {
            "Statement": f"UPDATE {{t}} SET a = 1 {where(pk, '2')} AND flag = 'wrong'",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        "DELETE FROM nowhere WHERE pk = 'x'",
        "DELETE FROM {t} WHERE pk = 'x'",
        {"Statement": f"UPDATE {{t}} SET a = ? {where(pk, '3')}", "Parameters": [{"SS": []}]},
        {"Statement": f"UPDATE {{t}} SET a = ? {where(pk, '4')}", "Parameters": [{"S": "a"}, {"S": "b"}]},
        f"UPDATE {{t}} SET none.path = 1 {where(pk)} AND flag = 'f1' AND attribute_exists(pk)".replace(
            where(pk), where(pk, "5")
        ),
        f"DELETE FROM {{t}} {where(pk, '6')} RETURNING ALL NEW *",
    )
    errors = [each["Error"] for each in answer["Responses"]]
    assert [(error["Code"], error["Message"]) for error in errors] == [
        ("ValidationError", WELL_FORMED + "Expected data manipulation"),
        ("DuplicateItem", "Duplicate primary key exists in table"),
        ("ConditionalCheckFailed", "The conditional request failed"),
        ("ResourceNotFound", "Requested resource not found"),
        ("ValidationError", "Where clause does not contain a mandatory equality on all key attributes"),
        ("ValidationError", VALUES + "An string set  may not be empty"),
        ("ValidationError", "Number of parameters in request and statement don't match."),
        ("ConditionalCheckFailed", "The conditional request failed"),
        (
            "ValidationError",
            NOT_RETURNED,
        ),
    ]
    # Only a statement that ran says on which table; the stored item is never shown.
    assert [at for at, each in enumerate(answer["Responses"]) if "TableName" in each] == [1, 2, 7]
    assert all(set(error) == {"Code", "Message"} for error in errors)


def test_a_rule_broken_by_the_stored_item_names_the_table(songs: Statements, pk: str) -> None:
    (response,) = batch(songs, f"UPDATE {{t}} SET none.path = 1 {where(pk)}")["Responses"]
    assert response["Error"]["Code"] == "ValidationError"
    assert response["TableName"] == songs.table


def test_reads_and_writes_do_not_mix(songs: Statements, pk: str) -> None:
    statements = members(
        songs, f"SELECT * FROM {{t}} {where(pk)}", f"DELETE FROM {{t}} {where(pk, '2')}", "rubbish"
    )
    assert invalid(songs.client.batch_execute_statement, Statements=statements) == (
        "Read and write requests together in the same batch is not supported."
    )
    assert songs.get(pk=pk, sk="2") is not None


@pytest.mark.parametrize("statement", ["SELECT * FROM {t} ", "DELETE FROM {t} "])
def test_an_item_takes_part_once(songs: Statements, pk: str, statement: str) -> None:
    statements = members(songs, statement + where(pk), statement + f"WHERE sk = '1' AND pk = '{pk}'")
    assert invalid(songs.client.batch_execute_statement, Statements=statements) == (
        "Provided list of item keys contains duplicates"
    )
    assert songs.get(pk=pk, sk="1") is not None


def test_exists_belongs_into_transactions(songs: Statements, pk: str) -> None:
    (response,) = batch(songs, f"EXISTS(SELECT * FROM {{t}} {where(pk)} AND flag = 'x')")["Responses"]
    assert response == {
        "Error": {
            "Code": "ValidationError",
            "Message": "EXISTS can only be used in ExecuteTransaction write requests.",
        }
    }


def test_too_many_reads(songs: Statements) -> None:
    listed = ", ".join(f"'v{number}'" for number in range(51))
    (response,) = batch(songs, f"SELECT * FROM {{t}} WHERE pk IN [{listed}] AND sk = '1'")["Responses"]
    assert response["Error"]["Message"] == "Too many decomposed read operations for a given query."


def test_25_statements_and_no_more(songs: Statements) -> None:
    pk = unique()
    statements = members(songs, *(f"SELECT * FROM {{t}} {where(pk, str(sort))}" for sort in range(26)))
    assert len(songs.client.batch_execute_statement(Statements=statements[:25])["Responses"]) == 25
    message = invalid(songs.client.batch_execute_statement, Statements=statements)
    assert message.startswith("1 validation error detected: Value '[BatchStatementRequest(statement=SELECT")
    assert message.endswith(
        "at 'statements' failed to satisfy constraint: Member must have length less than or equal to 25"
    )
    assert invalid(songs.client.batch_execute_statement, Statements=[]) == (
        "1 validation error detected: Value '[]' at 'statements' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1"
    )


def test_capacity_of_reads_follows_each_statement(songs: Statements, pk: str) -> None:
    answer = batch(
        songs,
        {"Statement": f"SELECT * FROM {{t}} {where(pk)}", "ConsistentRead": True},
        f"SELECT * FROM {{t}} {where(pk, 'missing')}",
        "SELECT * FROM {t} WHERE flag = 'x'",
        ReturnConsumedCapacity="INDEXES",
    )
    assert answer["ConsumedCapacity"] == [
        {"TableName": songs.table, "CapacityUnits": 1.5, "Table": {"CapacityUnits": 1.5}}
    ]


def test_a_failed_write_counts_for_the_total_only(songs: Statements, hash_table: str) -> None:
    pk, new = unique(), unique()
    songs.put(pk=pk, sk="1", data="x" * 3000)
    answer = batch(
        songs,
        f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1'}}",
        f"UPDATE {{t}} SET a = 1 {where('ghost')}",
        f"INSERT INTO {{t}} VALUE {{'pk': '{new}', 'sk': '1'}}",
        f"UPDATE \"{hash_table}\" SET a = 1 WHERE pk = 'ghost'",
        ReturnConsumedCapacity="INDEXES",
    )
    assert answer["ConsumedCapacity"] == [
        {"TableName": songs.table, "CapacityUnits": 5.0, "Table": {"CapacityUnits": 1.0}}
    ]
    assert "ConsumedCapacity" not in batch(
        songs, f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1'}}", ReturnConsumedCapacity="TOTAL"
    )


def test_capacity_by_table_and_index(songs: Statements, indexed_table: str) -> None:
    pk = unique()
    answer = batch(
        songs,
        f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1'}}",
        f"INSERT INTO \"{indexed_table}\" VALUE {{'pk': '{pk}', 'sk': '1', 'l': 'x'}}",
        f"INSERT INTO \"{indexed_table}\" VALUE {{'pk': '{pk}', 'sk': '2', 'g': 'x'}}",
        ReturnConsumedCapacity="INDEXES",
    )
    assert [each["TableName"] for each in answer["ConsumedCapacity"]] == [songs.table, indexed_table]
    indexed = answer["ConsumedCapacity"][1]
    assert indexed["CapacityUnits"] == 6.0
    assert indexed["Table"] == {"CapacityUnits": 2.0}
    assert set(indexed["LocalSecondaryIndexes"]) == {"local-all", "local-keys", "local-some"}
    assert indexed["GlobalSecondaryIndexes"] == {"global-hash": {"CapacityUnits": 1.0}}
