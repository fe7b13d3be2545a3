"""ExecuteStatement on indexes: what they hold, what they carry, and what that costs."""

from typing import Any

import pytest

from clocked import Clocked
from item_tables import definitions, key_schema, make_table, unique
from partiql_calls import Statements

VALUES = "One or more parameter values were invalid: "


@pytest.fixture(scope="module")
def songs(client: Any, indexed_table: str) -> Statements:
    return Statements(client, indexed_table)


@pytest.fixture(scope="module")
def pk(songs: Statements) -> str:
    """A partition with three items in all indexes and one in none; all attributes' values end in its name."""
    name = unique()
    for sort in "123":
        songs.put(
            pk=name, sk=sort, l=f"l{sort}", g=f"g-{name}", n={"N": sort}, carried="c" + sort, other="o" + sort
        )
    songs.put(pk=name, sk="4", carried="c4", other="o4")
    return name


def test_an_index_gives_what_it_carries(songs: Statements, pk: str) -> None:
    def names(index: str, where: str) -> set[str]:
        found = songs.items(f'SELECT * FROM {{t}}."{index}" WHERE {where}')
        assert len(found) == 3
        return set(found[0])

    keys = {"pk", "sk", "g", "n"}
    assert names("global-all", f"g = 'g-{pk}'") == {*keys, "l", "carried", "other"}
    assert names("global-some", f"g = 'g-{pk}'") == {*keys, "carried"}
    assert names("global-keys", f"g = 'g-{pk}'") == keys
    assert names("local-keys", f"pk = '{pk}'") == {"pk", "sk", "l"}
    assert names("local-all", f"pk = '{pk}'") == {*keys, "l", "carried", "other"}
    assert names("local-keys", f"l > 'a' AND attribute_exists(pk) AND (pk = '{pk}' OR sk = 'none')") == {
        "pk",
        "sk",
        "l",
    }


def test_keys_of_an_index_select_a_key_range(songs: Statements, pk: str) -> None:
    index = '{t}."global-all"'
    found = songs.items(f"SELECT sk FROM {index} WHERE g = 'g-{pk}' AND n BETWEEN 2 AND 3 AND other <> 'o3'")
    assert found == [{"sk": {"S": "2"}}]
    found = songs.items(f"SELECT sk FROM {index} WHERE g = 'g-{pk}' ORDER BY n DESC")
    assert [item["sk"]["S"] for item in found] == ["3", "2", "1"]
    found = songs.items(f"SELECT sk FROM {index} WHERE g = 'g-{pk}' AND n IN [3, 1]")
    assert [item["sk"]["S"] for item in found] == ["1", "3"]


def test_equal_index_keys_do_not_disturb_paging(songs: Statements) -> None:
    names = sorted(unique("tied") for _ in range(3))
    for name in names:
        songs.put(pk=name, sk="1", g=names[0])
    statement = f"SELECT * FROM {{t}}.\"global-hash\" WHERE g = '{names[0]}'"
    found: list[str] = []
    more: dict[str, Any] = {}
    while True:
        page = songs.run(statement, Limit=1, **more)
        found += [item["pk"]["S"] for item in page["Items"]]
        if "NextToken" not in page:
            break
        assert set(page["LastEvaluatedKey"]) == {"pk", "sk", "g"}
        more = {"NextToken": page["NextToken"]}
    assert sorted(found) == names


def test_a_global_index_refuses_columns_it_does_not_carry(songs: Statements, pk: str) -> None:
    assert songs.invalid(f"SELECT other, sk, l FROM {{t}}.\"global-some\" WHERE g = 'g-{pk}'") == (
        VALUES + "Global secondary index global-some does not project [other, l]"
    )
    assert songs.invalid('SELECT other FROM {t}."global-some"').endswith("does not project [other]")


def test_a_local_index_fetches_columns_it_does_not_carry(songs: Statements, pk: str) -> None:
    statement = f"SELECT sk, other FROM {{t}}.\"local-keys\" WHERE pk = '{pk}'"
    answer = songs.run(statement, ReturnConsumedCapacity="INDEXES")
    assert [item["other"]["S"] for item in answer["Items"]] == ["o1", "o2", "o3"]
    units = answer["ConsumedCapacity"]
    assert units["CapacityUnits"] == 2.0
    assert units["Table"] == {"CapacityUnits": 1.5}
    assert units["LocalSecondaryIndexes"] == {"local-keys": {"CapacityUnits": 0.5}}
    carried = songs.run(
        f"SELECT l FROM {{t}}.\"local-keys\" WHERE pk = '{pk}'", ReturnConsumedCapacity="INDEXES"
    )
    assert carried["ConsumedCapacity"]["Table"] == {"CapacityUnits": 0.0}


