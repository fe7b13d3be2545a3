"""CreateTable: which secondary indexes a new table may have."""

from typing import Any

import pytest

from item_tables import definitions, index, invalid, key_schema, make_table, unique
from new_tables import UNITS, WRONG, request


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (index("loc", "x"), "Index KeySchema does not have a range key for index: loc"),
        (
            index("loc", "x", "s"),
            (
                "Index KeySchema does not have the same leading hash key as table KeySchema for index: loc. index "
                "hash key: x, table hash key: p"
            ),
        ),
        (
            index("loc", "p", "y"),
            (
                "Some index key attributes are not defined in AttributeDefinitions. Keys: [p, y], "
                "AttributeDefinitions: [p, x, s]"
            ),
        ),
        (
            index("loc", "p", "s"),
            "Some AttributeDefinitions are not used. AttributeDefinitions: [p, x, s], keys used: [p, s]",
        ),
        (
            {**index("loc", "p", "x"), "Projection": {}},
            "Unknown ProjectionType: null",
        ),
        (
            index("loc", "p", "x", projection="ALL", included=("a",)),
            "ProjectionType is ALL, but NonKeyAttributes is specified",
        ),
        (
            index("loc", "p", "x", projection="KEYS_ONLY", included=("a",)),
            "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
        ),
        (
            index("loc", "p", "x", projection="INCLUDE"),
            "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
        (
            index("loc", "p", "x", projection="INCLUDE", included=("a", "b", "a")),
            "Duplicate element in NonKeyAttributes: a",
        ),
    ],
)
def test_local_indexes_that_are_not_allowed(client: Any, spec: dict[str, Any], message: str) -> None:
    asked = request("p", "s", types={"x": "S"}, LocalSecondaryIndexes=[spec])
    assert invalid(client.create_table, **asked) == WRONG + message


def test_a_local_index_needs_a_table_with_a_range_key(client: Any) -> None:
    asked = request("p", types={"x": "S"}, LocalSecondaryIndexes=[index("loc", "p", "x")])
    assert invalid(client.create_table, **asked) == (
        WRONG + "Table KeySchema does not have a range key, which is required when specifying a "
        "LocalSecondaryIndex"
    )


def test_index_names_are_unique_across_both_kinds(client: Any) -> None:
    asked = request(
        "p",
        "s",
        LocalSecondaryIndexes=[index("same", "p", "s")],
        GlobalSecondaryIndexes=[index("same", "s")],
    )
    assert invalid(client.create_table, **asked) == WRONG + "Duplicate index name: same"


def test_five_local_indexes_and_no_more(client: Any) -> None:
    locals_ = [index(f"loc{number}", "p", "s") for number in range(6)]
    make_table(client, "p", "s", LocalSecondaryIndexes=locals_[:5])
    assert invalid(client.create_table, **request("p", "s", LocalSecondaryIndexes=locals_)) == (
        WRONG + "Number of LocalSecondaryIndexes exceeds per-table limit of 5"
    )


def test_twenty_global_indexes_and_no_more(client: Any) -> None:
    globals_ = [index(f"glo{number}", "p") for number in range(21)]
    make_table(client, "p", GlobalSecondaryIndexes=globals_[:20])
    with pytest.raises(client.exceptions.LimitExceededException) as refused:
        client.create_table(**request("p", GlobalSecondaryIndexes=globals_))
    assert refused.value.response["Error"]["Message"] == (
        "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20"
    )


def test_a_hundred_projected_attributes_and_no_more(client: Any) -> None:
    globals_ = [
        index(f"glo{number}", "p", projection="INCLUDE", included=tuple(f"a{at}" for at in range(20)))
        for number in range(5)
    ]
    make_table(client, "p", GlobalSecondaryIndexes=globals_)
    globals_.append(index("glo5", "p", projection="INCLUDE", included=("a0",)))
    assert invalid(client.create_table, **request("p", GlobalSecondaryIndexes=globals_)) == (
        WRONG + "NonKeyAttributes count exceeds the per-table limit of 100"
    )


def test_twenty_projected_attributes_per_index(client: Any) -> None:
    names = tuple(f"a{at:02}" for at in range(21))
    asked = request("p", GlobalSecondaryIndexes=[index("glo", "p", projection="INCLUDE", included=names)])
    assert invalid(client.create_table, **asked) == (
        f"1 validation error detected: Value '[{', '.join(names)}]' at "
        "'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy constraint: Member must "
        "have length less than or equal to 20"
    )


def _global(*kinds: str) -> dict[str, Any]:
    keys = [{"AttributeName": f"k{at}", "KeyType": kind} for at, kind in enumerate(kinds)]
    return {"IndexName": "wide", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}


