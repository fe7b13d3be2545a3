"""A server for a test suite: it starts, keeps namespaces apart, and ends with whoever has started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hashrange.testing import Namespace, Server, TestingFailed
from testing.conftest import ORDERS

_PATIENCE_SECONDS = 60


def test_namespaces_do_not_see_each_other(dynamodb_server: Server, client: Any) -> None:
    other = dynamodb_server.namespace()
    assert client.list_tables()["TableNames"] == ["orders"]
    assert other.client().list_tables()["TableNames"] == []
    assert "orders" not in dynamodb_server.client().list_tables()["TableNames"]
    other.create_tables(ORDERS)
    client.put_item(TableName="orders", Item={"id": {"S": "1"}})
    assert other.client().scan(TableName="orders")["Count"] == 0


def test_a_table_belongs_to_the_account_of_its_namespace(namespace: Namespace, client: Any) -> None:
    arn = client.describe_table(TableName="orders")["Table"]["TableArn"]
    assert arn == f"arn:aws:dynamodb:us-east-1:{namespace.account_id}:table/orders"


def test_a_key_that_is_no_number_is_of_the_servers_own_account(dynamodb_server: Server) -> None:
    with dynamodb_server.own as own:
        own.create_tables({**ORDERS, "TableName": "shared"})
        for key in ("test", "1000000000011", "12345678901x"):
            caller = Namespace(own._control, own.endpoint_url, key, own.region)
            assert caller.call("ListTables", {}) == {"TableNames": ["shared"]}


def test_clearing_a_namespace_leaves_nothing(dynamodb_server: Server) -> None:
    namespace, other = dynamodb_server.namespace(), dynamodb_server.namespace()
    protected = {**ORDERS, "TableName": "protected", "DeletionProtectionEnabled": True}
    namespace.create_tables(ORDERS, protected)
    other.create_tables(ORDERS)
    namespace.clear()
    assert namespace.client().list_tables()["TableNames"] == []
    assert other.client().list_tables()["TableNames"] == ["orders"]
    namespace.create_tables(ORDERS)  # the name is free again
    assert namespace.client().scan(TableName="orders")["Count"] == 0
    namespace.clear()
    other.clear()


def test_streams_are_found_with_the_same_key(dynamodb_namespace: Namespace) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    dynamodb_namespace.create_tables({**ORDERS, "StreamSpecification": stream})
    found = dynamodb_namespace.client("dynamodbstreams").list_streams()["Streams"]
    assert [stream["TableName"] for stream in found] == ["orders"]


def test_an_operation_that_fails_says_why(dynamodb_namespace: Namespace) -> None:
    with pytest.raises(TestingFailed, match="ResourceNotFoundException"):
        dynamodb_namespace.call("DescribeTable", {"TableName": "missing"})


@pytest.mark.slow
def test_a_server_with_flags_runs_until_the_end_of_its_block() -> None:
    with Server("--capacity", "off", region="eu-west-1") as server:
        assert server.own.region == "eu-west-1"
        assert server.client().list_tables()["TableNames"] == []
        assert server.start() is server
        assert server.log_text() == ""
        pid = server.pid
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(TestingFailed, match="not running"):
        _ = server.endpoint_url
    server.stop()


@pytest.mark.slow
def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(TestingFailed, match=r"--test-kit needs --in-memory"):
        Server("--host", "0.0.0.0", "--auth", "off").start()


@pytest.mark.slow
def test_a_server_ends_with_a_suite_that_was_killed() -> None:
    program = (
        "import time; from hashrange.testing import Server; "
        "print(Server().start().pid, flush=True); time.sleep(1000)"
    )
    suite = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert suite.stdout is not None
    with suite.stdout:
        pid = int(suite.stdout.readline())
    os.kill(pid, 0)
    suite.send_signal(signal.SIGKILL)
    suite.wait(_PATIENCE_SECONDS)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while _runs(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Whether there is such a process; one whose new parent has not asked for its end yet does not run."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