@pytest.mark.parametrize(
    ("where", "missing"),
    [
        ("g = 'y' AND NOT (other = 'x' OR carried = 'y')", "other"),
        ("g = 'y' AND b = '1' AND (a = '2' OR carried = '3')", "a, b"),
        ("g = 'y' AND (zz = '1' OR aa = '2' OR mm = '3')", "zz, aa, mm"),
        ("(g = 'y' OR g = 'z') AND zz = '1'", "zz"),
        ("(g = 'b' AND u1 = '1') OR (g = 'q' AND u2 = '1')", "u2"),
        ("(g = 'q' AND u1 = '1') OR (g = 'b' AND u2 = '1')", "u1"),
        ("g IN ['y'] AND zz = '1'", "zz"),
    ],
)
def test_a_read_by_key_cannot_filter_on_what_is_not_carried(
    songs: Statements, where: str, missing: str
) -> None:
    assert songs.invalid(f'SELECT pk FROM {{t}}."global-some" WHERE {where}') == (
        VALUES + f"Secondary index global-some does not project one or more filter attributes: [{missing}]"
    )


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("g = 'y' AND (carried = 'a' OR carried = 'b')", ["1", "2"]),
        ("(g = 'y' AND carried = '1') OR (g = 'z' AND aa = '1')", ["3"]),
        ("g > 'a' AND zz = '1'", []),
        ("g = 'y' AND (g = 'z' OR zz = '1')", []),
        ("(g = 'y' AND zz = '1') OR aa = '1'", []),
    ],
)
def test_other_reads_may_and_do_not_see_it(songs: Statements, where: str, expected: list[str]) -> None:
    y, z = unique("y"), unique("z")
    for sort, g, carried in (("1", y, "a"), ("2", y, "b"), ("3", y, "1"), ("4", z, "1")):
        songs.put(pk=y, sk=sort, g=g, n={"N": sort}, carried=carried, zz="1", aa="1")
    where = where.replace("'y'", f"'{y}'").replace("'z'", f"'{z}'")
    answers = songs.items(f'SELECT sk, pk FROM {{t}}."global-some" WHERE {where}')
    assert [item["sk"]["S"] for item in answers if item["pk"]["S"] == y] == expected


def test_a_filter_sees_only_what_the_index_carries(songs: Statements, pk: str) -> None:
    for index in ("global-some", "local-keys"):
        scan = f'SELECT sk FROM {{t}}."{index}" WHERE '
        assert songs.items(scan + "other = 'o1'") == []
        assert len(songs.items(scan + f"NOT other = 'o1' AND begins_with(pk, '{pk}')")) == 3
    assert songs.items("SELECT sk, other FROM {t}.\"local-keys\" WHERE other = 'o1'") == []


@pytest.mark.parametrize(
    "keys", [[("g", "HASH"), ("h", "HASH")], [("g", "HASH"), ("h", "RANGE"), ("i", "RANGE")]]
)
def test_keys_of_several_attributes_are_not_for_statements(keys: list[tuple[str, str]]) -> None:
    service = Clocked()
    service.call(
        "CreateTable",
        TableName="songs",
        KeySchema=key_schema("pk"),
        AttributeDefinitions=definitions(pk="S", **{name: "S" for name, _ in keys}),
        BillingMode="PAY_PER_REQUEST",
        GlobalSecondaryIndexes=[
            {
                "IndexName": "wide",
                "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in keys],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    service.settle()
    assert service.refused("ExecuteStatement", Statement="SELECT * FROM songs.wide WHERE g = 'x'") == (
        "ValidationException",
        (
            "PartiQL statements cannot be executed on tables with multi-attribute HASH keys "
            "or multi-attribute RANGE keys."
        ),
    )


def test_consistency(songs: Statements, pk: str) -> None:
    assert songs.invalid(f"SELECT * FROM {{t}}.\"global-all\" WHERE g = 'g-{pk}'", ConsistentRead=True) == (
        "Strongly consistent read is not supported on Global Secondary Indexes"
    )
    units = songs.run(
        f"SELECT * FROM {{t}}.\"local-all\" WHERE pk = '{pk}'",
        ConsistentRead=True,
        ReturnConsumedCapacity="INDEXES",
    )["ConsumedCapacity"]
    assert units["Table"] == {"CapacityUnits": 0.0}
    assert units["LocalSecondaryIndexes"] == {"local-all": {"CapacityUnits": 1.0}}


def test_types_and_overlaps_are_those_of_the_index_key(songs: Statements) -> None:
    index = 'SELECT * FROM {t}."global-all" WHERE '
    assert songs.invalid(index + "g = 'x' AND n = 'text'").endswith("table's schema: Key n")
    assert songs.invalid(index + "g = 'x' AND (n > 1 OR n < 2)").startswith("Overlapping conditions")
    songs.run(index + "g = 'x' AND (n < 1 OR n = 1 OR n > 1)")
    assert (
        songs.invalid(index + "g = 'x' ORDER BY sk")
        == "Attribute sk in ORDER BY clause must be part of the primary key"
    )


def test_keys_of_several_attributes_are_out_of_reach(client: Any) -> None:
    table = make_table(
        client,
        "pk",
        types={"a": "S", "b": "S"},
        GlobalSecondaryIndexes=[
            {
                "IndexName": "multi",
                "KeySchema": [
                    {"AttributeName": "a", "KeyType": "HASH"},
                    {"AttributeName": "b", "KeyType": "HASH"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    songs = Statements(client, table)
    songs.put(pk="x", a="1", b="2")
    assert "multi" in songs.invalid("SELECT * FROM {t}.\"multi\" WHERE a = '1' AND b = '2'")
    assert len(songs.items("SELECT * FROM {t} WHERE pk = 'x'")) == 1
