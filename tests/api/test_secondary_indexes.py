"""Secondary indexes follow their items: sparse, projected, ordered, paged."""

from typing import Any

import pytest

from item_tables import Item, all_items, index, invalid, make_table, pages, unique

VALUES = "One or more parameter values were invalid: "


def by(client: Any, table: str, name: str, attribute: str, value: Any, **more: Any) -> list[Item]:
    """All items of one index partition."""
    return all_items(
        client.query,
        TableName=table,
        IndexName=name,
        KeyConditionExpression="#k = :k",
        ExpressionAttributeNames={"#k": attribute, **more.pop("names", {})},
        ExpressionAttributeValues={":k": value, **more.pop("values", {})},
        **more,
    )


def put(client: Any, table: str, pk: str, sk: str, **attributes: dict[str, Any]) -> Item:
    item = {"pk": {"S": pk}, "sk": {"S": sk}, **attributes}
    client.put_item(TableName=table, Item=item)
    return item


def test_an_item_is_in_an_index_if_it_has_all_its_keys(client: Any, indexed_table: str) -> None:
    g, pk = unique("g"), unique()
    put(client, indexed_table, pk, "1", g={"S": g}, n={"N": "1"})
    put(client, indexed_table, pk, "2", g={"S": g})
    put(client, indexed_table, pk, "3", n={"N": "3"})
    assert [each["sk"]["S"] for each in by(client, indexed_table, "global-all", "g", {"S": g})] == ["1"]
    found = by(client, indexed_table, "global-hash", "g", {"S": g})
    assert sorted(each["sk"]["S"] for each in found) == ["1", "2"]


def test_entries_follow_updates_and_deletes(client: Any, indexed_table: str) -> None:
    g, other, pk = unique("g"), unique("g"), unique()
    key = {"pk": {"S": pk}, "sk": {"S": "1"}}

    def entries(name: str) -> list[str]:
        return [each["n"]["N"] for each in by(client, indexed_table, "global-keys", "g", {"S": name})]

    def update(expression: str, **values: Any) -> None:
        more = (
            {"ExpressionAttributeValues": {f":{name}": value for name, value in values.items()}}
            if values
            else {}
        )
        client.update_item(TableName=indexed_table, Key=key, UpdateExpression=expression, **more)

    update("SET g = :g, n = :n", g={"S": g}, n={"N": "1"})
    assert entries(g) == ["1"]
    update("SET n = n + :one", one={"N": "1"})
    assert entries(g) == ["2"]
    update("SET g = :g", g={"S": other})
    assert (entries(g), entries(other)) == ([], ["2"])
    update("REMOVE n")
    assert entries(other) == []
    update("SET n = :n", n={"N": "5"})
    assert entries(other) == ["5"]
    client.put_item(TableName=indexed_table, Item={**key, "g": {"S": g}, "n": {"N": "7"}})
    assert (entries(g), entries(other)) == (["7"], [])
    client.delete_item(TableName=indexed_table, Key=key)
    assert (entries(g), entries(other)) == ([], [])


@pytest.mark.parametrize(
    ("name", "carried"),
    [
        ("global-all", {"pk", "sk", "g", "n", "l", "carried", "x"}),
        ("global-keys", {"pk", "sk", "g", "n"}),
        ("global-some", {"pk", "sk", "g", "n", "carried"}),
        ("local-all", {"pk", "sk", "g", "n", "l", "carried", "x"}),
        ("local-keys", {"pk", "sk", "l"}),
        ("local-some", {"pk", "sk", "l", "carried"}),
    ],
)
def test_projections(client: Any, indexed_table: str, name: str, carried: set[str]) -> None:
    g, pk = unique("g"), unique()
    more: Item = {"l": {"S": "l"}, "carried": {"S": "c"}, "x": {"M": {"y": {"N": "1"}}}}
    item = put(client, indexed_table, pk, "1", g={"S": g}, n={"N": "1"}, **more)
    key, value = ("pk", pk) if name.startswith("local") else ("g", g)
    shown = {attribute: item[attribute] for attribute in carried}
    assert by(client, indexed_table, name, key, {"S": value}) == [shown]
    assert by(client, indexed_table, name, key, {"S": value}, Select="ALL_PROJECTED_ATTRIBUTES") == [shown]
    found = by(client, indexed_table, name, key, {"S": value}, ProjectionExpression="sk")
    assert found == [{"sk": {"S": "1"}}]