def test_four_hash_and_four_range_attributes_in_a_global_index(client: Any) -> None:
    spec = _global(*["HASH"] * 4, *["RANGE"] * 4)
    types = {f"k{at}": "SNB"[at % 3] for at in range(8)}
    name = make_table(client, "p", types=types, GlobalSecondaryIndexes=[spec])
    (described,) = client.describe_table(TableName=name)["Table"]["GlobalSecondaryIndexes"]
    assert described["KeySchema"] == spec["KeySchema"]


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        (["HASH"] * 5, WRONG + "The KeySchema exceeds the maximum allowed number of HASH key attributes"),
        (
            ["HASH"] + ["RANGE"] * 5,
            WRONG + "The KeySchema exceeds the maximum allowed number of RANGE key attributes",
        ),
        (
            ["HASH", "RANGE", "HASH"],
            WRONG + "All HASH key attributes must precede RANGE key attributes in the KeySchema",
        ),
        (["RANGE"], "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
    ],
)
def test_global_keys_that_are_not_allowed(client: Any, kinds: list[str], message: str) -> None:
    spec = _global(*kinds)
    types = {f"k{at}": "S" for at in range(len(kinds))}
    asked = request("p", types=types, GlobalSecondaryIndexes=[spec])
    assert invalid(client.create_table, **asked) == message


def test_a_global_key_names_an_attribute_once(client: Any) -> None:
    spec = _global("HASH", "HASH")
    spec["KeySchema"][1]["AttributeName"] = "k0"
    asked = request("p", types={"k0": "S"}, GlobalSecondaryIndexes=[spec])
    assert invalid(client.create_table, **asked) == (
        "The KeySchema contains multiple key attributes with the same name"
    )


@pytest.mark.parametrize(
    ("options", "spec", "message"),
    [
        (
            {},
            {"ProvisionedThroughput": UNITS},
            "ProvisionedThroughput should not be specified for index: glo when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"BillingMode": None, "ProvisionedThroughput": UNITS},
            {},
            "ProvisionedThroughput is not specified for index: glo",
        ),
        (
            {"BillingMode": None, "ProvisionedThroughput": UNITS},
            {"ProvisionedThroughput": UNITS, "OnDemandThroughput": {"MaxReadRequestUnits": 1}},
            (
                "MaxReadRequestUnits for OnDemandThroughput for index: glo cannot be specified when table BillingMode "
                "is PROVISIONED."
            ),
        ),
        (
            {},
            {"OnDemandThroughput": {"MaxReadRequestUnits": -1}},
            "Requested MaxReadRequestUnits for OnDemandThroughput for index : glo is outside of valid range",
        ),
    ],
)
def test_throughput_of_indexes(
    client: Any, options: dict[str, Any], spec: dict[str, Any], message: str
) -> None:
    asked = request("p", GlobalSecondaryIndexes=[index("glo", "p") | spec], **options)
    assert invalid(client.create_table, **asked) == WRONG + message


UNUSED = WRONG + "Some AttributeDefinitions are not used. "
UNDEFINED = WRONG + "Some index key attributes are not defined in AttributeDefinitions. "


@pytest.mark.parametrize(
    ("defined", "keys", "message"),
    [
        (
            "PK h a unused",
            ["h a"],
            UNUSED + "AttributeDefinitions: [h, a, unused, PK], keys used: [a, h, PK]",
        ),
        (
            "PK a b c d u1",
            ["a b", "c d"],
            UNUSED + "AttributeDefinitions: [a, b, PK, c, d, u1], keys used: [a, b, c, d, PK]",
        ),
        (
            "PK a b c d u1 u2",
            ["a b", "c d"],
            UNUSED + "AttributeDefinitions: [a, b, c, d, PK, u1, u2], keys used: [a, b, c, d, PK]",
        ),
        ("PK h a", ["h a zz"], UNDEFINED + "Keys: [h, zz, a], AttributeDefinitions: [h, a, PK]"),
        ("PK a c", ["a b", "c z"], UNDEFINED + "Keys: [a, b], AttributeDefinitions: [a, PK, c]"),
        ("PK a b c", ["a b", "c z"], UNDEFINED + "Keys: [z, c], AttributeDefinitions: [a, b, PK, c]"),
        ("PK w x y", ["w x y q"], UNDEFINED + "Keys: [x, y, q, w], AttributeDefinitions: [x, y, PK, w]"),
        ("PK a", ["a m n"], "Invalid KeySchema: Some index key attribute have no definition"),
        ("PK a spare", ["a b"], UNDEFINED + "Keys: [a, b], AttributeDefinitions: [a, PK, spare]"),
    ],
)
def test_names_are_listed_in_the_order_of_java_s_hash_tables(
    client: Any, defined: str, keys: list[str], message: str
) -> None:
    indexes = []
    for number, names in enumerate(keys):
        first, *rest = names.split()
        schema = key_schema(first) + [{"AttributeName": name, "KeyType": "RANGE"} for name in rest]
        indexes.append({**index(f"index{number}", first), "KeySchema": schema})
    found = invalid(
        client.create_table,
        TableName=unique("table"),
        BillingMode="PAY_PER_REQUEST",
        KeySchema=key_schema("PK"),
        AttributeDefinitions=definitions(**dict.fromkeys(defined.split(), "S")),
        GlobalSecondaryIndexes=indexes,
    )
    assert found == message
