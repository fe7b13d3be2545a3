"""The patterns of fine-grained access control that the service's guide teaches, and the ways around that they close."""

from typing import Any

import pytest

from auth.policy.asking import TABLE, asked, decided, statement
from hashrange.auth.policy.keys import KeyValue

INDEX = f"{TABLE}/index/by-date"
ITEMS = [
    f"dynamodb:{name}" for name in ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")
]

TENANT = [
    statement(
        Action=ITEMS, Condition={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:userid}"]}}
    )
]
PREFIX = [
    statement(
        Action=ITEMS,
        Condition={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["${aws:PrincipalTag/tenant}#*"]}},
    )
]
COLUMNS = [
    statement(
        Action=["dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem"],
        Condition={
            "ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "name", "city"]},
            "StringEqualsIfExists": {
                "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
                "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
            },
        },
    )
]
NO_UPDATE = [
    statement(
        Action="dynamodb:UpdateItem",
        Condition={"ForAllValues:StringNotLike": {"dynamodb:Attributes": ["admin*"]}},
    )
]
INDEX_ONLY = [
    statement(
        Action="dynamodb:Query",
        Resource=INDEX,
        Condition={"StringEquals": {"dynamodb:Select": "ALL_PROJECTED_ATTRIBUTES"}},
    )
]
NO_SSN = [
    statement(),
    statement("Deny", Condition={"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["ssn"]}}),
    statement(
        "Deny",
        Action=["dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"],
        Condition={"StringNotEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}},
    ),
]
NO_FULL_SCAN = [
    statement(),
    statement(
        "Deny", Action="dynamodb:PartiQLSelect", Condition={"Bool": {"dynamodb:FullTableScan": "true"}}
    ),
]
ONLY_TRANSACTIONS = [
    statement(
        Action="dynamodb:PutItem",
        Condition={"StringEquals": {"dynamodb:EnclosingOperation": ["TransactWriteItems"]}},
    )
]
NO_TRANSACTIONS = [
    statement(),
    statement(
        "Deny",
        Condition={"ForAnyValue:StringEquals": {"dynamodb:EnclosingOperation": ["TransactWriteItems"]}},
    ),
]
INERT = [statement(), statement("Deny", Condition={"StringEquals": {"dynamodb:Attributes": ["ssn"]}})]

CASES: list[tuple[str, list[dict[str, Any]], str, str, dict[str, KeyValue], bool]] = [
    ("own item", TENANT, "GetItem", TABLE, {"dynamodb__LeadingKeys": ("AIDA1",)}, True),
    ("another's item", TENANT, "GetItem", TABLE, {"dynamodb__LeadingKeys": ("AIDA2",)}, False),
    ("own among others", TENANT, "BatchGetItem", TABLE, {"dynamodb__LeadingKeys": ("AIDA1", "AIDA2")}, False),
    ("own items twice", TENANT, "BatchGetItem", TABLE, {"dynamodb__LeadingKeys": ("AIDA1", "AIDA1")}, True),
    ("a prefix of the own key", TENANT, "Query", TABLE, {"dynamodb__LeadingKeys": ("AIDA",)}, False),
    ("the own key and more", TENANT, "Query", TABLE, {"dynamodb__LeadingKeys": ("AIDA12",)}, False),
    ("an action that is not listed", TENANT, "Scan", TABLE, {}, False),
    (
        "no leading key at all",
        TENANT,
        "Query",
        TABLE,
        {},
        True,
    ),  # the service's own hole: the API must fill the key in
    ("own prefix", PREFIX, "PutItem", TABLE, {"dynamodb__LeadingKeys": ("t1#order",)}, True),
    ("another prefix", PREFIX, "PutItem", TABLE, {"dynamodb__LeadingKeys": ("t10#order",)}, False),
    (
        "no tag",
        PREFIX,
        "PutItem",
        TABLE,
        {"aws__PrincipalTag/tenant": (), "dynamodb__LeadingKeys": ("#x",)},
        False,
    ),
    (
        "listed columns",
        COLUMNS,
        "GetItem",
        TABLE,
        {"dynamodb__Attributes": ("pk", "name"), "dynamodb__Select": "SPECIFIC_ATTRIBUTES"},
        True,
    ),
    (
        "one column too many",
        COLUMNS,
        "GetItem",
        TABLE,
        {"dynamodb__Attributes": ("pk", "ssn"), "dynamodb__Select": "SPECIFIC_ATTRIBUTES"},
        False,
    ),
    (
        "all columns",
        COLUMNS,
        "GetItem",
        TABLE,
        {"dynamodb__Attributes": ("pk",), "dynamodb__Select": "ALL_ATTRIBUTES"},
        False,
    ),
    (
        "an update that returns nothing",
        COLUMNS,
        "UpdateItem",
        TABLE,
        {"dynamodb__Attributes": ("pk", "city"), "dynamodb__ReturnValues": "NONE"},
        True,
    ),
    (
        "an update that returns all",
        COLUMNS,
        "UpdateItem",
        TABLE,
        {"dynamodb__Attributes": ("pk", "city"), "dynamodb__ReturnValues": "ALL_OLD"},
        False,
    ),
    (
        "update of a free column",
        NO_UPDATE,
        "UpdateItem",
        TABLE,
        {"dynamodb__Attributes": ("pk", "city")},
        True,
    ),
    (
        "update of a closed column",
        NO_UPDATE,
        "UpdateItem",
        TABLE,
        {"dynamodb__Attributes": ("pk", "adminSince")},
        False,
    ),
    (
        "query of the index",
        INDEX_ONLY,
        "Query",
        INDEX,
        {"dynamodb__Select": "ALL_PROJECTED_ATTRIBUTES"},
        True,
    ),
    (
        "query of the table",
        INDEX_ONLY,
        "Query",
        TABLE,
        {"dynamodb__Select": "ALL_PROJECTED_ATTRIBUTES"},
        False,
    ),
    ("everything of the index", INDEX_ONLY, "Query", INDEX, {"dynamodb__Select": "ALL_ATTRIBUTES"}, False),
    (
        "without the column",
        NO_SSN,
        "GetItem",
        TABLE,
        {"dynamodb__Attributes": ("name",), "dynamodb__Select": "SPECIFIC_ATTRIBUTES"},
        True,
    ),
    (
        "with the column",
        NO_SSN,
        "GetItem",
        TABLE,
        {"dynamodb__Attributes": ("name", "ssn"), "dynamodb__Select": "SPECIFIC_ATTRIBUTES"},
        False,
    ),
    (
        "with all columns",
        NO_SSN,
        "GetItem",
        TABLE,
        {"dynamodb__Attributes": ("name",), "dynamodb__Select": "ALL_ATTRIBUTES"},
        False,
    ),
    ("a write without the column", NO_SSN, "PutItem", TABLE, {"dynamodb__Attributes": ("name",)}, True),
    (
        "a full scan by PartiQL",
        NO_FULL_SCAN,
        "PartiQLSelect",
        TABLE,
        {"dynamodb__FullTableScan": "true"},
        False,
    ),
    (
        "a key lookup by PartiQL",
        NO_FULL_SCAN,
        "PartiQLSelect",
        TABLE,
        {"dynamodb__FullTableScan": "false"},
        True,
    ),
    ("a scan by Scan", NO_FULL_SCAN, "Scan", TABLE, {}, True),
    (
        "a put in a transaction",
        ONLY_TRANSACTIONS,
        "PutItem",
        TABLE,
        {"dynamodb__EnclosingOperation": "TransactWriteItems"},
        True,
    ),
    ("a put of its own", ONLY_TRANSACTIONS, "PutItem", TABLE, {}, False),
    (
        "never in a transaction",
        NO_TRANSACTIONS,
        "PutItem",
        TABLE,
        {"dynamodb__EnclosingOperation": "TransactWriteItems"},
        False,
    ),
    ("but on its own", NO_TRANSACTIONS, "PutItem", TABLE, {}, True),
    ("a bare operator on a set", INERT, "GetItem", TABLE, {"dynamodb__Attributes": ("ssn",)}, True),
]


@pytest.mark.parametrize(
    ("statements", "operation", "resource", "keys", "expected"),
    [row[1:] for row in CASES],
    ids=[row[0] for row in CASES],
)
def test_a_published_pattern(
    statements: list[dict[str, Any]], operation: str, resource: str, keys: dict[str, KeyValue], expected: bool
) -> None:
    known: dict[str, KeyValue] = {"aws__userid": "AIDA1", "aws__PrincipalTag/tenant": "t1"}
    request = asked(f"dynamodb:{operation}", resource, keys=known | keys)
    assert decided(request, *statements).allowed is expected