@pytest.mark.parametrize("name", ["local-keys", "local-some"])
def test_local_indexes_fetch_what_they_do_not_carry(client: Any, indexed_table: str, name: str) -> None:
    pk = unique()
    item = put(client, indexed_table, pk, "1", l={"S": "l"}, x={"M": {"y": {"N": "1"}}}, z={"S": "z"})
    value = {"S": pk}
    assert by(client, indexed_table, name, "pk", value, Select="ALL_ATTRIBUTES") == [item]
    assert by(client, indexed_table, name, "pk", value, ProjectionExpression="x.y") == [{"x": item["x"]}]
    scanned = all_items(
        client.scan,
        TableName=indexed_table,
        IndexName=name,
        FilterExpression="pk = :p",
        ExpressionAttributeValues={":p": value},
        Select="ALL_ATTRIBUTES",
    )
    assert scanned == [item]


def test_global_indexes_refuse_what_they_do_not_carry(client: Any, indexed_table: str) -> None:
    request = {
        "TableName": indexed_table,
        "IndexName": "global-some",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": {"S": "x"}},
    }
    assert invalid(client.query, **request, Select="ALL_ATTRIBUTES") == (
        VALUES
        + "Select type ALL_ATTRIBUTES is not supported for global secondary index global-some because its "
        "projection type is not ALL"
    )
    assert invalid(client.query, **request, ProjectionExpression="carried, x.y, z") == (
        VALUES + "Global secondary index global-some does not project [x, z]"
    )
    client.query(**request, ProjectionExpression="carried, pk, n")
    client.query(**{**request, "IndexName": "global-all"}, Select="ALL_ATTRIBUTES")


@pytest.mark.parametrize("name", ["global-keys", "local-keys"])
def test_a_query_s_filter_may_only_name_what_the_index_carries(
    client: Any, indexed_table: str, name: str
) -> None:
    key = "pk" if name.startswith("local") else "g"
    request = {
        "TableName": indexed_table,
        "IndexName": name,
        "KeyConditionExpression": f"{key} = :k",
        "ExpressionAttributeValues": {":k": {"S": "x"}},
    }
    assert invalid(client.query, **request, FilterExpression="far = :k") == (
        VALUES + f"Secondary index {name} does not project one or more filter attributes: [far]"
    )


def test_a_filter_may_name_the_table_s_keys_but_not_the_index_s(client: Any, indexed_table: str) -> None:
    g = unique("g")
    for sk in "123":
        put(client, indexed_table, unique(), sk, g={"S": g}, n={"N": sk})
    found = by(
        client,
        indexed_table,
        "global-all",
        "g",
        {"S": g},
        FilterExpression="sk > :s",
        values={":s": {"S": "1"}},
    )
    assert [each["sk"]["S"] for each in found] == ["2", "3"]
    request = {
        "TableName": indexed_table,
        "IndexName": "global-all",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": {"S": g}},
    }
    for attribute in ("g", "n"):
        assert invalid(client.query, **request, FilterExpression=f"{attribute} = :g") == (
            f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {attribute}"
        )


def test_only_local_indexes_are_read_consistently(client: Any, indexed_table: str) -> None:
    request = {
        "TableName": indexed_table,
        "ExpressionAttributeValues": {":k": {"S": "x"}},
        "ConsistentRead": True,
    }
    client.query(**request, IndexName="local-all", KeyConditionExpression="pk = :k")
    message = invalid(client.query, **request, IndexName="global-all", KeyConditionExpression="g = :k")
    assert message == "Consistent reads are not supported on global secondary indexes"


def test_an_empty_index_key_in_a_condition(client: Any, indexed_table: str) -> None:
    message = invalid(
        client.query,
        TableName=indexed_table,
        IndexName="global-all",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": {"S": ""}},
    )
    assert message == (
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value. IndexName: global-all, "
        "IndexKey: g"
    )


@pytest.fixture(scope="module")
def tied(client: Any, indexed_table: str) -> tuple[str, str]:
    """Thirty items that share their index keys in groups: the same `l` within `pk`, the same `g` and `n`."""
    pk, g = unique(), unique("g")
    for number in range(30):
        attributes = {"l": {"S": f"l{number % 3}"}, "g": {"S": g}, "n": {"N": str(number % 2)}}
        put(client, indexed_table, pk if number < 20 else unique(), f"{number:02}", **attributes)
    return pk, g


