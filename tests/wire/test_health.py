"""What orchestrators are told: live as long as the process answers, ready as long as its data does."""

import asyncio
import http.client
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hashrange.wire import health
from hashrange.wire.health import HealthEndpoint
from postgres_server import PostgresServer
from serving import Serving, serving
from wiring import Response, Wire, eventually, request

Done = Callable[[BaseException | None], None]
_PATIENCE_SECONDS = 60


class Storage:
    """Answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[Done] = []
        self.error: BaseException | None = None
        self.hangs = False

    def probe(self, done: Done) -> None:
        if self.hangs:
            self.asked.append(done)
        else:
            asyncio.get_running_loop().call_soon(done, self.error)


@pytest.fixture
def storage() -> Storage:
    return Storage()


@pytest.fixture
def endpoint(storage: Storage) -> HealthEndpoint:
    return HealthEndpoint(storage.probe, wait_seconds=_PATIENCE_SECONDS)


@pytest.fixture
def healthy(endpoint: HealthEndpoint) -> Iterator[Wire]:
    running = Wire(paths={health.PATH: endpoint}).start()
    yield running
    running.stop()


def get(wire: Wire, path: bytes, method: bytes = b"GET", *lines: bytes) -> Response:
    with wire.connect() as client:
        client.send(b"\r\n".join((method + b" " + path + b" HTTP/1.1", b"Host: x", *lines, b"", b"")))
        return client.read(to_head=method == b"HEAD")


def test_live_and_ready(healthy: Wire) -> None:
    for path, body in ((b"/_hashrange/health", b"live\n"), (b"/_hashrange/ready", b"ready\n")):
        answer = get(healthy, path)
        assert (answer.status, answer.body) == (200, body)
        assert answer.crc_matches()
        assert get(healthy, path, b"HEAD").headers["content-length"] == str(len(body))
        assert get(healthy, path + b"?x").status == 200
        local = get(healthy, path, b"GET", b"Origin: http://localhost:1")
        assert local.headers["access-control-allow-origin"] == "*"
        assert get(healthy, path, b"GET", b"Origin: http://evil.example").status == 403


def test_there_is_nothing_else_there(healthy: Wire) -> None:
    for path in (b"/_hashrange/", b"/_hashrange/healthy", b"/_hashrange/ready/x"):
        assert get(healthy, path).status == 404
    assert get(healthy, b"/_hashrange/ready", b"DELETE").status == 404
    with healthy.connect() as client:
        client.send(request("Echo", {}).replace(b"POST /", b"POST /_hashrange/ready", 1))
        assert client.read().status == 404


def test_a_storage_that_fails_is_not_ready_but_the_process_lives(healthy: Wire, storage: Storage) -> None:
    storage.error = OSError("gone")
    answer = get(healthy, b"/_hashrange/ready")
    assert (answer.status, answer.body) == (503, b"not ready\n")
    assert get(healthy, b"/_hashrange/health").status == 200
    storage.error = None
    assert get(healthy, b"/_hashrange/ready").status == 200


def test_a_storage_that_hangs_is_asked_once_and_not_waited_for(
    healthy: Wire, endpoint: HealthEndpoint, storage: Storage
) -> None:
    endpoint._wait_seconds = 0.05
    storage.hangs = True
    for _ in range(3):
        assert get(healthy, b"/_hashrange/ready").status == 503
    assert len(storage.asked) == 1
    storage.hangs = False
    healthy.call(storage.asked[0], None)
    assert eventually(lambda: get(healthy, b"/_hashrange/ready").status == 200, _PATIENCE_SECONDS)


def test_a_server_that_stops_is_not_ready(healthy: Wire, endpoint: HealthEndpoint) -> None:
    endpoint.stopping = True
    assert get(healthy, b"/_hashrange/ready").status == 503
    assert get(healthy, b"/_hashrange/health").status == 200


def status(server: Serving, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_PATIENCE_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--workers", "2")])
def test_on_a_data_file(tmp_path: Path, flags: tuple[str, ...]) -> None:
    with serving("--data-dir", str(tmp_path), *flags) as server:
        assert {status(server, "/_hashrange/ready") for _ in range(4)} == {200}
        assert {status(server, "/_hashrange/health") for _ in range(4)} == {200}


def stopped(postgres: PostgresServer, number: int) -> None:
    """Send a signal to every process of the database."""
    assert postgres.process is not None
    parent = postgres.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    for process in (parent, *map(int, children)):
        with suppress(ProcessLookupError):  # that of an earlier connection may be gone by now
            os.kill(process, number)


@pytest.mark.slow
def test_on_a_database_that_hangs_and_comes_back(postgres: PostgresServer) -> None:
    with serving("--engine", postgres.url()) as server:
        assert status(server, "/_hashrange/ready") == 200
        stopped(postgres, signal.SIGSTOP)
        try:
            assert status(server, "/_hashrange/ready") == 503
            assert status(server, "/_hashrange/health") == 200
        finally:
            stopped(postgres, signal.SIGCONT)
        assert eventually(lambda: status(server, "/_hashrange/ready") == 200, _PATIENCE_SECONDS)
