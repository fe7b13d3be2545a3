"""The audit log of a real server."""

import http.client
import json
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

import warm
from hashrange.audit.files import all_files
from hashrange.certificates import Authority
from serving import Serving, serving

SECRET = "canary-90ab"
CLAIM = "Credential=AKIDCLAIMED/20260101/us-east-1/dynamodb/aws4_request"
UNSIGNED = {"Authorization": f"AWS4-HMAC-SHA256 {CLAIM}, Signature=0"}


def client(server: Serving, service: str = "dynamodb") -> Any:
    return boto3.client(
        service,
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id="AKIDEXAMPLE",
        aws_secret_access_key="wJalrXUtnFEMI",
        config=Config(retries={"max_attempts": 1}, parameter_validation=False, user_agent_extra="audited/1"),
    )


def make_table(database: Any) -> None:
    database.create_table(
        TableName="music",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    database.get_waiter("table_exists").wait(TableName="music")


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in all_files(path) for line in file.read_bytes().splitlines()]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def verify(path: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return warm.run("audit", "verify", str(path), *flags)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def test_who_did_what_from_where_with_which_outcome(path: Path) -> None:
    with serving("--in-memory", "--audit-log", str(path)) as server:
        database = client(server)
        make_table(database)
        database.put_item(TableName="music", Item={"pk": {"S": "a"}, "card": {"S": SECRET}})
        answer = database.get_item(TableName="music", Key={"pk": {"S": "a"}})
        with pytest.raises(ClientError):
            database.get_item(TableName="absent", Key={"pk": {"S": "a"}})
        with pytest.raises(ClientError):
            database.put_item(TableName="music", Item={"pk": {"S": "a"}, "card": {"N": SECRET}})
        client(server, "sts").get_caller_identity()
        client(server, "cloudwatch").list_metrics()
        assert server.stop() == 0
    found = [event for event in events(path) if event["eventName"] != "DescribeTable"]
    outcomes = [(event["eventName"], event.get("errorCode"), event["eventCategory"]) for event in found]
    assert outcomes == [
        ("CreateTable", None, "Management"),
        ("PutItem", None, "Data"),
        ("GetItem", None, "Data"),
        ("GetItem", "ResourceNotFoundException", "Data"),
        ("PutItem", "ValidationException", "Data"),
        ("GetCallerIdentity", None, "Management"),
        ("ListMetrics", None, "Management"),
    ]
    assert SECRET not in path.read_text("ascii")
    read = found[2]
    assert {name: read[name] for name in ("eventSource", "awsRegion", "sourceIPAddress", "readOnly")} == {
        "eventSource": "dynamodb.amazonaws.com",
        "awsRegion": "us-east-1",
        "sourceIPAddress": "127.0.0.1",
        "readOnly": True,
    }
    assert read["requestParameters"] == {"tableName": "music", "key": {"pk": {"S": "a"}}}
    assert read["requestID"] == answer["ResponseMetadata"]["RequestId"]
    assert read["userIdentity"]["accessKeyId"] == "AKIDEXAMPLE"
    assert "audited/1" in read["userAgent"]
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/music"
    assert read["resources"] == [{"accountId": "000000000000", "type": "AWS::DynamoDB::Table", "ARN": arn}]
    assert [event["eventSource"] for event in found[5:]] == ["sts.amazonaws.com", "monitoring.amazonaws.com"]
    assert verify(path).returncode == 0


def test_requests_that_never_became_a_call_are_noted(path: Path) -> None:
    with serving("--in-memory", "--audit-log", str(path)) as server:
        assert server.post("ListTables", {}, headers={"Authorization": ""}).status == 400
        assert server.post("ListTables", {}, headers=UNSIGNED).status == 400
        assert server.post("Nonsense\x9b2J", {}).status == 400
        assert server.post("PutItem", b"x" * 100_000).status == 400
        server.stop()
    found = events(path)
    assert [(event["eventName"], event["errorCode"]) for event in found] == [
        ("ListTables", "MissingAuthenticationTokenException"),
        ("ListTables", "IncompleteSignatureException"),
        ("Nonsense\x9b2J", "UnknownOperationException"),
        ("PutItem", "SerializationException"),
    ]
    assert found[1]["userIdentity"] == {"type": "Unknown", "accessKeyId": "AKIDCLAIMED"}
    assert path.read_bytes().isascii()


def test_large_requests_say_where_they_came_from(path: Path) -> None:
    with serving("--in-memory", "--audit-log", str(path)) as server:
        database = client(server)
        make_table(database)
        database.put_item(TableName="music", Item={"pk": {"S": "a"}, "large": {"S": "x" * 200_000}})
        server.stop()
    put = events(path)[-1]
    assert (put["eventName"], put["sourceIPAddress"]) == ("PutItem", "127.0.0.1")
    assert put["requestParameters"] == {
        "tableName": "music",
        "key": {"pk": {"S": "a"}},
        "items": ["pk", "large"],
    }
    assert "audited/1" in put["userAgent"]


@pytest.mark.parametrize("odd", [{}, {"ConsistentRead": "true"}])
def test_nobody_hides_what_they_read_behind_padding(path: Path, odd: dict[str, Any]) -> None:
    """A large request is read on a thread of its own, also where it is read a second, slower way."""
    with serving("--in-memory", "--audit-log", str(path)) as server:
        make_table(client(server))
        read = {"TableName": "music", "Key": {"pk": {"S": "a"}}, "Unknown": "x" * 300_000, **odd}
        assert server.post("GetItem", read).status == 200
        server.stop()
    event = events(path)[-1]
    assert event["eventName"] == "GetItem"
    assert event["requestParameters"]["key"] == {"pk": {"S": "a"}}
    assert event["resources"][0]["ARN"].endswith("table/music")


def test_events_of_tls_say_so(path: Path, tmp_path: Path) -> None:
    authority = Authority(days=1)
    issued = authority.issue(["localhost"])
    for name, content in (
        ("ca.pem", authority.certificate),
        ("s.pem", issued.certificate),
        ("s.key", issued.key),
    ):
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o600)
    flags = (
        "--tls-cert",
        str(tmp_path / "s.pem"),
        "--tls-key",
        str(tmp_path / "s.key"),
        "--audit-log",
        str(path),
    )
    with serving("--in-memory", *flags) as server:
        context = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
        connection = http.client.HTTPSConnection("localhost", server.port, timeout=30, context=context)
        target = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "DynamoDB_20120810.ListTables",
        }
        connection.request("POST", "/", b"{}", target)
        assert connection.getresponse().status == 400
        connection.close()
        server.stop()
    (found,) = events(path)
    assert found["tlsDetails"] == {
        "tlsVersion": "TLSv1.3",
        "cipherSuite": "TLS_AES_256_GCM_SHA384",
        "clientProvidedHostHeader": f"localhost:{server.port}",
    }


