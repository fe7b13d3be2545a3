"""Several workers on one port and one data file behave as one server."""

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from hashrange.config import SettingInvalid, load
from hashrange.restarts import FAILURES_MAX, LONGEST_SECONDS, Restarts
from serving import Serving, serving

_TABLE = {
    "TableName": "shared",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Serving]:
    """A server of its own, for tests that do something to it."""
    with serving("--workers", "2", "--data-dir", str(tmp_path), "--transition-ms", "0") as running:
        yield running


@pytest.fixture(scope="module")
def shared_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    directory = str(tmp_path_factory.mktemp("shared"))
    with serving("--workers", "2", "--data-dir", directory, "--transition-ms", "0") as running:
        yield running


@pytest.fixture
def name() -> str:
    """The name of a table that no other test uses."""
    return f"shared-{uuid.uuid4().hex}"


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def alive(process: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


def wait_for(what: object, *, seconds: float = 60) -> None:
    assert callable(what)
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_table_is_there_for_every_worker_once_it_is_created(shared_pair: Serving, name: str) -> None:
    for round_number in range(10):
        table = f"{name}-{round_number}"
        assert shared_pair.post("CreateTable", _TABLE | {"TableName": table}).status == 200
        # Each request is a connection of its own, sent to the workers round robin.
        answers = [shared_pair.post("Scan", {"TableName": table}) for _ in range(4)]
        assert [answer.status for answer in answers] == [200] * 4
    lists = [shared_pair.post("ListTables", {}).body["TableNames"] for _ in range(4)]
    expected = sorted(f"{name}-{number}" for number in range(10))
    assert [[listed for listed in names if listed.startswith(name)] for names in lists] == [expected] * 4


@pytest.mark.slow
def test_what_one_worker_wrote_the_other_reads_at_once(shared_pair: Serving, name: str) -> None:
    shared_pair.post("CreateTable", _TABLE | {"TableName": name})
    for number in range(50):
        item = {"pk": {"S": "one"}, "n": {"N": str(number)}}
        assert shared_pair.post("PutItem", {"TableName": name, "Item": item}).status == 200
        assert (
            shared_pair.post("GetItem", {"TableName": name, "Key": {"pk": {"S": "one"}}}).body["Item"] == item
        )


@pytest.mark.slow
def test_a_counter_loses_nothing_between_workers(shared_pair: Serving, name: str) -> None:
    shared_pair.post("CreateTable", _TABLE | {"TableName": name})
    update = {
        "TableName": name,
        "Key": {"pk": {"S": "counter"}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda _: shared_pair.post("UpdateItem", update), range(200))
        assert {answer.status for answer in answers} == {200}
    stored = shared_pair.post(
        "GetItem", {"TableName": name, "Key": {"pk": {"S": "counter"}}, "ConsistentRead": True}
    )
    assert stored.body["Item"]["n"] == {"N": "200"}
    assert shared_pair.post("DescribeTable", {"TableName": name}).body["Table"]["ItemCount"] == 1


@pytest.mark.slow
def test_a_token_is_known_to_every_worker(shared_pair: Serving, name: str) -> None:
    shared_pair.post("CreateTable", _TABLE | {"TableName": name})
    update = {
        "TableName": name,
        "Key": {"pk": {"S": "t"}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    request = {"ClientRequestToken": name[:36], "TransactItems": [{"Update": update}]}
    assert {shared_pair.post("TransactWriteItems", request).status for _ in range(4)} == {200}
    stored = shared_pair.post("GetItem", {"TableName": name, "Key": {"pk": {"S": "t"}}})
    assert stored.body["Item"]["n"] == {"N": "1"}


@pytest.mark.slow
def test_an_index_is_built_whichever_worker_was_asked(shared_pair: Serving, name: str) -> None:
    shared_pair.post("CreateTable", _TABLE | {"TableName": name})
    for number in range(20):
        item = {"pk": {"S": str(number)}, "g": {"S": "same"}}
        shared_pair.post("PutItem", {"TableName": name, "Item": item})
    for number in range(2):
        index_name = f"index-{number}"
        created = shared_pair.post(
            "UpdateTable",
            {
                "TableName": name,
                "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
                "GlobalSecondaryIndexUpdates": [
                    {
                        "Create": {
                            "IndexName": index_name,
                            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                            "Projection": {"ProjectionType": "ALL"},
                        }
                    }
                ],
            },
        )
        assert created.status == 200, created.body

        def ready(index: str = index_name) -> bool:
            table = shared_pair.post("DescribeTable", {"TableName": name}).body["Table"]
            states = {entry["IndexName"]: entry["IndexStatus"] for entry in table["GlobalSecondaryIndexes"]}
            return states[index] == "ACTIVE" and table["TableStatus"] == "ACTIVE"

        wait_for(ready)
        counts = {
            shared_pair.post("Scan", {"TableName": name, "IndexName": index_name}).body["Count"]
            for _ in range(4)
        }
        assert counts == {20}


# Worker 0 exits with its first connection. Worker 1 answers every connection with its number.
_MORTAL_WORKER = """
import os, select, sys
from hashrange import restarts, workers
from hashrange.config import Settings
from hashrange.sockets import listen

def main(settings, worker):
    worker.report_ready()
    while select.select([worker.control], [], []) and (connection := workers.receive_connection(worker.control)):
        if worker.number == 0:
            os._exit(1)
        with connection:
            connection.sendall(b"1")
    return 0

restarts.FIRST_SECONDS = float(sys.argv[1])
sockets = listen("127.0.0.1", 0)
parent = workers.Parent(Settings(workers=2), sockets, main)
print(sockets[0].getsockname()[1], flush=True)
sys.exit(parent.run(lambda: print("ready", flush=True)))
"""


@pytest.fixture
def mortal() -> Iterator[Callable[[float], int]]:
    """Start a parent of such workers with a pause before restarts; give its port."""
    processes: list[subprocess.Popen[str]] = []

    def start(restart_seconds: float) -> int:
        command = [sys.executable, "-c", _MORTAL_WORKER, str(restart_seconds)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        processes.append(process)
        assert process.stdout is not None
        port = int(process.stdout.readline())
        assert process.stdout.readline() == "ready\n"
        return port

    yield start
    for process in processes:
        process.kill()
        process.communicate(timeout=60)


def answer(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        return client.recv(1)


def test_the_parent_accepts_while_a_dead_worker_waits_for_its_restart(
    mortal: Callable[[float], int],
) -> None:
    port = mortal(3600)
    assert answer(port) == b""  # worker 0 took this one and died
    assert [answer(port) for _ in range(4)] == [b"1"] * 4


def test_a_worker_is_restarted_however_often_it_dies(mortal: Callable[[float], int]) -> None:
    port = mortal(0)
    seen: list[bytes] = []

    def died_three_times() -> bool:
        seen.append(answer(port))
        return seen.count(b"") == 3

    wait_for(died_three_times)
    assert b"1" in seen


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced(pair: Serving) -> None:
    pair.post("CreateTable", _TABLE)
    before = children(pair.process.pid)
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)
    wait_for(lambda: len(children(pair.process.pid)) == 2 and children(pair.process.pid) != before)
    assert [pair.post("Scan", {"TableName": "shared"}).status for _ in range(4)] == [200] * 4


# Workers start once. After that worker 0 cannot start, and with "all" as the second argument no worker can.
_FAILING_WORKER = """
import os, select, sys
from pathlib import Path
from hashrange import restarts, workers
from hashrange.config import Settings
from hashrange.sockets import listen

def main(settings, worker):
    mark = Path(sys.argv[1], str(worker.number))
    starts = len(mark.read_text()) if mark.exists() else 0
    with mark.open("a") as marks:  # not written anew: the parent may end this process at any moment
        marks.write("x")
    if starts and (worker.number == 0 or sys.argv[2] == "all"):
        return 1
    worker.report_ready()
    while select.select([worker.control], [], []) and (connection := workers.receive_connection(worker.control)):
        with connection:
            if connection.recv(1) == b"d":
                os._exit(1)
            connection.sendall(b"1")
    return 0

restarts.FIRST_SECONDS = 0.001
sockets = listen("127.0.0.1", 0)
parent = workers.Parent(Settings(workers=2), sockets, main)
print(sockets[0].getsockname()[1], flush=True)
sys.exit(parent.run(lambda: print("ready", flush=True)))
"""


@contextmanager
def failing(directory: Path, which: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-c", _FAILING_WORKER, str(directory), which]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            assert process.stdout.readline() == "ready\n"
            yield process, port
        finally:
            process.kill()


def exchange(port: int, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(sent)
        return client.recv(1)


def test_the_parent_gives_up_when_no_worker_can_start_any_more(tmp_path: Path) -> None:
    with failing(tmp_path, "all") as (process, port):
        assert [exchange(port, b"d") for _ in range(2)] == [b"", b""]
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.rstrip().splitlines()[-1].endswith("workers.failed")
    assert min(len((tmp_path / name).read_text()) for name in ("0", "1")) == 1 + FAILURES_MAX


@pytest.mark.slow
def test_a_worker_that_cannot_start_takes_no_connections_from_the_others(tmp_path: Path) -> None:
    with failing(tmp_path, "one") as (process, port):
        assert exchange(port, b"d") == b""  # worker 0
        wait_for(lambda: len((tmp_path / "0").read_text()) > FAILURES_MAX)
        assert [exchange(port, b"?") for _ in range(10)] == [b"1"] * 10
        assert process.poll() is None


def test_the_pause_before_a_restart_doubles_until_the_worker_starts() -> None:
    restarts = Restarts(2)
    pauses = [restarts.died(0, 0.0, was_ready=number == 0) for number in range(11)]
    assert pauses[:5] == [0.2, 0.2, 0.4, 0.8, 1.6]
    assert pauses[-1] == LONGEST_SECONDS
    assert not restarts.are_pointless  # worker 1 is well
    assert restarts.next_time() == LONGEST_SECONDS
    assert restarts.pop_due(LONGEST_SECONDS - 1) == []
    assert restarts.pop_due(LONGEST_SECONDS) == [0]
    restarts.succeeded(0)
    assert restarts.died(0, 0.0, was_ready=True) == 0.2


@pytest.mark.slow
@pytest.mark.parametrize("replaced", [False, True])
def test_workers_end_with_their_parent_and_leave_the_data_free(tmp_path: Path, replaced: bool) -> None:
    with serving("--workers", "2", "--data-dir", str(tmp_path), "--transition-ms", "0") as first:
        first.post("CreateTable", _TABLE)
        first.post("PutItem", {"TableName": "shared", "Item": {"pk": {"S": "kept"}}})
        workers = children(first.process.pid)
        if replaced:
            os.kill(workers[1], signal.SIGKILL)
            wait_for(lambda: len(children(first.process.pid)) == 2 and children(first.process.pid) != workers)
            # Every second connection is the new worker's; once it answers it has told the parent that it is ready.
            assert [first.post("Scan", {"TableName": "shared"}).status for _ in range(4)] == [200] * 4
            workers = children(first.process.pid)
        first.process.kill()
        first.process.wait()
        wait_for(lambda: not any(map(alive, workers)))
    with serving("--data-dir", str(tmp_path)) as second:
        assert second.post("Scan", {"TableName": "shared"}).body["Items"] == [{"pk": {"S": "kept"}}]


@pytest.mark.slow
def test_sigterm_drains_every_worker(pair: Serving) -> None:
    workers = children(pair.process.pid)
    assert pair.stop() == 0
    assert not any(map(alive, workers))


@pytest.mark.slow
def test_a_second_server_finds_the_data_locked(pair: Serving, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hashrange", "serve", "--port", "0", "--data-dir", str(tmp_path)]
    second = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert second.returncode == 1
    assert "in use by another server" in second.stderr


def test_memory_cannot_be_shared() -> None:
    with pytest.raises(SettingInvalid, match="--in-memory"):
        load({"workers": "2", "in_memory": "true"}, {})
