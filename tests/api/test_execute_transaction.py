"""ExecuteTransaction: all or nothing, reasons in the order of the statements, idempotent by its token."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import invalid, refused, unique
from partiql_calls import Statements

VALUES = "One or more parameter values were invalid: "
MISMATCH = "The provided key element does not match the schema"
TWICE = "Transaction request cannot include multiple operations on one item"
FIRST = "Validation failed in TransactStatements[0]: "


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


def request(songs: Statements, *statements: str | dict[str, Any]) -> list[dict[str, Any]]:
    asked = [{"Statement": each} if isinstance(each, str) else each for each in statements]
    return [{**each, "Statement": songs.text(each["Statement"])} for each in asked]


def transact(songs: Statements, *statements: str | dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = songs.client.execute_transaction(TransactStatements=request(songs, *statements), **more)
    answer.pop("ResponseMetadata")
    return dict(answer)


def refusal(songs: Statements, *statements: str | dict[str, Any]) -> str:
    return invalid(songs.client.execute_transaction, TransactStatements=request(songs, *statements))


def reasons(songs: Statements, *statements: str | dict[str, Any]) -> list[dict[str, Any]]:
    with pytest.raises(ClientError) as caught:
        transact(songs, *statements)
    response = caught.value.response
    assert response["Error"]["Code"] == "TransactionCanceledException"
    found = response["CancellationReasons"]
    codes = ", ".join(reason["Code"] for reason in found)
    assert response["Error"]["Message"] == (
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    )
    return list(found)


def test_reads(songs: Statements, pk: str) -> None:
    answer = transact(
        songs,
        f"SELECT flag, m.x FROM {{t}} {where(pk)}",
        {"Statement": "SELECT * FROM {t} WHERE pk = ? AND sk = '2'", "Parameters": [{"S": pk}]},
        f"SELECT * FROM {{t}} {where(pk, '3')}",
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["Responses"] == [
        {"Item": {"flag": {"S": "f1"}, "x": {"S": "y"}}},
        {"Item": songs.get(pk=pk, sk="2")},
        {},
    ]
    assert answer["ConsumedCapacity"] == [
        {"TableName": songs.table, "CapacityUnits": 6.0, "ReadCapacityUnits": 6.0}
    ]


def test_columns_inside_documents_come_under_names_of_their_own(songs: Statements, pk: str) -> None:
    answer = transact(
        songs,
        f"SELECT m.x FROM {{t}} {where(pk)}",
        f"SELECT m.x FROM {{t}} {where(pk, '3')}",
        f"SELECT m.none FROM {{t}} {where(pk, '2')}",
    )
    assert answer["Responses"] == [{"Item": {"x": {"S": "y"}}}, {}, {"Item": {}}]


def test_reads_name_the_whole_key_and_nothing_else(songs: Statements, pk: str) -> None:
    needs_key = (
        FIRST
        + "Select statements within ExecuteTransaction must specify the primary key in the where clause."
    )
    select = "SELECT * FROM {t} "
    for rest in (
        "",
        f"WHERE pk = '{pk}'",
        f"{where(pk)} AND flag = 'f1'",
        f"{where(pk)} AND pk = 'other'",
        f"WHERE pk IN ['other'] AND pk = '{pk}' AND sk = '1'",
    ):
        assert refusal(songs, select + rest) == needs_key
    for rest in (
        f"WHERE (sk = '1') AND pk = '{pk}' AND pk = '{pk}'",
        f"WHERE pk IN ['{pk}'] AND sk IN ['1']",
    ):
        assert transact(songs, select + rest)["Responses"][0]["Item"]["flag"] == {"S": "f1"}
    assert refusal(songs, select + f"WHERE pk IN ['{pk}', '{pk}'] AND sk = '1'") == (
        FIRST + "Overlapping conditions with range keys are not supported in where clause"
    )


def test_writes(songs: Statements, pk: str) -> None:
    new = unique()
    answer = transact(
        songs,
        f"INSERT INTO {{t}} VALUE {{'pk': '{new}', 'sk': '1'}}",
        f"UPDATE {{t}} SET n = 1 {where(pk)}",
        f"DELETE FROM {{t}} {where(pk, '2')} AND flag = 'f2'",
        f"EXISTS(SELECT * FROM {{t}} {where(pk, '3')} AND flag IS MISSING)",
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer == {
        "Responses": [],
        "ConsumedCapacity": [{"TableName": songs.table, "CapacityUnits": 8.0, "WriteCapacityUnits": 8.0}],
    }
    assert songs.get(pk=new, sk="1") is not None
    assert songs.get(pk=pk, sk="2") is None
    assert transact(songs, f"DELETE FROM {{t}} {where(pk)}") == {"Responses": []}


def test_conditions_that_fail_cancel_everything(songs: Statements, pk: str) -> None:
    found = reasons(
        songs,
        f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1'}}",
        {
            "Statement": f"UPDATE {{t}} SET n = 1 {where(pk, '2')} AND flag = 'no'",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        f"EXISTS(SELECT * FROM {{t}} {where(pk, '3')} AND attribute_exists(pk))",
        f"UPDATE {{t}} SET n = 1 {where('ghost')}",
        f"INSERT INTO {{t}} VALUE {{'pk': '{unique()}', 'sk': '1'}}",
    )
    failed = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
    assert found == [
        {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"},
        {**failed, "Item": songs.get(pk=pk, sk="2")},
        failed,
        failed,
        {"Code": "None"},
    ]


def test_keys_that_name_no_item_cancel(songs: Statements, pk: str) -> None:
    update = "UPDATE {t} SET a = 1 "
    found = reasons(
        songs,
        f"{update} WHERE pk = '{pk}'",
        f"{update} WHERE pk IN ['{pk}'] AND sk = '1'",
        f"{update} {where(pk)} AND pk = 'other'",
        f"{update} WHERE pk = '{pk}' AND sk = 1",
        f"{update} {where(pk)}",
        "DELETE FROM {t} WHERE sk = '1'",
        "INSERT INTO {t} VALUE {'pk': 'x'}",
        "INSERT INTO {t} VALUE {'pk': 'x', 'sk': 1}",
    )
    wrong = {"Code": "ValidationError", "Message": MISMATCH}
    assert found[:6] == [wrong, wrong, wrong, wrong, {"Code": "None"}, wrong]
    assert found[6]["Message"] == VALUES + "Missing the key sk in the item"
    assert found[7]["Message"] == VALUES + "Type mismatch for key sk expected: S actual: N"
    assert reasons(songs, f"SELECT * FROM {{t}} WHERE pk = '{pk}' AND sk = 1") == [wrong]


def test_missing_tables_cancel(songs: Statements, pk: str) -> None:
    missing = {"Code": "ResourceNotFound", "Message": "Requested resource not found"}
    update = "UPDATE nowhere SET a = 1 WHERE pk = 'x'"
    assert (
        reasons(songs, update + " RETURNING ALL NEW *", "DELETE FROM nowhere WHERE pk = 'x'") == [missing] * 2
    )
    select = f"SELECT * FROM {{t}} {where(pk)}"
    assert reasons(songs, select, "SELECT * FROM nowhere.\"i\" WHERE pk = 'x'") == [{"Code": "None"}, missing]
    assert refusal(songs, update, f"UPDATE {{t}} SET a = 1 {where(pk)} RETURNING ALL NEW *") == (
        "Validation failed in TransactStatements[1]: RETURNING clause is not supported in ExecuteTransaction."
    )
    assert refusal(songs, "SELECT * FROM nowhere WHERE pk = 'x'", f'SELECT * FROM {{t}}."i" {where(pk)}') == (
        "Validation failed in TransactStatements[1]: Reads on indices are not supported within transactions."
    )


def test_an_item_takes_part_once(songs: Statements, pk: str) -> None:
    select = f"SELECT * FROM {{t}} {where(pk)}"
    assert refusal(songs, select, f"SELECT flag FROM {{t}} WHERE sk = '1' AND pk = '{pk}'") == TWICE
    assert refusal(songs, f"UPDATE {{t}} SET a = 1 {where(pk)}", f"DELETE FROM {{t}} {where(pk)}") == TWICE
    check = f"EXISTS(SELECT * FROM {{t}} {where(pk)} AND flag = 'f1')"
    assert refusal(songs, check, f"DELETE FROM {{t}} {where(pk)}") == TWICE
    found = reasons(songs, select, select, "SELECT * FROM {t} WHERE pk = 1 AND sk = '1'")
    assert [reason["Code"] for reason in found] == ["None", "None", "ValidationError"]


def test_exists_needs_an_item_and_a_condition(songs: Statements, pk: str) -> None:
    update = f"UPDATE {{t}} SET a = 1 {where(pk, '2')}"
    for rest in (
        where(pk),
        f"WHERE pk = '{pk}' AND flag = 'f1'",
        f"WHERE pk IN ['{pk}'] AND sk = '1' AND flag = 'f1'",
    ):
        assert refusal(songs, f"EXISTS(SELECT * FROM {{t}} {rest})", update) == (
            FIRST + "EXISTS() must contain a single item read with additional condition"
        )
    # With two values for a key attribute the first one names the item.
    found = reasons(
        songs, f"EXISTS(SELECT * FROM {{t}} {where(pk)} AND pk = 'other' AND flag = 'f1')", update
    )
    assert [reason["Code"] for reason in found] == ["ConditionalCheckFailed", "None"]
    transact(
        songs, f"EXISTS(SELECT * FROM {{t}} WHERE (pk = '{pk}' AND sk = '1') AND nope IS MISSING)", update
    )


def test_reads_and_writes_do_not_mix(songs: Statements, pk: str) -> None:
    assert refusal(songs, f"SELECT * FROM {{t}} {where(pk)}", f"DELETE FROM {{t}} {where(pk, '2')}") == (
        "ExecuteTransaction API does not support both read and write operations in the same request."
    )


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("rubbish", "Unsupported operation: Id"),
        (
            "UPDATE {t} SET n = n + [1] WHERE pk = 'x' AND sk = '1'",
            "Incorrect operand type for operator or function; operator or function: +, operand type: L",
        ),
        (
            "UPDATE {t}.\"i\" SET n = 1 WHERE pk = 'x' AND sk = '1'",
            "This operation is not supported on an index",
        ),
        (
            "INSERT INTO {t} VALUE {'pk': 'x', 'sk': '1', 'x': [<<'a', 'a'>>]}",
            VALUES + "Input collection [a, a] contains duplicates.",
        ),
        ("DELETE FROM {t} WHERE pk = ?", "Number of parameters in request and statement don't match."),
    ],
)
def test_a_bad_statement_is_named(songs: Statements, statement: str, message: str) -> None:
    fine = f"DELETE FROM {{t}} {where('nothing')}"
    assert refusal(songs, fine, statement) == f"Validation failed in TransactStatements[1]: {message}"


def test_a_bad_parameter_is_not(songs: Statements) -> None:
    statement = {"Statement": "DELETE FROM {t} WHERE pk = ?", "Parameters": [{"SS": ["a", "a"]}]}
    assert refusal(songs, f"DELETE FROM {{t}} {where('nothing')}", statement) == (
        VALUES + "Input collection [a, a] contains duplicates."
    )


def test_an_empty_key_refuses_the_request(songs: Statements) -> None:
    assert refusal(songs, "INSERT INTO {t} VALUE {'pk': '', 'sk': '1'}") == (
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
        "an empty string value. Key: pk"
    )


def test_a_rule_broken_by_the_stored_item_cancels(songs: Statements, pk: str) -> None:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(31):
        value = {"M": {"a": value}}
    statement = {"Statement": f"UPDATE {{t}} SET m.deep = ? {where(pk)}", "Parameters": [value]}
    assert reasons(songs, statement) == [
        {"Code": "ValidationError", "Message": "Nesting Levels have exceeded supported limits"}
    ]


def test_a_token_runs_the_transaction_once(songs: Statements, pk: str) -> None:
    songs.put(pk=pk, sk="1", n={"N": "0"}, data="x" * 1500)
    token = unique()
    statement = f"UPDATE {{t}} SET n = n + 1 {where(pk)}"
    first = transact(songs, statement, ClientRequestToken=token, ReturnConsumedCapacity="TOTAL")
    again = transact(songs, statement, ClientRequestToken=token, ReturnConsumedCapacity="INDEXES")
    assert first["ConsumedCapacity"][0]["WriteCapacityUnits"] == 4.0
    read = {"CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}
    assert again["ConsumedCapacity"] == [{"TableName": songs.table, **read, "Table": read}]
    assert again["Responses"] == []
    found = songs.get(pk=pk, sk="1")
    assert found is not None
    assert found["n"] == {"N": "1"}
    code, _ = refused(
        songs.client.execute_transaction,
        TransactStatements=request(songs, statement.replace("+ 1", "+ 2")),
        ClientRequestToken=token,
    )
    assert code == "IdempotentParameterMismatchException"


def test_100_statements_and_no_more(songs: Statements) -> None:
    pk = unique()
    statements = request(
        songs, *(f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '{sort}'}}" for sort in range(101))
    )
    songs.client.execute_transaction(TransactStatements=statements[:100])
    assert len(songs.keys(f"pk = '{pk}'")) == 100
    assert invalid(songs.client.execute_transaction, TransactStatements=statements).endswith(
        "at 'transactStatements' failed to satisfy constraint: Member must have length less than or equal to 100"
    )
    assert invalid(songs.client.execute_transaction, TransactStatements=[]).endswith(
        "at 'transactStatements' failed to satisfy constraint: Member must have length greater than or equal to 1"
    )
