"""Real servers that are told to stop, stopped, or out of descriptors: nothing hangs, nothing is lost."""

import contextlib
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from serving import Serving, serving
from wiring import AUTHORIZATION, Client, eventually, request

pytestmark = pytest.mark.slow

_PATIENCE_SECONDS = 60
_TABLE = {
    "TableName": "kept",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
HERE = b"Authorization: " + AUTHORIZATION.replace(b"eu-west-1", b"us-east-1")
MODES = [(), ("--workers", "2")]


def put(number: int) -> bytes:
    return request("PutItem", {"TableName": "kept", "Item": {"pk": {"S": str(number)}}}, HERE)


class Writer(threading.Thread):
    """Writes one item after the other on one connection, until that is closed; a new one only if it was told to."""

    def __init__(self, port: int, first: int) -> None:
        super().__init__()
        self.port = port
        self.first = first
        self.acknowledged: list[int] = []
        self.statuses: set[int] = set()
        self.told_to_close = False

    def run(self) -> None:
        with Client(self.port) as client, contextlib.suppress(ConnectionError):
            for number in range(self.first, self.first + 100_000):
                client.send(put(number))
                answer = client.read()
                self.statuses.add(answer.status)
                self.acknowledged.append(number)
                if answer.headers["connection"] == "close":
                    self.told_to_close = True
                    return


@pytest.mark.parametrize("flags", MODES, ids=["one process", "workers"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_under_load_loses_nothing_that_was_acknowledged(
    tmp_path: Path, flags: tuple[str, ...], number: signal.Signals
) -> None:
    with serving("--data-dir", str(tmp_path), "--transition-ms", "0", *flags) as server:
        assert server.post("CreateTable", _TABLE).status == 200
        writers = [Writer(server.port, index * 1_000_000) for index in range(4)]
        for writer in writers:
            writer.start()
        assert eventually(lambda: all(len(writer.acknowledged) > 20 for writer in writers), _PATIENCE_SECONDS)
        server.process.send_signal(number)
        assert server.process.wait(_PATIENCE_SECONDS) == 0
        for writer in writers:
            writer.join(_PATIENCE_SECONDS)
            assert not writer.is_alive()
            assert writer.statuses == {200}
        assert "Traceback" not in server.log_text()
    with serving("--data-dir", str(tmp_path)) as again:
        stored = {item["pk"]["S"] for item in scanned(again)}
    assert {str(number) for writer in writers for number in writer.acknowledged} <= stored


def scanned(server: Serving) -> Iterator[dict[str, dict[str, str]]]:
    start: dict[str, object] = {}
    while True:
        page = server.post("Scan", {"TableName": "kept", **start}).body
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


@pytest.mark.parametrize("flags", MODES, ids=["one process", "workers"])
def test_a_second_signal_waits_for_nobody(tmp_path: Path, flags: tuple[str, ...]) -> None:
    with serving("--data-dir", str(tmp_path), *flags) as server, Client(server.port) as client:
        # Half a request: the first signal would wait ten seconds for the other half.
        client.send(request("ListTables", {}, HERE, b"Expect: 100-continue")[:-1])
        assert client.read().status == 100
        server.process.send_signal(signal.SIGTERM)
        assert eventually(lambda: not accepts(server.port), _PATIENCE_SECONDS)
        assert server.process.poll() is None
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(_PATIENCE_SECONDS) == 0
        assert client.closed()
        assert "Traceback" not in server.log_text()


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_a_stop_of_the_whole_group_still_answers_what_is_under_way(tmp_path: Path) -> None:
    """Service managers send SIGTERM to every process, and the parent then tells its workers as well."""
    with serving("--data-dir", str(tmp_path), "--workers", "2") as server, Client(server.port) as client:
        whole = request("ListTables", {}, HERE, b"Expect: 100-continue")
        client.send(whole[:-1])
        assert client.read().status == 100
        for process in (*children(server.process.pid), server.process.pid):
            os.kill(process, signal.SIGTERM)
        assert eventually(lambda: server.log_text().count("server.stopping") == 2, _PATIENCE_SECONDS)
        client.send(whole[-1:])
        answer = client.read()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert server.process.wait(_PATIENCE_SECONDS) == 0


def test_a_stopped_worker_gets_no_more_connections(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), "--workers", "2") as server:
        worker = children(server.process.pid)[1]
        os.kill(worker, signal.SIGSTOP)
        try:
            assert eventually(lambda: "worker.stalled" in server.log_text(), _PATIENCE_SECONDS)
            assert {server.post("ListTables", {}).status for _ in range(20)} == {200}
        finally:
            os.kill(worker, signal.SIGCONT)
        assert eventually(lambda: "worker.resumed" in server.log_text(), _PATIENCE_SECONDS)
        os.kill(worker, signal.SIGSTOP)
        # It is woken to be told.
        assert server.stop() == 0
        assert "Traceback" not in server.log_text()


_DEAF_WORKER = """
import os, select, signal, sys
from hashrange import logs, workers
from hashrange.config import Settings
from hashrange.sockets import listen

def main(settings, worker):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("worker", flush=True)
    worker.report_ready()
    deaf = False
    while os.getppid() == parent_id:
        if not deaf:
            worker.beat()
        ready, _, _ = select.select([worker.control], [], [], 0.05)
        if ready and not deaf:
            workers.receive_connection(worker.control)
            deaf = True

logs.configure(level="info", form="text")
parent_id = os.getpid()
workers._TICK_SECONDS, workers._STALLED_TICKS, workers._LOST_TICKS = 0.1, 2, 4
workers._STOP_SECONDS = 0.5
sockets = listen("127.0.0.1", 0)
parent = workers.Parent(Settings(workers=1), sockets, main)
print(sockets[0].getsockname()[1], flush=True)
sys.exit(parent.run(lambda: print("ready", flush=True)))
"""


@pytest.fixture
def deaf() -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A parent of a worker that stops turning when it has got a connection, and never ends by itself."""
    command = [sys.executable, "-c", _DEAF_WORKER]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = int(process.stdout.readline())
    assert [process.stdout.readline() for _ in range(2)] == ["worker\n", "ready\n"]
    yield process, port
    process.kill()
    process.communicate(timeout=60)


def test_a_worker_that_stays_stuck_is_replaced_and_its_connections_end(
    deaf: tuple["subprocess.Popen[str]", int],
) -> None:
    process, port = deaf
    (before,) = children(process.pid)
    with Client(port) as client:
        client.socket.settimeout(_PATIENCE_SECONDS)
        assert client.closed(_PATIENCE_SECONDS)
    assert process.stdout is not None
    assert process.stdout.readline() == "worker\n"
    assert children(process.pid) != [before]
    # The new one does not end when it is told to, and is not waited for.
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=_PATIENCE_SECONDS)
    assert process.returncode == signal.SIGKILL
    assert "worker.stalled" in log
    assert log.count("worker.lost") == 2
    assert "Traceback" not in log


@pytest.fixture
def scarce(tmp_path: Path) -> Iterator[Callable[..., contextlib.AbstractContextManager[Serving]]]:
    """Start servers that may have 64 descriptors per process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    @contextlib.contextmanager
    def start(*flags: str) -> Iterator[Serving]:
        prefix = "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64));"
        code = prefix + "sys.argv[0] = 'hashrange'; runpy.run_module('hashrange', run_name='__main__')"
        with serving("--data-dir", str(tmp_path), *flags, interpreter=(sys.executable, "-c", code)) as server:
            yield server

    yield start
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)


@pytest.mark.parametrize("flags", MODES, ids=["one process", "workers"])
def test_without_free_descriptors_it_goes_on_and_says_so_once(
    scarce: Callable[..., contextlib.AbstractContextManager[Serving]], flags: tuple[str, ...]
) -> None:
    with scarce(*flags) as server:
        assert server.post("CreateTable", _TABLE).status == 200
        with contextlib.ExitStack() as stack:
            held = [stack.enter_context(contextlib.closing(connected(server.port))) for _ in range(300)]
            # Whoever got in is served meanwhile.
            served = first_answer(held)
            assert served.startswith(b"HTTP/1.1 200 OK")
            assert eventually(lambda: "connections.full" in server.log_text(), _PATIENCE_SECONDS)
        assert eventually(lambda: answers(server), _PATIENCE_SECONDS)
        log = server.log_text()
        assert "Traceback" not in log, log
        assert log.count("connections.full") <= 2, log  # one for each worker
        assert server.stop() == 0


def connected(port: int) -> socket.socket:
    connection = socket.socket()
    connection.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        connection.connect(("127.0.0.1", port))
    return connection


def first_answer(connections: list[socket.socket]) -> bytes:
    """Ask on all connections; give the first bytes that come on any of them."""
    received: list[bytes] = []

    def ask() -> bool:
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        ready, _, _ = select.select(connections, [], [], 1)
        for connection in ready:
            with contextlib.suppress(OSError):
                received.append(connection.recv(100))
        return any(received)

    assert eventually(ask, _PATIENCE_SECONDS)
    return next(filter(None, received))


def answers(server: Serving) -> bool:
    try:
        return server.post("ListTables", {}).status == 200
    except OSError:
        return False