@pytest.mark.parametrize("limit", [1, 4, 30])
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("name", ["global-all", "global-keys", "global-hash", "local-all", "local-keys"])
def test_ties_are_paged_through_exactly_once(
    client: Any, indexed_table: str, tied: tuple[str, str], name: str, forward: bool, limit: int
) -> None:
    pk, g = tied
    key, value, count = ("pk", pk, 20) if name.startswith("local") else ("g", g, 30)
    request = {
        "TableName": indexed_table,
        "IndexName": name,
        "KeyConditionExpression": f"{key} = :k",
        "ExpressionAttributeValues": {":k": {"S": value}},
        "ScanIndexForward": forward,
    }
    at_once = [each["sk"]["S"] for each in client.query(**request)["Items"]]
    found = pages(client.query, **request, Limit=limit)
    assert [each["sk"]["S"] for page in found for each in page["Items"]] == at_once
    assert sorted(at_once) == [f"{number:02}" for number in range(count)]
    backward = client.query(**{**request, "ScanIndexForward": not forward})["Items"]
    assert [each["sk"]["S"] for each in backward] == at_once[::-1]


def test_a_last_key_in_an_index_names_both_keys(
    client: Any, indexed_table: str, tied: tuple[str, str]
) -> None:
    pk, g = tied
    request = {"TableName": indexed_table, "Limit": 1}
    first = client.query(
        **request,
        IndexName="global-keys",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": {"S": g}},
    )
    assert set(first["LastEvaluatedKey"]) == {"pk", "sk", "g", "n"}
    first = client.query(
        **request,
        IndexName="local-keys",
        KeyConditionExpression="pk = :p",
        ExpressionAttributeValues={":p": {"S": pk}},
    )
    assert set(first["LastEvaluatedKey"]) == {"pk", "sk", "l"}


@pytest.mark.parametrize(
    "start",
    [
        {"pk": {"S": "a"}, "sk": {"S": "b"}},
        {"g": {"S": "x"}, "n": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "x"}, "n": {"N": "1"}, "l": {"S": "l"}},
    ],
)
def test_a_start_key_in_an_index_needs_both_keys(client: Any, indexed_table: str, start: Item) -> None:
    message = invalid(
        client.query,
        TableName=indexed_table,
        IndexName="global-all",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": {"S": "x"}},
        ExclusiveStartKey=start,
    )
    assert message == "The provided starting key is invalid"


def test_a_start_key_in_an_index_has_the_keys_types(client: Any, indexed_table: str) -> None:
    message = invalid(
        client.query,
        TableName=indexed_table,
        IndexName="global-all",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": {"S": "x"}},
        ExclusiveStartKey={"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "x"}, "n": {"S": "1"}},
    )
    assert message == "The provided key element does not match the schema"


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ("n = :n", "5", [5, 5]),
        ("n < :n", "5", [-3, 0, 2.5]),
        ("n <= :n", "5", [-3, 0, 2.5, 5, 5]),
        ("n > :n", "2.5", [5, 5, 40]),
        ("n >= :n", "2.5", [2.5, 5, 5, 40]),
        ("n BETWEEN :n AND :m", "0", [0, 2.5, 5, 5]),
    ],
)
@pytest.mark.parametrize("name", ["global-all", "global-keys"])
def test_conditions_on_the_sort_key_of_an_index(
    client: Any,
    indexed_table: str,
    numbered: str,
    name: str,
    condition: str,
    value: str,
    expected: list[float],
) -> None:
    values = {":g": {"S": numbered}, ":n": {"N": value}} | ({":m": {"N": "5.0"}} if ":m" in condition else {})
    request = {
        "TableName": indexed_table,
        "IndexName": name,
        "KeyConditionExpression": f"g = :g AND {condition}",
        "ExpressionAttributeValues": values,
    }
    assert [float(each["n"]["N"]) for each in client.query(**request)["Items"]] == expected
    backward = client.query(**request, ScanIndexForward=False)["Items"]
    assert [float(each["n"]["N"]) for each in backward] == expected[::-1]


@pytest.fixture(scope="module")
def numbered(client: Any, indexed_table: str) -> str:
    g = unique("g")
    for number in ("5", "-3", "40", "0", "2.5", "5"):
        put(client, indexed_table, unique(), "s", g={"S": g}, n={"N": number})
    return g


