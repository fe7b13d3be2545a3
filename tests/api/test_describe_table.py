"""DescribeTable: by name or by ARN, with counters that are right."""

from typing import Any

import pytest

from item_tables import index, invalid, make_table, refused, unique


@pytest.fixture(scope="module")
def arn(client: Any) -> str:
    name = make_table(client, "p")
    return str(client.describe_table(TableName=name)["Table"]["TableArn"])


def test_a_table_by_its_arn(client: Any, arn: str) -> None:
    described = client.describe_table(TableName=arn)["Table"]
    assert described["TableArn"] == arn
    assert described["TableName"] == arn.rpartition("/")[2]


def test_every_operation_takes_an_arn(client: Any, arn: str) -> None:
    client.put_item(TableName=arn, Item={"p": {"S": "x"}})
    assert client.get_item(TableName=arn, Key={"p": {"S": "x"}})["Item"] == {"p": {"S": "x"}}
    assert client.describe_time_to_live(TableName=arn)["TimeToLiveDescription"]
    assert client.describe_continuous_backups(TableName=arn)["ContinuousBackupsDescription"]
    assert client.update_table(TableName=arn, DeletionProtectionEnabled=False)["TableDescription"]


def test_an_arn_of_another_region(client: Any, arn: str) -> None:
    other = arn.replace("us-east-1", "eu-west-1")
    assert invalid(client.describe_table, TableName=other) == (
        f"1 validation error detected: Invalid AWS region in '{other}'"
    )


def test_an_arn_of_another_account(client: Any, arn: str) -> None:
    other = arn.replace("000000000000", "111111111111")
    assert refused(client.describe_table, TableName=other) == ("AccessDeniedException", "Access is denied")


def test_an_arn_of_something_else(client: Any, arn: str) -> None:
    backup = arn.replace(":table/", ":backup/")
    assert invalid(client.describe_table, TableName=backup) == (
        f"1 validation error detected: Invalid resource type in '{backup}'"
    )
    for other in (f"{arn}/index/some-index", f"{arn}/stream/2026-01-01T00:00:00.000", "arn:aws:dynamodb"):
        assert invalid(client.get_item, TableName=other, Key={"p": {"S": "x"}}) == (
            f"1 validation error detected: Value '{other}' at 'tableName' failed to satisfy constraint: Valid ARN "
            "format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', where "
            "Resource name must have length less than or equal to 255, Resource name must have length greater "
            "than or equal to 3, Resource name must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
        )


def test_a_table_there_is_not(client: Any, arn: str) -> None:
    name = unique("missing")
    for asked in (name, arn.rpartition("/")[0] + "/" + name):
        assert refused(client.describe_table, TableName=asked) == (
            "ResourceNotFoundException",
            f"Requested resource not found: Table: {name} not found",
        )


def test_names_that_are_not_allowed(client: Any) -> None:
    assert invalid(client.describe_table, TableName="") == (
        "2 validation errors detected: Value '' at 'tableName' failed to satisfy constraint: Member must have "
        "length greater than or equal to 3; Value '' at 'tableName' failed to satisfy constraint: Member must "
        "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    )
    assert invalid(client.describe_table) == (
        "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be "
        "null"
    )


def test_counters_follow_every_write(client: Any) -> None:
    name = make_table(
        client,
        "p",
        "s",
        types={"g": "S"},
        LocalSecondaryIndexes=[index("loc", "p", "g")],
        GlobalSecondaryIndexes=[index("glo", "g", projection="KEYS_ONLY")],
    )

    def counted() -> list[tuple[int, int]]:
        table = client.describe_table(TableName=name)["Table"]
        indexes = table["LocalSecondaryIndexes"] + table["GlobalSecondaryIndexes"]
        return [
            (table["ItemCount"], table["TableSizeBytes"]),
            *((each["ItemCount"], each["IndexSizeBytes"]) for each in indexes),
        ]

    def item(sort: str, **others: str) -> dict[str, Any]:
        return {"p": {"S": "x"}, "s": {"S": sort}, **{key: {"S": value} for key, value in others.items()}}

    assert counted() == [(0, 0)] * 3
    client.put_item(TableName=name, Item=item("1", g="gg", other="long"))
    assert counted() == [(1, 4 + 3 + 9), (1, 16), (1, 7)]
    client.put_item(TableName=name, Item=item("1", g="gg", other="longer"))
    assert counted() == [(1, 18), (1, 18), (1, 7)]
    client.put_item(TableName=name, Item=item("2"))
    assert counted() == [(2, 22), (1, 18), (1, 7)]
    client.update_item(TableName=name, Key=item("1"), UpdateExpression="REMOVE g")
    assert counted() == [(2, 4 + 11 + 4), (0, 0), (0, 0)]
    for sort in ("1", "2", "never"):
        client.delete_item(TableName=name, Key=item(sort))
    assert counted() == [(0, 0)] * 3
