"""Which tables a request with PartiQL statements is about, as far as that can be told from its text."""

from typing import Any

import orjson
import pytest

from hashrange.api.registry import DYNAMODB

SELECT = 'SELECT * FROM "one"."an-index" WHERE pk = \'x\''
INSERT = "INSERT INTO two VALUE {'pk': ?}"
EXISTS = (
    "EXISTS(SELECT * FROM \"arn:aws:dynamodb:us-east-1:000000000000:table/three\" WHERE pk = 'x' AND a = 1)"
)
NONSENSE = "SELECT nothing of note"


def members(*statements: str) -> list[dict[str, str]]:
    return [{"Statement": statement} for statement in statements]


@pytest.mark.parametrize(
    ("operation", "request_body", "tables"),
    [
        ("ExecuteStatement", {"Statement": SELECT}, ["one"]),
        ("ExecuteStatement", {"Statement": NONSENSE}, []),
        (
            "BatchExecuteStatement",
            {"Statements": members(SELECT, NONSENSE, INSERT, SELECT)},
            ["one", "two", "one"],
        ),
        (
            "ExecuteTransaction",
            {"TransactStatements": members(INSERT, EXISTS)},
            ["two", "arn:aws:dynamodb:us-east-1:000000000000:table/three"],
        ),
    ],
)
def test_statements_name_their_tables(operation: str, request_body: Any, tables: list[str]) -> None:
    row = DYNAMODB.operations[operation]
    assert list(row.resources(row.decode(orjson.dumps(request_body)))) == tables
