"""Both sides of every limit on items and on requests for items."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import index, invalid, make_table, unique

VALUES = "One or more parameter values were invalid: "
ANNOUNCED = "1 validation error detected: "
ITEM_BYTES = 409_600
TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
HASH_TOO_LONG = VALUES + "Size of hashkey has exceeded the maximum size limit of2048 bytes"
RANGE_TOO_LONG = VALUES + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)


def item_of(size: int, pk: str) -> dict[str, Any]:
    """An item with one string attribute, of precisely so many bytes."""
    return {"pk": {"S": pk}, "a": {"S": "x" * (size - len("pk") - len(pk) - len("a"))}}


def nested(wraps: int, kind: str) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(wraps):
        value = {"L": [value]} if kind == "L" else {"M": {"a": value}}
    return value


def test_400_kb_can_be_put_and_a_byte_more_cannot(client: Any, hash_table: str) -> None:
    pk = unique()
    client.put_item(TableName=hash_table, Item=item_of(ITEM_BYTES, pk))
    assert invalid(client.put_item, TableName=hash_table, Item=item_of(ITEM_BYTES + 1, pk)) == TOO_LARGE


def test_400_kb_in_a_batch(client: Any, hash_table: str) -> None:
    pk = unique()
    good = {hash_table: [{"PutRequest": {"Item": item_of(ITEM_BYTES, pk)}}]}
    assert client.batch_write_item(RequestItems=good)["UnprocessedItems"] == {}
    bad = {hash_table: [{"PutRequest": {"Item": item_of(ITEM_BYTES + 1, pk)}}]}
    assert invalid(client.batch_write_item, RequestItems=bad) == TOO_LARGE


def test_400_kb_in_a_transaction(client: Any, hash_table: str) -> None:
    pk = unique()
    good = {"TableName": hash_table, "Item": item_of(ITEM_BYTES, pk)}
    client.transact_write_items(TransactItems=[{"Put": good}])
    bad = {"TableName": hash_table, "Item": item_of(ITEM_BYTES + 1, pk)}
    assert invalid(client.transact_write_items, TransactItems=[{"Put": bad}]) == TOO_LARGE


def test_every_kind_of_value_counts_towards_400_kb(client: Any, hash_table: str) -> None:
    pk = unique()
    fixed = {
        "pk": {"S": pk},
        "number": {"N": "-123456.5"},  # 6 + 1 + 3 + 1 + 1
        "list": {"L": [{"BOOL": True}, {"N": "0"}]},  # 4 + 3 + 2 + 2
        "map": {"M": {"é": {"NULL": True}}},  # 3 + 3 + 1 + 2 + 1
        "set": {"SS": ["ab", "c"]},  # 3 + 3
        "blob": {"B": b"12345"},  # 4 + 5
    }
    room = ITEM_BYTES - (2 + len(pk)) - 12 - 11 - 10 - 6 - 9
    filler = {"S": "x" * (room - 1)}
    client.put_item(TableName=hash_table, Item={**fixed, "f": filler})
    over = {"S": filler["S"] + "x"}
    assert invalid(client.put_item, TableName=hash_table, Item={**fixed, "f": over}) == TOO_LARGE


def update_request(table: str, pk: str, size: int) -> dict[str, Any]:
    return {
        "TableName": table,
        "Key": {"pk": {"S": pk}},
        "UpdateExpression": "SET a = :a",
        "ExpressionAttributeValues": {":a": {"S": "x" * size}},
    }


def test_an_update_is_charged_for_its_statement(client: Any, hash_table: str) -> None:
    # 3 for the update, 19 for the SET, 1 for the name; the key does not count.
    pk, fits = "k", ITEM_BYTES - 3 - 19 - 1
    client.update_item(**update_request(hash_table, pk, fits))
    assert invalid(client.update_item, **update_request(hash_table, pk, fits + 1)) == UPDATE_TOO_LARGE


def text(size: int) -> dict[str, Any]:
    return {"S": "x" * size}


@pytest.mark.parametrize(
    ("expression", "charge", "value", "more"),
    [
        ("SET a = :a, b = :b", 3 + 20 + 21, text, {":b": {"BOOL": True}}),
        ("SET a = :a REMOVE bc", 3 + 20 + 3, text, {}),
        ("SET a = if_not_exists(a, :a)", 3 + 20 + 39 + 16, text, {}),
        ("SET a = list_append(l, :a)", 3 + 20 + 37 + 16 + 4, lambda size: {"L": [text(size)]}, {}),
        ("SET m.xy = :a", 3 + 19 + 1 + 6, text, {}),
        ("SET l[0] = :a", 3 + 19 + 1 + 4 + 1, text, {}),
        ("SET a = :a, n = n + :b", 3 + 20 + 20 + 34 + 16 + 2, text, {":b": {"N": "1"}}),
        ("SET a = :a, n = n - :b", 3 + 20 + 20 + 37 + 16 + 2, text, {":b": {"N": "1"}}),
        ("ADD a :a", 3 + 20, lambda size: {"SS": ["x" * size]}, {}),
        ("SET a = :a DELETE s :b", 3 + 20 + 2, text, {":b": {"SS": ["y"]}}),
    ],
)
def test_what_each_action_is_charged(
    client: Any, hash_table: str, expression: str, charge: int, value: Any, more: dict[str, Any]
) -> None:
    key = {"pk": {"S": unique()}}
    stored = {"l": {"L": []}, "n": {"N": "1"}, "m": {"M": {}}, "s": {"SS": ["x"]}}
    used = {name: stored[name] for name in stored if f" {name}" in expression or f"({name}" in expression}
    client.put_item(TableName=hash_table, Item={**key, **used})
    request = {"TableName": hash_table, "Key": key, "UpdateExpression": expression}
    fits = ITEM_BYTES - charge
    over = {":a": value(fits + 1), **more}
    assert invalid(client.update_item, **request, ExpressionAttributeValues=over) == UPDATE_TOO_LARGE
    client.update_item(**request, ExpressionAttributeValues={":a": value(fits), **more})


def test_the_statement_is_weighed_before_the_condition(client: Any, hash_table: str) -> None:
    request = update_request(hash_table, unique(), ITEM_BYTES)
    assert (
        invalid(client.update_item, **request, ConditionExpression="attribute_exists(absent)")
        == UPDATE_TOO_LARGE
    )


def test_the_finished_item_is_weighed_too(client: Any, hash_table: str) -> None:
    pk = unique()
    client.put_item(TableName=hash_table, Item={"pk": {"S": pk}, "old": {"S": "x" * 300_000}})
    used = 2 + len(pk) + 3 + 300_000
    fits = ITEM_BYTES - used - 1
    client.update_item(**update_request(hash_table, pk, fits))
    assert invalid(client.update_item, **update_request(hash_table, pk, fits + 1)) == UPDATE_TOO_LARGE


def test_legacy_updates_weigh_only_the_finished_item(client: Any, hash_table: str) -> None:
    fits = ITEM_BYTES - 2 - 1 - 1
    request = {"TableName": hash_table, "Key": {"pk": {"S": "q"}}}
    client.update_item(**request, AttributeUpdates={"a": {"Value": {"S": "x" * fits}}})
    over = {"a": {"Value": {"S": "x" * (fits + 1)}}}
    assert invalid(client.update_item, **request, AttributeUpdates=over) == UPDATE_TOO_LARGE


def test_a_transacted_update_that_grows_too_large_cancels(client: Any, hash_table: str) -> None:
    fits = ITEM_BYTES - 2 - 1 - 1
    client.transact_write_items(TransactItems=[{"Update": update_request(hash_table, "t", fits)}])
    with pytest.raises(ClientError) as caught:
        client.transact_write_items(TransactItems=[{"Update": update_request(hash_table, "t", fits + 1)}])
    assert caught.value.response["CancellationReasons"] == [
        {"Code": "ValidationError", "Message": UPDATE_TOO_LARGE}
    ]


@pytest.mark.parametrize(
    ("pk_size", "sk_size", "message"), [(2049, 1, HASH_TOO_LONG), (1, 1025, RANGE_TOO_LONG)]
)
def test_keys_have_a_longest_size(
    client: Any, range_table: str, pk_size: int, sk_size: int, message: str
) -> None:
    good = {"pk": {"S": "p" * (pk_size - (pk_size > 1))}, "sk": {"S": "s" * (sk_size - (sk_size > 1))}}
    client.put_item(TableName=range_table, Item=good)
    assert client.get_item(TableName=range_table, Key=good)["Item"] == good
    bad = {"pk": {"S": "p" * pk_size}, "sk": {"S": "s" * sk_size}}
    assert invalid(client.put_item, TableName=range_table, Item=bad) == message
    for call in (client.get_item, client.delete_item, client.update_item):
        assert invalid(call, TableName=range_table, Key=bad) == message
    assert invalid(client.batch_get_item, RequestItems={range_table: {"Keys": [bad]}}) == message
    put = {range_table: [{"PutRequest": {"Item": bad}}]}
    assert invalid(client.batch_write_item, RequestItems=put) == message
    query = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p AND sk = :s",
        "ExpressionAttributeValues": {":p": bad["pk"], ":s": bad["sk"]},
    }
    assert invalid(client.query, **query) == message
    query["ExpressionAttributeValues"] = {":p": good["pk"], ":s": good["sk"]}
    assert client.query(**query)["Count"] == 1


def test_key_sizes_are_in_bytes(client: Any, hash_table: str) -> None:
    client.put_item(TableName=hash_table, Item={"pk": {"S": "é" * 1024}})
    assert (
        invalid(client.put_item, TableName=hash_table, Item={"pk": {"S": "é" * 1024 + "a"}}) == HASH_TOO_LONG
    )


@pytest.mark.parametrize(
    ("name", "size", "message"), [("g", 2048, HASH_TOO_LONG), ("l", 1024, RANGE_TOO_LONG)]
)
def test_index_keys_have_the_same_limits(
    client: Any, indexed_table: str, name: str, size: int, message: str
) -> None:
    key = {"pk": {"S": unique()}, "sk": {"S": "b"}}
    client.put_item(TableName=indexed_table, Item={**key, name: {"S": "x" * size}})
    over = {"S": "x" * (size + 1)}
    assert invalid(client.put_item, TableName=indexed_table, Item={**key, name: over}) == message
    found = invalid(
        client.update_item,
        TableName=indexed_table,
        Key=key,
        UpdateExpression="SET #a = :a",
        ExpressionAttributeNames={"#a": name},
        ExpressionAttributeValues={":a": over},
    )
    assert found == message


@pytest.mark.parametrize("kind", ["L", "M"])
def test_32_levels_of_nesting(client: Any, hash_table: str, kind: str) -> None:
    key = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item={**key, "a": nested(31, kind)})
    bad = nested(32, kind)
    assert invalid(client.put_item, TableName=hash_table, Item={**key, "a": bad}) == ANNOUNCED + TOO_DEEP
    update = {"UpdateExpression": "SET b = :b", "ExpressionAttributeValues": {":b": bad}}
    assert invalid(client.update_item, TableName=hash_table, Key=key, **update) == ANNOUNCED + TOO_DEEP
    put = {hash_table: [{"PutRequest": {"Item": {**key, "a": bad}}}]}
    assert invalid(client.batch_write_item, RequestItems=put) == TOO_DEEP
    item = {"TableName": hash_table, "Item": {**key, "a": bad}}
    assert invalid(client.transact_write_items, TransactItems=[{"Put": item}]) == TOO_DEEP


def test_an_update_cannot_nest_deeper_bit_by_bit(client: Any, hash_table: str) -> None:
    key = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item={**key, "a": nested(31, "M")})
    path = ".".join(["a"] * 32)
    update = {"TableName": hash_table, "Key": key, "UpdateExpression": f"SET {path} = :v"}
    client.update_item(**update, ExpressionAttributeValues={":v": {"M": {}}})
    message = invalid(
        client.update_item, **update, ExpressionAttributeValues={":v": {"M": {"x": {"S": "x"}}}}
    )
    assert message.startswith("Nesting Levels have exceeded supported limits")


def test_very_deep_values_are_refused_like_deep_ones(raw: Any, hash_table: str) -> None:
    for wraps in (40, 100, 300, 480, 500, 508):
        deep = b'{"L":[' * wraps + b'{"S":"x"}' + b"]}" * wraps
        body = b'{"TableName":"%b","Item":{"pk":{"S":"a"},"a":%b}}' % (hash_table.encode(), deep)
        answer = raw("PutItem", body)
        assert (answer.status, answer.error) == (400, "ValidationException")
        assert answer.body["message"].endswith(TOO_DEEP)
        # A word for a boolean makes somebody read all of it.
        body = b'{"TableName":"%b","Item":{"pk":{"BOOL":"true"},"a":%b}}' % (hash_table.encode(), deep)
        assert raw("PutItem", body).status == 400


def test_expressions_of_4096_bytes(client: Any, hash_table: str) -> None:
    def condition(size: int) -> str:
        return "attribute_exists(" + "a" * (size - len("attribute_not_exists()") + 4) + ")"

    key = {"pk": {"S": unique()}}
    request = {"TableName": hash_table, "Item": key}
    fits = condition(4096)
    assert len(fits) == 4096
    with pytest.raises(ClientError, match="The conditional request failed"):
        client.put_item(**request, ConditionExpression=fits)
    assert invalid(client.put_item, **request, ConditionExpression=condition(4097)) == (
        "1 validation error detected: Invalid ConditionExpression: Expression size has exceeded the maximum allowed "
        "size; expression size: 4097"
    )


def test_placeholders_of_255_characters(client: Any, hash_table: str) -> None:
    request = {"TableName": hash_table, "Key": {"pk": {"S": unique()}}}
    for name in (":" + "v" * 254, ":" + "v" * 255):
        bound = {"UpdateExpression": f"SET a = {name}", "ExpressionAttributeValues": {name: {"S": "x"}}}
        if len(name) <= 255:
            client.update_item(**request, **bound)
        else:
            message = invalid(client.update_item, **request, **bound)
            assert message.endswith("The expression attribute map contains a key that is too long;")


def test_batch_get_of_100_keys(client: Any, hash_table: str) -> None:
    keys = [{"pk": {"S": f"none-{number}"}} for number in range(101)]
    assert client.batch_get_item(RequestItems={hash_table: {"Keys": keys[:100]}})["Responses"] == {
        hash_table: []
    }
    assert invalid(client.batch_get_item, RequestItems={hash_table: {"Keys": keys}}) == (
        f"1 validation error detected: Value at 'RequestItems.{hash_table}.member.Keys' failed to satisfy constraint: "
        "Member must have length less than or equal to 100"
    )


def test_batch_get_of_100_keys_over_several_tables(client: Any, hash_table: str, range_table: str) -> None:
    first = [{"pk": {"S": f"none-{number}"}} for number in range(51)]
    second = [{"pk": {"S": f"none-{number}"}, "sk": {"S": "x"}} for number in range(50)]
    client.batch_get_item(RequestItems={hash_table: {"Keys": first[:50]}, range_table: {"Keys": second}})
    asked = {hash_table: {"Keys": first}, range_table: {"Keys": second}}
    assert (
        invalid(client.batch_get_item, RequestItems=asked)
        == "Too many items requested for the BatchGetItem call"
    )


def test_batch_write_of_25_items(client: Any, hash_table: str) -> None:
    writes = [{"DeleteRequest": {"Key": {"pk": {"S": f"none-{number}"}}}} for number in range(26)]
    client.batch_write_item(RequestItems={hash_table: writes[:25]})
    message = invalid(client.batch_write_item, RequestItems={hash_table: writes})
    assert message.startswith(f"1 validation error detected: Value '{{{hash_table}=[")
    assert message.endswith(
        "]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have "
        "length less than or equal to 25, Member must have length greater than or equal to 1]"
    )


def test_batch_write_of_25_items_over_several_tables(client: Any, hash_table: str, range_table: str) -> None:
    first = [{"DeleteRequest": {"Key": {"pk": {"S": f"none-{number}"}}}} for number in range(13)]
    second = [
        {"DeleteRequest": {"Key": {"pk": {"S": f"none-{number}"}, "sk": {"S": "x"}}}} for number in range(13)
    ]
    client.batch_write_item(RequestItems={hash_table: first[:12], range_table: second})
    message = invalid(client.batch_write_item, RequestItems={hash_table: first, range_table: second})
    assert message == "Too many items requested for the BatchWriteItem call"


def test_transactions_of_100_actions(client: Any, hash_table: str) -> None:
    prefix = unique()
    writes = [
        {"Put": {"TableName": hash_table, "Item": {"pk": {"S": f"{prefix}-{number}"}}}}
        for number in range(101)
    ]
    client.transact_write_items(TransactItems=writes[:100])
    message = invalid(client.transact_write_items, TransactItems=writes)
    assert message.startswith("1 validation error detected: Value '[")
    assert message.endswith(
        "]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"
    )
    gets = [
        {"Get": {"TableName": hash_table, "Key": {"pk": {"S": f"{prefix}-{number}"}}}}
        for number in range(101)
    ]
    assert all("Item" in found for found in client.transact_get_items(TransactItems=gets[:100])["Responses"])
    message = invalid(client.transact_get_items, TransactItems=gets)
    assert message.endswith("Member must have length less than or equal to 100")


@pytest.mark.parametrize("operation", ["transact_write_items", "transact_get_items"])
def test_transactions_of_no_actions(client: Any, operation: str) -> None:
    assert invalid(getattr(client, operation), TransactItems=[]) == (
        "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have "
        "length greater than or equal to 1"
    )


def test_transactions_of_4_mb(client: Any, hash_table: str) -> None:
    prefix = unique()
    whole = 4 * 1024 * 1024
    sizes = [400_000] * 10
    sizes.append(whole - sum(sizes))
    items = [item_of(size, f"{prefix}-{number}") for number, size in enumerate(sizes)]
    writes = [{"Put": {"TableName": hash_table, "Item": item}} for item in items]
    client.transact_write_items(TransactItems=writes)
    items[-1]["a"]["S"] += "x"
    code = invalid(client.transact_write_items, TransactItems=writes)
    assert code == "Transaction request size cannot exceed 4194304 bytes"


def test_reading_4_mb_in_a_transaction(client: Any, hash_table: str) -> None:
    prefix = unique()
    gets = []
    for number in range(11):
        pk = f"{prefix}-{number}"
        client.put_item(TableName=hash_table, Item=item_of(400_000, pk))
        gets.append({"Get": {"TableName": hash_table, "Key": {"pk": {"S": pk}}}})
    assert len(client.transact_get_items(TransactItems=gets[:10])["Responses"]) == 10
    with pytest.raises(ClientError):
        client.transact_get_items(TransactItems=gets)


def test_client_request_tokens_of_36_characters(client: Any, hash_table: str) -> None:
    writes = [{"Put": {"TableName": hash_table, "Item": {"pk": {"S": unique()}}}}]
    token = unique("t").ljust(36, "0")
    client.transact_write_items(TransactItems=writes, ClientRequestToken=token)
    assert invalid(client.transact_write_items, TransactItems=writes, ClientRequestToken=token + "0") == (
        f"1 validation error detected: Value '{token}0' at 'clientRequestToken' failed to satisfy constraint: Member "
        "must have length less than or equal to 36"
    )
    assert invalid(client.transact_write_items, TransactItems=writes, ClientRequestToken="") == (
        "1 validation error detected: Value '' at 'clientRequestToken' failed to satisfy constraint: Member must "
        "have length greater than or equal to 1"
    )


def test_attribute_names_of_65535_bytes(client: Any, hash_table: str) -> None:
    key = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item={**key, "a" * 65535: {"S": "x"}})
    message = invalid(client.put_item, TableName=hash_table, Item={**key, "a" * 65536: {"S": "x"}})
    assert message == ANNOUNCED + "Attribute name is too large, must be less than 65536 bytes"
    message = invalid(client.put_item, TableName=hash_table, Item={**key, "": {"S": "x"}})
    assert message == ANNOUNCED + "Empty attribute name"


def test_item_collections_are_not_needed_for_small_tables(client: Any, indexed_table: str) -> None:
    pk = {"S": unique()}
    answer = client.put_item(
        TableName=indexed_table, Item={"pk": pk, "sk": {"S": "a"}}, ReturnItemCollectionMetrics="SIZE"
    )
    assert answer["ItemCollectionMetrics"] == {
        "ItemCollectionKey": {"pk": pk},
        "SizeEstimateRangeGB": [0.0, 1.0],
    }


def test_a_document_path_has_32_levels(client: Any, hash_table: str) -> None:
    key = {"TableName": hash_table, "Key": {"pk": {"S": unique()}}}
    longest, longer = ".".join(["a"] * 32), "a" + "[0]" * 32
    problem = "The document path has too many nesting levels; nesting levels: 33"
    client.get_item(**key, ProjectionExpression=longest)
    message = invalid(client.get_item, **key, ProjectionExpression=longer)
    assert message == f"Invalid ProjectionExpression: {problem}"
    client.scan(TableName=hash_table, FilterExpression=f"attribute_exists({longest})")
    message = invalid(client.scan, TableName=hash_table, FilterExpression=f"attribute_exists({longer})")
    assert message == f"Invalid FilterExpression: {problem}"
    message = invalid(client.delete_item, **key, ConditionExpression=f"size({longer}) = {longer}")
    assert message == f"1 validation error detected: Invalid ConditionExpression: {problem}"
    for update in (f"REMOVE {longer}", f"SET b = {longer}", f"SET b = if_not_exists({longer}, c)"):
        message = invalid(client.update_item, **key, UpdateExpression=update)
        assert message == f"1 validation error detected: Invalid UpdateExpression: {problem}"


@pytest.fixture(scope="module")
def crossed_table(client: Any) -> str:
    """A table whose index `crossed` has the table's keys the other way round."""
    return make_table(client, "pk", "sk", GlobalSecondaryIndexes=[index("crossed", "sk", "pk")])


