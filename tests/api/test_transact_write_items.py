"""TransactWriteItems: all or nothing, with reasons; at most once with a token."""

import itertools
import threading
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import Item, all_items, invalid, make_table, refused, unique
from serving import serving

VALUES = "One or more parameter values were invalid: "
NONE = {"Code": "None"}


def put(table: str, item: Item, **more: Any) -> dict[str, Any]:
    return {"Put": {"TableName": table, "Item": item, **more}}


def update(table: str, key: Item, expression: str, **more: Any) -> dict[str, Any]:
    return {"Update": {"TableName": table, "Key": key, "UpdateExpression": expression, **more}}


def delete(table: str, key: Item, **more: Any) -> dict[str, Any]:
    return {"Delete": {"TableName": table, "Key": key, **more}}


def check(table: str, key: Item, condition: str, **more: Any) -> dict[str, Any]:
    return {"ConditionCheck": {"TableName": table, "Key": key, "ConditionExpression": condition, **more}}


def cancelled(client: Any, actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The reasons of a transaction that must be cancelled."""
    with pytest.raises(ClientError) as caught:
        client.transact_write_items(TransactItems=actions)
    response = caught.value.response
    assert response["Error"]["Code"] == "TransactionCanceledException", response
    reasons: list[dict[str, Any]] = response["CancellationReasons"]
    assert len(reasons) == len(actions)
    codes = ", ".join(reason["Code"] for reason in reasons)
    assert response["Error"]["Message"] == (
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    )
    return reasons


def read(client: Any, table: str, key: Item) -> Item | None:
    return client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item")


@pytest.fixture
def keys() -> list[Item]:
    return [{"pk": {"S": unique()}} for _ in range(4)]


def test_every_kind_of_action_at_once(
    client: Any, hash_table: str, range_table: str, keys: list[Item]
) -> None:
    for key in keys[1:]:
        client.put_item(TableName=hash_table, Item={**key, "n": {"N": "1"}})
    far = {"pk": keys[0]["pk"], "sk": {"S": "s"}}
    answer = client.transact_write_items(
        TransactItems=[
            put(hash_table, {**keys[0], "a": {"S": "new"}}, ConditionExpression="attribute_not_exists(pk)"),
            update(hash_table, keys[1], "ADD n :one", ExpressionAttributeValues={":one": {"N": "1"}}),
            delete(hash_table, keys[2]),
            check(hash_table, keys[3], "n = :one", ExpressionAttributeValues={":one": {"N": "1"}}),
            put(range_table, far),
        ]
    )
    assert set(answer) == {"ResponseMetadata"}
    assert read(client, hash_table, keys[0]) == {**keys[0], "a": {"S": "new"}}
    assert read(client, hash_table, keys[1]) == {**keys[1], "n": {"N": "2"}}
    assert read(client, hash_table, keys[2]) is None
    assert read(client, hash_table, keys[3]) == {**keys[3], "n": {"N": "1"}}
    assert read(client, range_table, far) == far


def test_one_failed_condition_stops_everything(client: Any, hash_table: str, keys: list[Item]) -> None:
    stored = {**keys[1], "n": {"N": "1"}}
    client.put_item(TableName=hash_table, Item=stored)
    actions = [
        put(hash_table, keys[0]),
        delete(hash_table, keys[1]),
        check(hash_table, keys[2], "attribute_exists(pk)"),
        update(hash_table, keys[3], "SET a = :a", ExpressionAttributeValues={":a": {"S": "x"}}),
    ]
    failed = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
    assert cancelled(client, actions) == [NONE, NONE, failed, NONE]
    assert [read(client, hash_table, key) for key in keys] == [None, stored, None, None]


def test_every_failed_condition_has_its_reason_and_item(
    client: Any, hash_table: str, keys: list[Item]
) -> None:
    stored = {**keys[0], "n": {"N": "1"}}
    client.put_item(TableName=hash_table, Item=stored)
    client.put_item(TableName=hash_table, Item=keys[1])
    actions = [
        put(
            hash_table,
            keys[0],
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        ),
        delete(hash_table, keys[1], ConditionExpression="attribute_exists(n)"),
        check(hash_table, keys[2], "attribute_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        put(hash_table, keys[3]),
    ]
    failed = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
    assert cancelled(client, actions) == [{**failed, "Item": stored}, failed, failed, NONE]


def test_conditions_see_what_was_there_before(client: Any, hash_table: str, keys: list[Item]) -> None:
    actions = [
        put(hash_table, keys[0], ConditionExpression="attribute_not_exists(pk)"),
        check(hash_table, keys[1], "attribute_not_exists(pk)"),
    ]
    client.transact_write_items(TransactItems=actions)
    assert [reason["Code"] for reason in cancelled(client, actions)] == ["ConditionalCheckFailed", "None"]


def test_an_update_may_make_an_item_or_none(client: Any, hash_table: str, keys: list[Item]) -> None:
    client.transact_write_items(
        TransactItems=[
            update(hash_table, keys[0], "SET a = :a", ExpressionAttributeValues={":a": {"S": "x"}}),
            update(hash_table, keys[1], "REMOVE a"),
        ]
    )
    assert read(client, hash_table, keys[0]) == {**keys[0], "a": {"S": "x"}}
    assert read(client, hash_table, keys[1]) is None


MISMATCH = "The provided key element does not match the schema"
A = {"pk": {"S": "a"}}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda t: put(t, {"x": {"S": "a"}}), VALUES + "Missing the key pk in the item"),
        (lambda t: put(t, {"pk": {"N": "1"}}), VALUES + "Type mismatch for key pk expected: S actual: N"),
        (lambda t: put(t, {"pk": {"L": []}}), VALUES + "Type mismatch for key pk expected: S actual: L"),
        (lambda t: delete(t, {"pk": {"N": "1"}}), MISMATCH),
        (lambda t: delete(t, {"x": {"S": "a"}}), MISMATCH),
        (lambda t: update(t, {"pk": {"N": "1"}}, "REMOVE a"), MISMATCH),
        (lambda t: check(t, {**A, "x": {"S": "a"}}, "attribute_exists(a)"), MISMATCH),
        (
            lambda t: update(t, A, "REMOVE pk"),
            VALUES + "Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            lambda t: update(t, A, "SET a.b = :b", ExpressionAttributeValues={":b": {"S": "x"}}),
            "The document path provided in the update expression is invalid for update",
        ),
        (
            lambda t: update(t, A, "SET a = b"),
            "The provided expression refers to an attribute that does not exist in the item",
        ),
    ],
)
def test_what_table_or_item_rule_out_cancels(
    client: Any, hash_table: str, keys: list[Item], action: Any, message: str
) -> None:
    actions = [put(hash_table, keys[0]), action(hash_table)]
    assert cancelled(client, actions) == [NONE, {"Code": "ValidationError", "Message": message}]
    assert read(client, hash_table, keys[0]) is None


EMPTY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
    "string value. Key: pk"
)


@pytest.mark.parametrize(
    "action",
    [
        lambda t: put(t, {"pk": {"S": ""}}),
        lambda t: delete(t, {"pk": {"S": ""}}),
        lambda t: update(t, {"pk": {"S": ""}}, "REMOVE a"),
        lambda t: check(t, {"pk": {"S": ""}}, "attribute_exists(a)"),
    ],
)
def test_an_empty_key_refuses_the_whole_request(client: Any, hash_table: str, action: Any) -> None:
    actions = [put(hash_table, {"pk": {"S": unique()}}), action(hash_table)]
    assert invalid(client.transact_write_items, TransactItems=actions) == EMPTY


def test_an_empty_index_key_refuses_the_whole_request(client: Any, indexed_table: str) -> None:
    key = {"pk": {"S": unique()}, "sk": {"S": "b"}}
    message = invalid(
        client.transact_write_items, TransactItems=[put(indexed_table, {**key, "g": {"S": ""}})]
    )
    assert message.endswith("IndexName: global-all, IndexKey: g")
    empty = update(indexed_table, key, "SET g = :g", ExpressionAttributeValues={":g": {"S": ""}})
    message = invalid(client.transact_write_items, TransactItems=[empty])
    assert message.startswith("One or more parameter values are not valid. The update expression attempted")


def test_a_wrong_index_key_cancels(client: Any, indexed_table: str) -> None:
    key = {"pk": {"S": unique()}, "sk": {"S": "b"}}
    text = VALUES + "Type mismatch for Index Key g Expected: S Actual: N IndexName: global-all"
    reason = {"Code": "ValidationError", "Message": text}
    assert cancelled(client, [put(indexed_table, {**key, "g": {"N": "1"}})]) == [reason]
    wrong = update(indexed_table, key, "SET g = :g", ExpressionAttributeValues={":g": {"N": "1"}})
    assert cancelled(client, [wrong]) == [reason]


@pytest.mark.parametrize(
    ("first", "second"),
    list(itertools.combinations_with_replacement(["put", "update", "delete", "check"], 2)),
)
def test_an_item_takes_part_only_once(client: Any, hash_table: str, first: str, second: str) -> None:
    key = {"pk": {"S": unique()}}
    makers = {
        "put": lambda: put(hash_table, key),
        "update": lambda: update(hash_table, key, "REMOVE a"),
        "delete": lambda: delete(hash_table, key),
        "check": lambda: check(hash_table, key, "attribute_not_exists(pk)"),
    }
    message = invalid(client.transact_write_items, TransactItems=[makers[first](), makers[second]()])
    assert message == "Transaction request cannot include multiple operations on one item"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            lambda t: put(t, A, ExpressionAttributeValues={":a": {"S": "a"}}),
            "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null",
        ),
        (
            lambda t: put(t, A, ConditionExpression="a = :a", ExpressionAttributeValues={}),
            "ExpressionAttributeValues must not be empty",
        ),
        (
            lambda t: update(t, A, "INVALID", ExpressionAttributeValues={}),
            "ExpressionAttributeValues must not be empty",
        ),
        (
            lambda t: update(t, A, "SET a = :a SET b = :a", ExpressionAttributeValues={":a": {"S": "x"}}),
            'Invalid UpdateExpression: The "SET" section can only be used once in an update expression;',
        ),
        (
            lambda t: update(t, A, "REMOVE a", ExpressionAttributeNames={"#b": "b"}),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}",
        ),
        (
            lambda t: delete(t, A, ConditionExpression="a = :a"),
            (
                "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
                "attribute value: :a"
            ),
        ),
        (
            lambda t: check(t, A, "attribute_exists(" + "a" * 4090 + ")"),
            (
                "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: "
                "4108"
            ),
        ),
        (
            lambda t: {**put(t, A), **delete(t, A)},
            "TransactItems can only contain one of Check, Put, Update or Delete",
        ),
        (
            lambda _: {},
            "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request",
        ),
    ],
)
def test_request_errors_refuse_the_whole_request(
    client: Any, hash_table: str, action: Any, message: str
) -> None:
    actions = [put(hash_table, {"pk": {"S": unique()}}), action(hash_table)]
    assert invalid(client.transact_write_items, TransactItems=actions) == message
    # They are found before the table is looked for.
    assert invalid(client.transact_write_items, TransactItems=[action("no-such-table")]) == message


@pytest.mark.parametrize(
    ("action", "path"),
    [
        ({"Put": {"TableName": "abc"}}, "put.item"),
        ({"Delete": {"TableName": "abc"}}, "delete.key"),
        ({"Update": {"TableName": "abc", "UpdateExpression": "REMOVE a"}}, "update.key"),
        ({"ConditionCheck": {"TableName": "abc", "ConditionExpression": "a = b"}}, "conditionCheck.key"),
        ({"ConditionCheck": {"TableName": "abc", "Key": A}}, "conditionCheck.conditionExpression"),
        ({"Update": {"TableName": "abc", "Key": A}}, "update.updateExpression"),
        ({"Put": {"Item": A}}, "put.tableName"),
    ],
)
def test_missing_members(client: Any, action: dict[str, Any], path: str) -> None:
    message = invalid(client.transact_write_items, TransactItems=[put("abc", A), action])
    assert message == (
        f"1 validation error detected: Value null at 'transactItems.2.member.{path}' failed to satisfy constraint: "
        "Member must not be null"
    )


def test_a_malformed_table_name(client: Any) -> None:
    message = invalid(client.transact_write_items, TransactItems=[put("abc", A), delete("b!", A)])
    assert message == (
        "1 validation error detected: Value 'b!' at 'transactItems.2.member.delete.tableName' failed to satisfy "
        "constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    )


def test_an_unknown_table_is_not_found(client: Any, hash_table: str) -> None:
    key = {"pk": {"S": unique()}}
    actions = [put(hash_table, key), put("no-such-table", key)]
    found = refused(client.transact_write_items, TransactItems=actions)
    assert found == ("ResourceNotFoundException", "Requested resource not found")
    # Looked for before duplicates.
    actions = [put(hash_table, key), put(hash_table, key), put("no-such-table", key)]
    assert refused(client.transact_write_items, TransactItems=actions)[0] == "ResourceNotFoundException"


def test_a_token_makes_it_happen_once(client: Any, hash_table: str, keys: list[Item]) -> None:
    actions = [update(hash_table, keys[0], "ADD n :one", ExpressionAttributeValues={":one": {"N": "1"}})]
    token = unique("t")
    for _ in range(3):
        client.transact_write_items(TransactItems=actions, ClientRequestToken=token)
    assert read(client, hash_table, keys[0]) == {**keys[0], "n": {"N": "1"}}
    client.transact_write_items(TransactItems=actions, ClientRequestToken=unique("t"))
    assert read(client, hash_table, keys[0]) == {**keys[0], "n": {"N": "2"}}


def test_a_repeat_is_answered_even_if_it_could_not_happen_again(
    client: Any, hash_table: str, keys: list[Item]
) -> None:
    actions = [put(hash_table, keys[0], ConditionExpression="attribute_not_exists(pk)")]
    token = unique("t")
    client.transact_write_items(TransactItems=actions, ClientRequestToken=token)
    client.transact_write_items(TransactItems=actions, ClientRequestToken=token)
    assert read(client, hash_table, keys[0]) == keys[0]
    assert [reason["Code"] for reason in cancelled(client, actions)] == ["ConditionalCheckFailed"]
    client.delete_item(TableName=hash_table, Key=keys[0])
    client.transact_write_items(TransactItems=actions, ClientRequestToken=token)
    assert read(client, hash_table, keys[0]) is None


@pytest.mark.slow
def test_a_token_is_good_after_a_restart(make_client: Any, tmp_path: Path) -> None:
    token = unique("t")
    for _ in range(2):
        with serving("--data-dir", str(tmp_path), "--log-level", "warning") as server:
            client = make_client(endpoint=server.endpoint)
            if not client.list_tables()["TableNames"]:
                make_table(client, "pk", TableName="durable")
            one = {":one": {"N": "1"}}
            action = update("durable", A, "ADD n :one", ExpressionAttributeValues=one)
            client.transact_write_items(TransactItems=[action], ClientRequestToken=token)
            assert read(client, "durable", A) == {**A, "n": {"N": "1"}}
            other = update("durable", A, "REMOVE n")
            code, _ = refused(client.transact_write_items, TransactItems=[other], ClientRequestToken=token)
            assert code == "IdempotentParameterMismatchException"


def test_a_token_stands_for_its_parameters(client: Any, hash_table: str, keys: list[Item]) -> None:
    token = unique("t")
    client.transact_write_items(TransactItems=[put(hash_table, keys[0])], ClientRequestToken=token)
    found = refused(
        client.transact_write_items, TransactItems=[put(hash_table, keys[1])], ClientRequestToken=token
    )
    assert found[0] == "IdempotentParameterMismatchException"
    assert read(client, hash_table, keys[1]) is None


def test_the_order_of_members_does_not_matter_to_a_token(raw: Any, hash_table: str) -> None:
    pk, token = unique(), unique("t")
    bodies = [
        {"Put": {"TableName": hash_table, "Item": {"pk": {"S": pk}, "a": {"S": "x"}}}},
        {"Put": {"Item": {"a": {"S": "x"}, "pk": {"S": pk}}, "TableName": hash_table}},
    ]
    for body in bodies:
        assert raw("TransactWriteItems", {"TransactItems": [body], "ClientRequestToken": token}).status == 200


def test_a_cancelled_transaction_does_not_use_up_its_token(
    client: Any, hash_table: str, keys: list[Item]
) -> None:
    actions = [put(hash_table, keys[0]), check(hash_table, keys[1], "attribute_exists(pk)")]
    token = unique("t")
    with pytest.raises(ClientError):
        client.transact_write_items(TransactItems=actions, ClientRequestToken=token)
    client.put_item(TableName=hash_table, Item=keys[1])
    client.transact_write_items(TransactItems=actions, ClientRequestToken=token)
    assert read(client, hash_table, keys[0]) == keys[0]


def test_the_mismatch_carries_its_message_with_a_capital(raw: Any, hash_table: str) -> None:
    token = unique("t")
    for number, status in ((1, 200), (2, 400)):
        action = put(hash_table, {"pk": {"S": f"{token}-{number}"}})
        answer = raw("TransactWriteItems", {"TransactItems": [action], "ClientRequestToken": token})
        assert answer.status == status
    assert set(answer.body) == {"__type", "Message"}


def test_the_cancellation_carries_its_message_with_a_capital(raw: Any, hash_table: str) -> None:
    action = check(hash_table, {"pk": {"S": unique()}}, "attribute_exists(pk)")
    answer = raw("TransactWriteItems", {"TransactItems": [action]})
    assert answer.body["__type"] == "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
    assert set(answer.body) == {"__type", "Message", "CancellationReasons"}


def test_indexes_follow_or_stay_with_the_whole_transaction(client: Any, indexed_table: str) -> None:
    g = unique("g")
    keys = [{"pk": {"S": unique()}, "sk": {"S": str(number)}} for number in range(3)]

    def entries() -> list[str]:
        found = all_items(
            client.query,
            TableName=indexed_table,
            IndexName="global-all",
            KeyConditionExpression="g = :g",
            ExpressionAttributeValues={":g": {"S": g}},
        )
        return [each["sk"]["S"] for each in found]

    puts = [
        put(indexed_table, {**key, "g": {"S": g}, "n": {"N": str(number)}}) for number, key in enumerate(keys)
    ]
    cancelled(
        client, [*puts, check(indexed_table, {"pk": {"S": "x"}, "sk": {"S": "x"}}, "attribute_exists(pk)")]
    )
    assert entries() == []
    client.transact_write_items(TransactItems=puts)
    assert entries() == ["0", "1", "2"]
    moves = [
        delete(indexed_table, keys[0]),
        update(indexed_table, keys[1], "SET n = :n", ExpressionAttributeValues={":n": {"N": "9"}}),
        update(indexed_table, keys[2], "REMOVE g"),
    ]
    cancelled(
        client, [*moves, check(indexed_table, {"pk": {"S": "x"}, "sk": {"S": "x"}}, "attribute_exists(pk)")]
    )
    assert entries() == ["0", "1", "2"]
    client.transact_write_items(TransactItems=moves)
    assert entries() == ["1"]


def test_metrics_name_each_collection_once(client: Any, indexed_table: str, hash_table: str) -> None:
    pk = {"S": unique()}
    actions = [put(indexed_table, {"pk": pk, "sk": {"S": sk}}) for sk in "abc"]
    actions.append(put(hash_table, {"pk": pk}))
    answer = client.transact_write_items(TransactItems=actions, ReturnItemCollectionMetrics="SIZE")
    assert answer["ItemCollectionMetrics"] == {
        indexed_table: [{"ItemCollectionKey": {"pk": pk}, "SizeEstimateRangeGB": [0.0, 1.0]}]
    }


def test_concurrent_transactions_lose_nothing(make_client: Any, hash_table: str) -> None:
    """Transfers between two accounts, to and fro at the same time."""
    keys = [{"pk": {"S": unique()}} for _ in range(2)]
    clients = [make_client() for _ in range(4)]
    for key in keys:
        clients[0].put_item(TableName=hash_table, Item={**key, "n": {"N": "100"}})

    def transfer(client: Any, source: Item, target: Item, times: int) -> None:
        values = {"ExpressionAttributeValues": {":one": {"N": "1"}}}
        for _ in range(times):
            out = update(hash_table, source, "SET n = n - :one", **values)
            into = update(hash_table, target, "SET n = n + :one", **values)
            client.transact_write_items(TransactItems=[out, into])

    ways = [(*keys, 30), (*keys[::-1], 20), (*keys, 10), (*keys[::-1], 5)]
    threads = [
        threading.Thread(target=transfer, args=(client, *way))
        for client, way in zip(clients, ways, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gets = [{"Get": {"TableName": hash_table, "Key": key}} for key in keys]
    found = clients[0].transact_get_items(TransactItems=gets)["Responses"]
    assert [each["Item"]["n"]["N"] for each in found] == ["85", "115"]
