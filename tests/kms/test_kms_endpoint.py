"""Tables under keys of another key service: here another Hashrange, behind a line that is cut, silent, or says no."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from answering_proxy import Body, answering_proxy
from item_tables import make_table
from serving import Serving, serving
from tcp_proxy import Proxy
from transfers import until

MakeClient = Callable[..., Any]
LIFE_SECONDS = 300
DENIED = (400, {"__type": "AccessDeniedException", "message": "User: arn:aws:iam::1:user/server may not"})
SIGNER = {"AWS_ACCESS_KEY_ID": "AKIDSERVER", "AWS_SECRET_ACCESS_KEY": "secret"}
pytestmark = pytest.mark.slow


@dataclass
class Line:
    """What is between a server and its key service."""

    proxy: Proxy | None = None
    asked: list[tuple[str, Body]] = field(default_factory=list)
    denies: bool = False

    def cut(self) -> None:
        assert self.proxy is not None
        self.proxy.open = False
        self.proxy.cut()

    def silence(self) -> None:
        assert self.proxy is not None
        self.proxy.answers.clear()

    def mend(self) -> None:
        assert self.proxy is not None
        self.denies = False
        self.proxy.open = True
        self.proxy.answers.set()

    def hook(self, operation: str, body: Body) -> tuple[int, Body] | None:
        self.asked.append((operation, body))
        return DENIED if self.denies else None


@pytest.fixture(scope="module")
def line(kms_server: Serving) -> Iterator[tuple[Line, str]]:
    line = Line()
    with answering_proxy(kms_server.endpoint, line.hook) as endpoint:
        proxy = line.proxy = Proxy(int(endpoint.rpartition(":")[2]))
        yield line, f"http://127.0.0.1:{proxy.port}"
        proxy.close()


@pytest.fixture(scope="module")
def own_server(line: tuple[Line, str], root_key_file: Path) -> Iterator[Serving]:
    flags = ("--in-memory", "--log-level", "warning", "--test-clock", "--transition-ms", "0")
    keys = ("--root-key", f"file:{root_key_file}", "--kms-endpoint", line[1])
    with serving(*flags, *keys, environment=SIGNER) as running:
        yield running
        log = running.log_text()
    assert "Traceback" not in log, log


@pytest.fixture
def wire(line: tuple[Line, str]) -> Iterator[Line]:
    """The line, which is in order again after each test."""
    yield line[0]
    line[0].mend()


@pytest.fixture
def client(own_server: Serving, make_client: MakeClient) -> Any:
    return make_client(endpoint=own_server.endpoint)


def under(key: str) -> dict[str, Any]:
    return {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}


def table_under(client: Any, key: str) -> str:
    table: str = make_table(client, "pk", SSESpecification=under(key))
    client.put_item(TableName=table, Item={"pk": {"S": "a"}, "v": {"S": "value"}})
    return table


def value_of(client: Any, table: str) -> str:
    item = client.get_item(TableName=table, Key={"pk": {"S": "a"}}, ConsistentRead=True)["Item"]
    return str(item["v"]["S"])


def status(client: Any, table: str) -> str:
    return str(client.describe_table(TableName=table)["Table"]["TableStatus"])


def backup_status(client: Any, arn: str) -> str:
    described = client.describe_backup(BackupArn=arn)["BackupDescription"]
    return str(described["BackupDetails"]["BackupStatus"])


def is_lost(client: Any, table: str) -> bool:
    return status(client, table) == "INACCESSIBLE_ENCRYPTION_CREDENTIALS"


def refusal(call: Callable[..., Any], **parameters: Any) -> str:
    with pytest.raises(ClientError) as failure:
        call(**parameters)
    error = failure.value.response["Error"]
    return f"{error['Code']} {error['Message']}"


def new_table(key: str) -> dict[str, Any]:
    return {
        "TableName": f"t{uuid4().hex}",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "SSESpecification": under(key),
    }


def advance(own_server: Serving, seconds: int) -> None:
    answer = own_server.request("POST", "/_hashrange/clock", b'{"advance_seconds": %d}' % seconds)
    assert answer.status == 200


def test_a_table_has_its_key_made_by_the_service_and_bound_to_its_name(
    client: Any, kms: Any, key: str, wire: Line
) -> None:
    alias = f"alias/{uuid4().hex}"
    kms.create_alias(AliasName=alias, TargetKeyId=key)
    for name in (key, key.rpartition("/")[2], alias):
        wire.asked.clear()
        table = table_under(client, name)
        assert client.describe_table(TableName=table)["Table"]["SSEDescription"]["KMSMasterKeyArn"] == key
        assert value_of(client, table) == "value"
        asked = [call for call in wire.asked if call[0] != "Decrypt"]
        context = {"aws:dynamodb:tableName": table, "aws:dynamodb:subscriberId": "000000000000"}
        generated = {"KeyId": key, "KeySpec": "AES_256", "EncryptionContext": context}
        assert asked == [("DescribeKey", {"KeyId": name}), ("GenerateDataKey", generated)]


def test_the_managed_key_stays_this_servers_own(client: Any, wire: Line) -> None:
    wire.asked.clear()
    table = make_table(client, "pk", SSESpecification={"Enabled": True})
    client.put_item(TableName=table, Item={"pk": {"S": "a"}})
    assert [call for call in wire.asked if call[0] != "Decrypt"] == []


def test_keys_that_cannot_be_used_make_no_table(client: Any, kms: Any, wire: Line) -> None:
    off, going = (str(kms.create_key()["KeyMetadata"]["Arn"]) for _ in range(2))
    kms.disable_key(KeyId=off)
    kms.schedule_key_deletion(KeyId=going)
    model = "com.amazonaws.services.kms.model."
    assert f"KMS key disabled error: {model}DisabledException: {off} is disabled." in refusal(
        client.create_table, **new_table(off)
    )
    assert f"{model}KMSInvalidStateException: {going} is pending deletion." in refusal(
        client.create_table, **new_table(going)
    )
    assert f"ValidationException KMS validation error: {model}NotFoundException: Alias arn:" in refusal(
        client.create_table, **new_table("alias/nobody")
    )
    wire.denies = True
    denied = refusal(client.create_table, **new_table(off))
    assert denied.startswith(f"AccessDeniedException KMS key access denied error: {model}AWSKMSException: ")
    assert "user/server" not in denied


def test_a_table_moves_between_keys_of_both_services(
    client: Any, kms: Any, key: str, own_server: Serving, wire: Line
) -> None:
    table = make_table(client, "pk")
    client.put_item(TableName=table, Item={"pk": {"S": "a"}, "v": {"S": "value"}})
    other = str(kms.create_key()["KeyMetadata"]["Arn"])
    client.update_table(TableName=table, SSESpecification=under(key))
    client.update_table(TableName=table, SSESpecification=under(other))
    kms.disable_key(KeyId=key)
    advance(own_server, 2 * LIFE_SECONDS)
    assert value_of(client, table) == "value"
    client.update_table(TableName=table, SSESpecification={"Enabled": False})
    wire.cut()
    advance(own_server, 2 * LIFE_SECONDS)
    assert value_of(client, table) == "value"
    assert status(client, table) == "ACTIVE"


def test_a_disabled_key_closes_its_table_after_five_minutes_and_an_enabled_one_opens_it(
    client: Any, kms: Any, key: str, own_server: Serving
) -> None:
    table = table_under(client, key)
    kms.disable_key(KeyId=key)
    advance(own_server, LIFE_SECONDS * 2 // 3)
    assert value_of(client, table) == "value"
    advance(own_server, LIFE_SECONDS)
    until(lambda: is_lost(client, table))
    assert (
        "InaccessibleEncryptionDateTime" in client.describe_table(TableName=table)["Table"]["SSEDescription"]
    )
    item = {"pk": {"S": "a"}}
    assert f"DisabledException: {key} is disabled." in refusal(client.get_item, TableName=table, Key=item)
    kms.enable_key(KeyId=key)
    until(lambda: not is_lost(client, table))
    assert value_of(client, table) == "value"


def test_a_service_that_cannot_be_reached_is_told_from_a_disabled_key(
    client: Any, key: str, own_server: Serving, wire: Line
) -> None:
    table = table_under(client, key)
    wire.cut()
    advance(own_server, LIFE_SECONDS * 2 // 3)
    assert value_of(client, table) == "value"
    advance(own_server, LIFE_SECONDS)
    until(lambda: is_lost(client, table))
    told = refusal(client.put_item, TableName=table, Item={"pk": {"S": "b"}})
    assert told.startswith("ValidationException KMS internal error: ")
    assert "DependencyTimeoutException" in told
    assert "disabled" not in told
    assert "DependencyTimeoutException" in refusal(client.create_table, **new_table(key))
    until(lambda: "kms.failed" in own_server.log_text())
    assert "state=unreachable" in own_server.log_text() or '"unreachable"' in own_server.log_text()
    wire.mend()
    until(lambda: not is_lost(client, table))
    assert value_of(client, table) == "value"


def test_a_service_that_says_no_closes_the_table(
    client: Any, key: str, own_server: Serving, wire: Line
) -> None:
    table = table_under(client, key)
    wire.denies = True
    advance(own_server, LIFE_SECONDS + 1)
    until(lambda: is_lost(client, table))
    told = refusal(client.scan, TableName=table)
    assert told.startswith("AccessDeniedException KMS key access denied error: ")
    wire.denies = False
    until(lambda: not is_lost(client, table))
    assert value_of(client, table) == "value"


def test_a_flood_of_new_tables_waits_for_a_silent_service_and_nobody_else_does(
    client: Any, own_server: Serving, make_client: MakeClient, key: str, wire: Line
) -> None:
    table, other = table_under(client, key), make_table(client, "pk")
    wire.silence()

    def create(_: int) -> str:
        patient = make_client(endpoint=own_server.endpoint)
        return refusal(patient.create_table, **new_table(str(uuid4())))

    with ThreadPoolExecutor(30) as pool:
        told = pool.map(create, range(30))
        for number in range(20):
            client.put_item(TableName=other, Item={"pk": {"S": str(number)}})
            assert value_of(client, table) == "value"
        codes = {answer.partition(" ")[0] for answer in told}
    assert codes == {"ThrottlingException", "ValidationException"}


def test_keys_survive_a_restart_and_a_server_without_the_service_says_what_is_missing(
    kms: Any, key: str, line: tuple[Line, str], root_key_file: Path, tmp_path: Path, make_client: MakeClient
) -> None:
    flags = ("--data-dir", str(tmp_path / "data"), "--transition-ms", "0", "--log-level", "warning")
    rooted = (*flags, "--root-key", f"file:{root_key_file}")
    named = (*rooted, "--kms-endpoint", line[1])
    with serving(*named, environment=SIGNER) as running:
        table = table_under(make_client(endpoint=running.endpoint), key)
    with serving(*rooted) as running:
        client = make_client(endpoint=running.endpoint)
        until(lambda: is_lost(client, table))
        assert "kms.unnamed" in running.log_text()
    with serving(*named, "--workers", "2", environment=SIGNER) as running:
        client = make_client(endpoint=running.endpoint)
        until(lambda: not is_lost(client, table))
        second = table_under(client, key)
        for _ in range(10):  # either worker
            fresh = make_client(endpoint=running.endpoint)
            assert (value_of(fresh, table), value_of(fresh, second)) == ("value", "value")
        arn = client.create_backup(TableName=table, BackupName="backup")["BackupDetails"]["BackupArn"]
        until(lambda: backup_status(client, arn) == "AVAILABLE")
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        until(lambda: status(client, "restored") == "ACTIVE")
        described = client.describe_table(TableName="restored")["Table"]
        assert described["SSEDescription"]["KMSMasterKeyArn"] == key
        assert value_of(client, "restored") == "value"
        assert "Traceback" not in running.log_text()
    for endpoint, code in ((line[1], 0), ("http://127.0.0.1:1", 2)):
        assert verified(tmp_path / "data", root_key_file, endpoint) == code


def verified(data: Path, root_key_file: Path, endpoint: str) -> int:
    """The exit status of a check of the data, which reads every row."""
    command = [sys.executable, "-m", "hashrange", "verify", str(data), "--root-key", f"file:{root_key_file}"]
    environment = {**os.environ, **SIGNER, "HASHRANGE_KMS_ENDPOINT": endpoint}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--kms-endpoint", "https://kms.example.org"), "it needs --root-key"),
        (("--kms-endpoint", "http://kms.example.org"), "in the clear"),
        (
            ("--kms-endpoint", "https://kms.example.org", "--root-key", f"command:echo {'5e' * 32}"),
            "AWS_ACCESS_KEY_ID",
        ),
        (("--kms-endpoint", "https://user:secret@kms.example.org"), "must be a URL"),
    ],
)
def test_an_endpoint_that_would_protect_nothing_is_refused(flags: tuple[str, ...], message: str) -> None:
    with pytest.raises(RuntimeError, match=message), serving("--in-memory", *flags):
        pass