def test_conditions_on_the_sort_key_of_a_local_index(client: Any, indexed_table: str) -> None:
    pk = unique()
    texts = ["a", "a\0", "a\0b", "aa", "ab", "b"]
    for text in texts[::-1]:
        put(client, indexed_table, pk, text, l={"S": text})
        put(client, indexed_table, pk, text + "!", l={"S": text})

    def query(condition: str, **values: str) -> list[str]:
        found = client.query(
            TableName=indexed_table,
            IndexName="local-keys",
            KeyConditionExpression=f"pk = :p AND {condition}",
            ExpressionAttributeValues={
                ":p": {"S": pk},
                **{f":{name}": {"S": text} for name, text in values.items()},
            },
        )["Items"]
        assert all(found.count(each) == 1 for each in found)
        return list(dict.fromkeys(each["l"]["S"] for each in found))

    assert query("begins_with(l, :a)", a="a") == texts[:5]
    assert query("begins_with(l, :a)", a="a\0") == ["a\0", "a\0b"]
    assert query("l = :a", a="a") == ["a"]
    assert query("l > :a", a="a") == texts[1:]
    assert query("l >= :a", a="a\0") == texts[1:]
    assert query("l < :a", a="aa") == texts[:3]
    assert query("l <= :a", a="a\0b") == texts[:3]
    assert query("l BETWEEN :a AND :b", a="a\0", b="ab") == texts[1:5]


@pytest.fixture(scope="module")
def inverted_table(client: Any) -> str:
    """A single-table design: `sk` to `pk` inverted, and one overloaded index."""
    return make_table(
        client,
        "pk",
        "sk",
        types={"gpk": "S", "gsk": "S"},
        GlobalSecondaryIndexes=[index("inverted", "sk", "pk"), index("overloaded", "gpk", "gsk")],
    )


def test_an_index_over_the_table_s_own_keys(client: Any, inverted_table: str) -> None:
    sk = unique("order")
    for pk in ("c", "a", "b"):
        put(client, inverted_table, pk, sk)
    found = by(client, inverted_table, "inverted", "sk", {"S": sk})
    assert [each["pk"]["S"] for each in found] == ["a", "b", "c"]
    paged = by(client, inverted_table, "inverted", "sk", {"S": sk}, Limit=1)
    assert paged == found


def test_an_overloaded_index(client: Any, inverted_table: str) -> None:
    team, mail = unique("team"), unique("mail")
    put(client, inverted_table, "user#1", "profile", gpk={"S": mail}, gsk={"S": "user"})
    put(client, inverted_table, "user#1", "member", gpk={"S": team}, gsk={"S": "user#1"})
    put(client, inverted_table, "user#2", "member", gpk={"S": team}, gsk={"S": "user#2"})
    put(client, inverted_table, "user#2", "plain")
    assert [each["pk"]["S"] for each in by(client, inverted_table, "overloaded", "gpk", {"S": mail})] == [
        "user#1"
    ]
    members = by(client, inverted_table, "overloaded", "gpk", {"S": team})
    assert [each["gsk"]["S"] for each in members] == ["user#1", "user#2"]


def test_reads_have_no_paths_into_the_keys_of_any_index(client: Any, indexed_table: str) -> None:
    rule = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
    key = {"TableName": indexed_table, "Key": {"pk": {"S": unique()}, "sk": {"S": "s"}}}
    for path, name in (("g.b", "g"), ("n[1]", "n"), ("l.x", "l")):
        assert invalid(client.get_item, **key, ProjectionExpression=path) == f"{rule}IndexKey: {name}"
        keys = {"Keys": [key["Key"]], "ProjectionExpression": path}
        message = invalid(client.batch_get_item, RequestItems={indexed_table: keys})
        assert message == f"{rule}IndexKey: {name}"
        condition = f"attribute_exists({path})"
        message = invalid(client.scan, TableName=indexed_table, FilterExpression=condition)
        assert message == f"{rule}IndexKey: {name}"
        message = invalid(
            client.query,
            TableName=indexed_table,
            KeyConditionExpression="pk = :p",
            FilterExpression=condition,
            ExpressionAttributeValues={":p": {"S": "a"}},
        )
        assert message == f"{rule}IndexKey: {name}"