def test_management_events_alone(path: Path) -> None:
    with serving("--in-memory", "--audit-log", str(path), "--audit-events", "management") as server:
        database = client(server)
        make_table(database)
        database.put_item(TableName="music", Item={"pk": {"S": "a"}})
        database.delete_table(TableName="music")
        server.stop()
    names = [event["eventName"] for event in events(path)]
    assert (names[0], names[-1], "PutItem" in names) == ("CreateTable", "DeleteTable", False)


def test_the_servers_own_pages_are_noted_and_lost_events_counted(path: Path) -> None:
    with serving("--in-memory", "--audit-log", str(path), "--test-clock", "--chaos") as server:
        for page, body in (("clock", {"advance_seconds": 60}), ("clock", {"advance_seconds": -1})):
            server.request("POST", f"/_hashrange/{page}", json.dumps(body).encode())
        server.request("DELETE", "/_hashrange/chaos?id=x")
        server.request("GET", "/_hashrange/clock")
        metrics = server.request("GET", "/metrics").body
        server.stop()
    assert b"\nhashrange_audit_dropped_events_total 0\n" in metrics
    noted = [
        (event["eventName"], event.get("errorCode"), event["requestParameters"]) for event in events(path)
    ]
    assert noted == [
        ("MoveClock", None, {"method": "POST", "body": {"advance_seconds": 60}}),
        ("MoveClock", "400 Bad Request", {"method": "POST", "body": {"advance_seconds": -1}}),
        ("InjectFaults", None, {"method": "DELETE", "query": "id=x"}),
    ]
    assert {event["eventSource"] for event in events(path)} == {"hashrange"}


def test_queries_and_statements_show_their_partition_keys(path: Path) -> None:
    with serving("--in-memory", "--audit-log", str(path)) as server:
        database = client(server)
        make_table(database)
        condition = {"KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": {":v": {"S": "a"}}}
        database.query(TableName="music", **condition)
        database.execute_statement(Statement="SELECT * FROM music WHERE pk = ?", Parameters=[{"S": "b"}])
        database.execute_statement(Statement=f"SELECT * FROM music WHERE card = '{SECRET}'")
        insert = f"INSERT INTO music VALUE {{'pk': 'c', 'card': '{SECRET}'}}"
        database.execute_transaction(TransactStatements=[{"Statement": insert}])
        statements = ["nonsense", "DELETE FROM \"..\" WHERE pk = 'x'"]
        statements += [f"DELETE FROM music WHERE pk = '{key}'" for key in "cd"]
        database.batch_execute_statement(Statements=[{"Statement": text} for text in statements])
        with pytest.raises(ClientError):
            database.query(TableName="absent", **condition)
        assert server.stop() == 0
    found = [event for event in events(path) if event["eventCategory"] == "Data"]
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/music"
    keys = [event["requestParameters"].get("partitionKeys", {}).get(arn) for event in found]
    assert [shown and [value["S"] for value in shown["pk"]] for shown in keys] == [
        *(["a"], ["b"], None),
        *(["c"], ["c", "d"], None),
    ]
    assert SECRET not in path.read_text("ascii")


