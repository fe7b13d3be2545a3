"""Tables under keys of the key service: which keys they take, and what becomes of them when the key goes."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from item_tables import make_table
from serving import Serving, serving
from transfers import until

MakeClient = Callable[..., Any]
LIFE_SECONDS = 300
PLACE = "us-east-1:000000000000"


@pytest.fixture(scope="module", params=["encrypted", "plain"])
def own_server(request: pytest.FixtureRequest, root_key_file: Any) -> Iterator[Serving]:
    flags = ["--in-memory", "--log-level", "warning", "--test-clock", "--transition-ms", "0"]
    if request.param == "encrypted":
        flags += ["--root-key", f"file:{root_key_file}"]
    with serving(*flags) as running:
        yield running
        log = running.log_text()
    assert "Traceback" not in log, log


@pytest.fixture
def kms(own_server: Serving, make_client: MakeClient) -> Any:
    return make_client("kms", endpoint=own_server.endpoint)


@pytest.fixture
def client(own_server: Serving, make_client: MakeClient) -> Any:
    return make_client(endpoint=own_server.endpoint)


@pytest.fixture
def key(kms: Any) -> str:
    return str(kms.create_key()["KeyMetadata"]["Arn"])


def under(key: str) -> dict[str, Any]:
    return {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}


def table_under(client: Any, key: str) -> str:
    table: str = make_table(client, "pk", SSESpecification=under(key))
    client.put_item(TableName=table, Item={"pk": {"S": "a"}, "v": {"S": "value"}})
    return table


def value_of(client: Any, table: str) -> str:
    item = client.get_item(TableName=table, Key={"pk": {"S": "a"}}, ConsistentRead=True)["Item"]
    return str(item["v"]["S"])


def encryption(client: Any, table: str) -> dict[str, Any]:
    described: dict[str, Any] = client.describe_table(TableName=table)["Table"]
    return described.get("SSEDescription", {}) | {"TableStatus": described["TableStatus"]}


def refusal(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as failure:
        call(**parameters)
    error = failure.value.response["Error"]
    return error["Code"], re.sub("Request ID: [0-9a-f-]{36}", "Request ID: ID", error["Message"])


def told(head: str, code: str, message: str) -> tuple[str, str]:
    tail = f"(Service: AWSKMS; Status Code: 400; Error Code: {code}; Request ID: ID; Proxy: null)"
    return "ValidationException", f"{head}: com.amazonaws.services.kms.model.{code}: {message} {tail}"


def disabled(key: str) -> tuple[str, str]:
    return told("KMS key disabled error", "DisabledException", f"{key} is disabled.")


def pending(key: str) -> tuple[str, str]:
    return told("KMS validation error", "KMSInvalidStateException", f"{key} is pending deletion.")


def missing(message: str) -> tuple[str, str]:
    return told("KMS validation error", "NotFoundException", message)


def advance(own_server: Serving, seconds: int) -> None:
    answer = own_server.request("POST", "/_hashrange/clock", b'{"advance_seconds": %d}' % seconds)
    assert answer.status == 200


def test_a_key_is_named_in_four_ways_and_shown_by_its_arn(kms: Any, client: Any, key: str) -> None:
    alias = f"alias/{uuid4().hex}"
    kms.create_alias(AliasName=alias, TargetKeyId=key)
    for name in (key, key.rpartition("/")[2], alias, f"arn:aws:kms:{PLACE}:{alias}"):
        table = table_under(client, name)
        shown = encryption(client, table)
        assert shown == {
            "Status": "ENABLED",
            "SSEType": "KMS",
            "KMSMasterKeyArn": key,
            "TableStatus": "ACTIVE",
        }
        assert value_of(client, table) == "value"


def test_the_managed_key_is_made_when_it_is_first_asked_for(kms: Any, client: Any) -> None:
    table = make_table(client, "pk", SSESpecification={"Enabled": True})
    arn = encryption(client, table)["KMSMasterKeyArn"]
    aliases = kms.list_aliases()["Aliases"]
    [alias] = [alias for alias in aliases if alias["AliasName"] == "alias/aws/dynamodb"]
    assert arn.endswith(f":key/{alias['TargetKeyId']}")
    described = kms.describe_key(KeyId="alias/aws/dynamodb")["KeyMetadata"]
    assert (described["Arn"], described["KeyManager"]) == (arn, "AWS")
    again = make_table(client, "pk", SSESpecification=under("alias/aws/dynamodb"))
    assert encryption(client, again)["KMSMasterKeyArn"] == arn
    assert refusal(kms.disable_key, KeyId=arn)[0] == "AccessDeniedException"


def test_keys_that_cannot_be_used_make_no_table(kms: Any, client: Any) -> None:
    off, going = (str(kms.create_key()["KeyMetadata"]["Arn"]) for _ in range(2))
    kms.disable_key(KeyId=off)
    kms.schedule_key_deletion(KeyId=going)
    nobody = f"arn:aws:kms:{PLACE}:key/{'0' * 8}-0000-0000-0000-{'0' * 12}"
    cases = {
        off: disabled(off),
        going: pending(going),
        nobody: missing(f"Key '{nobody}' does not exist"),
        "alias/nobody": missing(f"Alias arn:aws:kms:{PLACE}:alias/nobody is not found."),
        nobody.replace("us-east-1", "eu-west-1"): missing("Invalid arn eu-west-1"),
    }
    name = f"t{uuid4().hex}"
    request = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    for wanted, expected in cases.items():
        assert refusal(client.create_table, **request, SSESpecification=under(wanted)) == expected
    code, message = refusal(
        client.create_table,
        **request,
        SSESpecification=under(nobody.replace("000000000000", "111122223333", 1)),
    )
    assert code == "AccessDeniedException"
    assert message.startswith(
        "KMS key access denied error: com.amazonaws.services.kms.model.AWSKMSException: User: "
        "arn:aws:iam::000000000000:root is not authorized to perform: kms:DescribeKey on this resource"
    )
    assert name not in client.list_tables()["TableNames"]


def test_another_key_takes_over_and_the_first_is_needed_no_more(
    kms: Any, client: Any, key: str, own_server: Serving
) -> None:
    table = make_table(client, "pk")
    client.put_item(TableName=table, Item={"pk": {"S": "a"}, "v": {"S": "value"}})
    client.update_table(TableName=table, SSESpecification=under(key))
    other = str(kms.create_key()["KeyMetadata"]["Arn"])
    assert refusal(client.update_table, TableName=table, SSESpecification=under(key))[1] == (
        "One or more parameter values were invalid: Table is already encrypted with given KMSMasterKeyId. "
        "Use KMSMasterKeyId parameter if you want to change Master Key"
    )
    client.update_table(TableName=table, SSESpecification=under(other))
    assert encryption(client, table)["KMSMasterKeyArn"] == other
    kms.disable_key(KeyId=key)
    kms.rotate_key_on_demand(KeyId=other)
    advance(own_server, 2 * LIFE_SECONDS)
    assert value_of(client, table) == "value"
    client.update_table(TableName=table, SSESpecification={"Enabled": False})
    assert "KMSMasterKeyArn" not in encryption(client, table)
    kms.disable_key(KeyId=other)
    advance(own_server, 2 * LIFE_SECONDS)
    assert value_of(client, table) == "value"


def is_inaccessible(client: Any, table: str) -> bool:
    return bool(encryption(client, table)["TableStatus"] == "INACCESSIBLE_ENCRYPTION_CREDENTIALS")


def test_a_disabled_key_makes_its_table_inaccessible_until_it_is_enabled(
    kms: Any, client: Any, key: str, own_server: Serving
) -> None:
    table = table_under(client, key)
    kms.disable_key(KeyId=key)
    assert value_of(client, table) == "value"  # the unwrapped key lives on for a while
    advance(own_server, LIFE_SECONDS + 1)
    until(lambda: is_inaccessible(client, table))
    shown = encryption(client, table)
    assert shown["Status"] == "ENABLED"
    assert "InaccessibleEncryptionDateTime" in shown
    item = {"pk": {"S": "b"}}
    assert refusal(client.put_item, TableName=table, Item=item) == disabled(key)
    assert refusal(client.get_item, TableName=table, Key=item) == disabled(key)
    assert refusal(client.scan, TableName=table) == disabled(key)
    other = str(kms.create_key()["KeyMetadata"]["Arn"])
    assert refusal(client.update_table, TableName=table, SSESpecification=under(other)) == disabled(key)
    assert refusal(client.create_backup, TableName=table, BackupName="backup") == disabled(key)
    ttl = {"Enabled": True, "AttributeName": "ttl"}
    assert refusal(client.update_time_to_live, TableName=table, TimeToLiveSpecification=ttl) == disabled(key)
    client.update_table(TableName=table, DeletionProtectionEnabled=True)
    client.tag_resource(
        ResourceArn=client.describe_table(TableName=table)["Table"]["TableArn"],
        Tags=[{"Key": "a", "Value": "b"}],
    )
    kms.enable_key(KeyId=key)
    until(lambda: not is_inaccessible(client, table))
    assert value_of(client, table) == "value"
    assert "InaccessibleEncryptionDateTime" not in encryption(client, table)


def test_a_key_that_was_deleted_takes_its_table_with_it(
    kms: Any, client: Any, key: str, own_server: Serving
) -> None:
    table = table_under(client, key)
    kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=7)
    advance(own_server, LIFE_SECONDS + 1)
    until(lambda: is_inaccessible(client, table))
    assert refusal(client.scan, TableName=table) == pending(key)
    kms.cancel_key_deletion(KeyId=key)
    until(lambda: refusal(client.scan, TableName=table) == disabled(key))
    kms.enable_key(KeyId=key)
    until(lambda: not is_inaccessible(client, table))
    assert value_of(client, table) == "value"
    kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=7)
    advance(own_server, 7 * 86_400 + 1)
    until(lambda: is_inaccessible(client, table))
    gone = missing(f"Key '{key}' does not exist")
    until(lambda: refusal(client.scan, TableName=table) == gone)
    assert refusal(kms.describe_key, KeyId=key)[0] == "NotFoundException"
    client.delete_table(TableName=table)


def test_a_key_is_rotated_by_itself_and_its_table_stays(
    kms: Any, client: Any, key: str, own_server: Serving
) -> None:
    table = table_under(client, key)
    kms.enable_key_rotation(KeyId=key, RotationPeriodInDays=90)
    advance(own_server, 90 * 86_400 + 1)
    until(lambda: kms.list_key_rotations(KeyId=key)["Rotations"])
    [rotation] = kms.list_key_rotations(KeyId=key)["Rotations"]
    assert rotation["RotationType"] == "AUTOMATIC"
    assert value_of(client, table) == "value"
    kms.disable_key_rotation(KeyId=key)