@pytest.mark.parametrize(("length", "fits"), [(1024, True), (1025, False)])
def test_a_partition_key_that_is_an_index_s_sort_key_is_held_to_its_limit(
    client: Any, crossed_table: str, length: int, fits: bool
) -> None:
    key = {"pk": {"S": unique().rjust(length, "p")}, "sk": {"S": "s"}}
    put = {"Put": {"TableName": crossed_table, "Item": key}}
    writes: list[tuple[Any, dict[str, Any]]] = [
        (client.put_item, {"TableName": crossed_table, "Item": key}),
        (client.batch_write_item, {"RequestItems": {crossed_table: [{"PutRequest": {"Item": key}}]}}),
        (client.update_item, {"TableName": crossed_table, "Key": key}),
    ]
    message = (
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of "
        "1024 bytes"
    )
    for operation, request in writes:
        if fits:
            operation(**request)
        else:
            assert invalid(operation, **request) == message
    if fits:
        client.transact_write_items(TransactItems=[put])
    else:
        with pytest.raises(ClientError) as caught:
            client.transact_write_items(TransactItems=[put])
        assert caught.value.response["CancellationReasons"] == [
            {"Code": "ValidationError", "Message": message}
        ]
    assert ("Item" in client.get_item(TableName=crossed_table, Key=key)) == fits
