"""ListTables: names in order of their bytes, by pages."""

from typing import Any

import pytest

from item_tables import invalid, make_table, refused, unique


@pytest.fixture(scope="module")
def elsewhere(make_client: Any) -> Any:
    """A client of a region that no other test uses."""
    return make_client(region="ap-south-1")


@pytest.fixture(scope="module")
def names(elsewhere: Any) -> list[str]:
    base = unique("list")
    found = [f"{base}{end}" for end in (".a", "-a", "A", "_z", "a", "b")]
    for name in found:
        make_table(elsewhere, "p", TableName=name)
    return sorted(found, key=str.encode)


def test_all_names_on_one_page(elsewhere: Any, names: list[str]) -> None:
    answer = elsewhere.list_tables()
    assert answer["TableNames"] == names
    assert "LastEvaluatedTableName" not in answer


def test_pages(elsewhere: Any, names: list[str]) -> None:
    first = elsewhere.list_tables(Limit=4)
    assert (first["TableNames"], first["LastEvaluatedTableName"]) == (names[:4], names[3])
    second = elsewhere.list_tables(Limit=4, ExclusiveStartTableName=names[3])
    assert second["TableNames"] == names[4:]
    assert "LastEvaluatedTableName" not in second


def test_a_full_last_page_is_the_last(elsewhere: Any, names: list[str]) -> None:
    assert "LastEvaluatedTableName" not in elsewhere.list_tables(Limit=len(names))


def test_the_start_need_not_be_a_table(elsewhere: Any, names: list[str]) -> None:
    assert elsewhere.list_tables(ExclusiveStartTableName="aaa")["TableNames"] == names
    assert elsewhere.list_tables(ExclusiveStartTableName="zzz")["TableNames"] == []


@pytest.mark.parametrize(
    ("limit", "rule"), [(0, "greater than or equal to 1"), (101, "less than or equal to 100")]
)
def test_limits_that_are_not_allowed(client: Any, limit: int, rule: str) -> None:
    assert invalid(client.list_tables, Limit=limit) == (
        f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: Member must have "
        f"value {rule}"
    )


def test_all_complaints_at_once(client: Any) -> None:
    assert invalid(client.list_tables, ExclusiveStartTableName="a;", Limit=500) == (
        "3 validation errors detected: Value '500' at 'limit' failed to satisfy constraint: Member must have value "
        "less than or equal to 100; Value 'a;' at 'exclusiveStartTableName' failed to satisfy constraint: Member "
        "must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'a;' at 'exclusiveStartTableName' failed "
        "to satisfy constraint: Member must have length greater than or equal to 3"
    )


def test_an_arn_is_no_start(client: Any) -> None:
    code, _ = refused(
        client.list_tables, ExclusiveStartTableName="arn:aws:dynamodb:us-east-1:000000000000:table/abc"
    )
    assert code == "ValidationException"


def test_null_members_count_as_absent(raw: Any) -> None:
    assert raw("ListTables", {"ExclusiveStartTableName": None, "Limit": None, "other": 1}).status == 200