def test_keys_are_hashed(path: Path) -> None:
    with serving("--in-memory", "--audit-log", str(path), "--audit-keys", "hashed") as server:
        database = client(server)
        make_table(database)
        database.put_item(TableName="music", Item={"pk": {"S": SECRET}})
        database.get_item(TableName="music", Key={"pk": {"S": SECRET}})
        database.query(
            TableName="music",
            KeyConditionExpression="pk = :v",
            ExpressionAttributeValues={":v": {"S": SECRET}},
        )
        server.stop()
    put, get, query = events(path)[-3:]
    assert put["requestParameters"]["key"] == get["requestParameters"]["key"]
    (queried,) = query["requestParameters"]["partitionKeys"].values()
    assert queried == {"pk": [get["requestParameters"]["key"]["pk"]]}
    assert SECRET not in path.read_text("ascii")


def test_all_workers_write_and_a_killed_server_goes_on(path: Path, tmp_path: Path) -> None:
    flags = ("--data-dir", str(tmp_path / "data"), "--workers", "2", "--audit-log", str(path))
    with serving(*flags) as server:
        make_table(client(server))
        for number in range(12):
            client(server).put_item(TableName="music", Item={"pk": {"S": str(number)}})
        until(lambda: [event["eventName"] for event in events(path)].count("PutItem") == 12)
        server.stop(signal.SIGKILL)
    assert len(list(all_files(path))) == 2
    checked = verify(path)
    assert (checked.returncode, checked.stdout.count("chain ")) == (0, 2)


def test_a_removed_file_is_noticed_and_half_a_line_is_not_called_tampering(
    path: Path, tmp_path: Path
) -> None:
    flags = ("--data-dir", str(tmp_path / "data"), "--audit-log", str(path))
    with serving(*flags) as server:
        make_table(client(server))
        until(lambda: "CreateTable" in path.read_text())
        path.unlink()
        until(lambda: path.exists() and "AuditLogBegunAnew" in path.read_text())
        lost = events(path)[0]["additionalEventData"]["lost"]["hash"]
        client(server).put_item(TableName="music", Item={"pk": {"S": "a"}})
        until(lambda: "PutItem" in path.read_text())
        server.stop(signal.SIGKILL)
    with path.open("ab") as file:
        file.write(path.read_bytes()[:32])
    checked = verify(path)
    assert (checked.returncode, "the log begins anew here" in checked.stderr) == (1, True)
    checked = verify(path, "--from", lost)
    assert (checked.returncode, "the last line is incomplete" in checked.stderr) == (0, True)
    assert checked.stdout.endswith("all is well, but for an incomplete last line\n")
    with serving(*flags) as server:
        until(lambda: "AuditLogRepaired" in path.read_text())
        server.stop()
    checked = verify(path, "--from", lost)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_verify_finds_what_was_changed(path: Path) -> None:
    with serving("--in-memory", "--audit-log", str(path)) as server:
        make_table(client(server))
        server.stop()
    head = verify(path).stdout.split("last hash ")[1].split()[0]
    assert verify(path, "--head", head).returncode == 0
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    assert (verify(path).returncode, verify(path, "--head", head).returncode) == (0, 1)
    path.write_bytes(lines[0].replace(b"AKIDEXAMPLE", b"AKIDINNOCENT") + b"".join(lines[1:]))
    checked = verify(path)
    assert (checked.returncode, "audit.jsonl:1: it was changed" in checked.stderr) == (1, True)


def test_standard_output_has_the_log_and_nothing_else() -> None:
    command = [sys.executable, "-m", "hashrange", "serve", "--port", "0", "--in-memory", "--audit-log", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        endpoint = next(line.split()[1] for line in process.stderr if line.strip().startswith("endpoint"))
        client(Serving(process, endpoint, Path())).list_tables()
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
    assert [json.loads(line)["eventName"] for line in output.splitlines()] == ["ListTables"]


def test_a_log_that_cannot_be_written_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    run = warm.run("serve", "--port", "0", "--in-memory", "--audit-log", str(tmp_path / "file" / "x"))
    assert (run.returncode, "the audit log: " in run.stderr) == (1, True)
