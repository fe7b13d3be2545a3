"""The load balancer's settings in `deploy/`, before two real servers."""

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from house import ROOT
from serving import Serving, serving

SETTINGS = ROOT / "deploy" / "haproxy.cfg"
pytestmark = pytest.mark.skipif(shutil.which("haproxy") is None, reason="needs haproxy")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def balancer(folder: Path, *ports: int) -> Iterator[Serving]:
    """HAProxy with the settings as they are, but for the addresses and how often it asks."""
    text, port = SETTINGS.read_text(), free_port()
    changes = {"bind :8000": f"bind 127.0.0.1:{port}", "inter 3s": "inter 100ms"}
    changes |= {f"hashrange{number}:8000": f"127.0.0.1:{server}" for number, server in enumerate(ports, 1)}
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "haproxy.cfg").write_text(text)
    with (folder / "haproxy.log").open("w") as log:
        process = subprocess.Popen(
            ["haproxy", "-db", "-f", folder / "haproxy.cfg"], stdout=log, stderr=log, text=True
        )
    try:
        serving = Serving(process, f"http://127.0.0.1:{port}", folder / "haproxy.log")
        wait_for(lambda: is_listening(port))
        yield serving
    finally:
        process.kill()
        process.wait()


def is_listening(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_the_settings_are_valid_where_the_servers_have_no_name_yet() -> None:
    checked = subprocess.run(
        ["haproxy", "-c", "-f", SETTINGS], capture_output=True, text=True, check=False, timeout=60
    )
    assert checked.returncode == 0, checked.stderr
    warnings = [line for line in checked.stderr.splitlines() if "WARNING" in line]
    assert all("could not resolve address 'hashrange" in line for line in warnings)


def test_requests_go_to_the_server_that_is_there(database: str, tmp_path: Path) -> None:
    table = {
        "TableName": "balanced",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    flags = ("--engine", database, "--transition-ms", "0")

    def put(number: int) -> int:
        item = {"pk": {"S": str(number)}, "text": {"S": "x" * 10_000}}
        return front.post("PutItem", {"TableName": "balanced", "Item": item}).status

    with (
        serving(*flags) as first,
        serving(*flags) as second,
        balancer(tmp_path, first.port, second.port) as front,
    ):
        wait_for(lambda: front.request("GET", "/_hashrange/ready").status == 200)
        assert front.post("CreateTable", table).status == 200
        assert {put(number) for number in range(20)} == {200}
        first.process.send_signal(signal.SIGTERM)
        # One that stops answers what it has; one that was killed refuses connections, and the other one is asked.
        assert {put(number) for number in range(20, 60)} == {200}
        first.process.wait(30)
        assert {put(number) for number in range(60, 80)} == {200}
        assert front.post("Scan", {"TableName": "balanced", "Select": "COUNT"}).body["Count"] == 80
        second.process.kill()
        wait_for(lambda: front.post("ListTables", {}).status == 503)
