"""dynamodb-admin, the web page that most people look at local tables with: its forms, sent as its pages send them."""

import contextlib
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from clients import toolchains
from item_tables import unique
from serving import Serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]  # the first run fetches the packages

_START_SECONDS = 60


@pytest.fixture(scope="module")
def page(server: Serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where dynamodb-admin listens, on a server of ours."""
    folder = toolchains.ready(toolchains.NODE)
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("admin") / "log"
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "DYNAMO_ENDPOINT": server.endpoint,
        "HOST": "127.0.0.1",
        "PORT": str(port),
    }
    script = folder / "node_modules" / "dynamodb-admin" / "dist" / "dynamodb-admin.js"
    with log.open("w") as output:
        process = subprocess.Popen(["node", str(script)], env=environment, stdout=output, stderr=output)
    try:
        wait_until_it_listens(process, port, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return


def send(url: str, method: str = "GET", content: Any = None) -> tuple[int, str]:
    body = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def form(name: str, **index: Any) -> dict[str, Any]:
    """What the page "create table" sends: its capacity units are text."""
    return {
        "TableDefinition": {
            "TableName": name,
            "HashAttributeName": "pk",
            "HashAttributeType": "S",
            "RangeAttributeName": "sk",
            "RangeAttributeType": "N",
            "ReadCapacityUnits": "5",
            "WriteCapacityUnits": "3",
        },
        "SecondaryIndexes": [index] if index else [],
    }


def test_a_table_made_by_the_form(page: str, client: Any) -> None:
    name = unique("admin")
    index = {
        "IndexName": "by-g",
        "IndexType": "global",
        "HashAttributeName": "g",
        "HashAttributeType": "S",
        "ReadCapacityUnits": "2",
        "WriteCapacityUnits": "1",
    }
    status, body = send(f"{page}/create-table", "POST", form(name, **index))
    assert status < 400, body
    table = client.describe_table(TableName=name)["Table"]
    assert [key["AttributeName"] for key in table["KeySchema"]] == ["pk", "sk"]
    units = table["ProvisionedThroughput"]
    assert (units["ReadCapacityUnits"], units["WriteCapacityUnits"]) == (5, 3)
    units = table["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]
    assert (units["ReadCapacityUnits"], units["WriteCapacityUnits"]) == (2, 1)


def test_the_other_pages(page: str, client: Any) -> None:
    name = unique("admin")
    status, body = send(f"{page}/create-table", "POST", form(name))
    assert status < 400, body
    assert name in send(f"{page}/")[1]
    item = {"pk": "a", "sk": 1, "note": "written by a form"}
    status, body = send(f"{page}/tables/{name}/add-item", "PUT", item)
    assert (status, json.loads(body)) == (200, {"pk": "a", "sk": 1})
    stored = {"pk": {"S": "a"}, "sk": {"N": "1"}, "note": {"S": "written by a form"}}
    assert client.get_item(TableName=name, Key={"pk": {"S": "a"}, "sk": {"N": "1"}})["Item"] == stored
    status, body = send(f"{page}/tables/{name}/items?operationType=scan")
    assert (status, "written by a form" in body) == (200, True)
    assert send(f"{page}/tables/{name}/meta")[0] == 200
    status, body = send(f"{page}/tables/{name}/items/{quote('a,1')}")
    assert (status, "written by a form" in body) == (200, True)
    assert send(f"{page}/tables/{name}/items/{quote('a,1')}", "DELETE")[0] < 400
    assert client.scan(TableName=name)["Count"] == 0
    assert send(f"{page}/tables/{name}", "DELETE")[0] < 400
    assert name not in client.list_tables()["TableNames"]
