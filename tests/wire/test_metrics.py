"""What monitoring is told: the same by every worker, also after a restart."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hashrange.metrics import Metric, Sample, render
from hashrange.wire import metrics_endpoint
from hashrange.wire.metrics_endpoint import Collected, MetricsEndpoint
from item_tables import make_table
from service_clients import client_of
from serving import Serving, serving
from wiring import Response, Wire, eventually

_PATIENCE_SECONDS = 60
PAGE = b"# HELP a_total What it says.\n# TYPE a_total counter\na_total 3\n"


def test_the_text_form() -> None:
    samples = [Sample({"table": 'a"b\\c\nd', "region": "eu"}, 5), Sample({}, -1)]
    assert render(
        [Metric("one_seconds", "gauge", "Says.", samples), Metric("none", "gauge", "None.", [])]
    ) == (
        b"# HELP one_seconds Says.\n# TYPE one_seconds gauge\n"
        b'one_seconds{table="a\\"b\\\\c\\nd",region="eu"} 5\none_seconds -1\n'
        b"# HELP none None.\n# TYPE none gauge\n"
    )


class Storage:
    """Answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[Collected] = []
        self.error: BaseException | None = None
        self.hangs = False

    def collect(self, done: Collected) -> None:
        self.asked.append(done)
        if not self.hangs:
            collected = (
                None if self.error else [Metric("a_total", "counter", "What it says.", [Sample({}, 3)])]
            )
            asyncio.get_running_loop().call_soon(done, collected, self.error)


@pytest.fixture
def storage() -> Storage:
    return Storage()


@pytest.fixture
def endpoint(storage: Storage) -> MetricsEndpoint:
    return MetricsEndpoint(storage.collect, wait_seconds=_PATIENCE_SECONDS)


@pytest.fixture
def measured(endpoint: MetricsEndpoint) -> Iterator[Wire]:
    running = Wire(paths={metrics_endpoint.PATH: endpoint}).start()
    yield running
    running.stop()


def get(wire: Wire, path: bytes, method: bytes = b"GET", *lines: bytes) -> Response:
    with wire.connect() as client:
        client.send(b"\r\n".join((method + b" " + path + b" HTTP/1.1", b"Host: x", *lines, b"", b"")))
        return client.read(to_head=method == b"HEAD")


def test_the_page(measured: Wire) -> None:
    answer = get(measured, b"/metrics")
    assert (answer.status, answer.body) == (200, PAGE)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.crc_matches()
    assert get(measured, b"/metrics", b"HEAD").headers["content-length"] == str(len(PAGE))
    assert get(measured, b"/metrics?x=1").status == 200
    assert get(measured, b"/metrics", b"GET", b"Origin: http://evil.example").status == 403


def test_there_is_nothing_beside_it(measured: Wire, storage: Storage) -> None:
    assert get(measured, b"/metrics/x").status == 404
    assert get(measured, b"/metricsx").status == 404
    assert get(measured, b"/metrics", b"DELETE").status == 404
    assert storage.asked == []


def test_a_storage_that_fails(measured: Wire, storage: Storage) -> None:
    storage.error = OSError("gone")
    assert get(measured, b"/metrics").status == 503
    storage.error = None
    assert get(measured, b"/metrics").status == 200


def test_a_storage_that_hangs_is_asked_once_and_not_waited_for(
    measured: Wire, endpoint: MetricsEndpoint, storage: Storage
) -> None:
    endpoint._wait_seconds = 0.05
    storage.hangs = True
    for _ in range(3):
        assert get(measured, b"/metrics").status == 503
    assert len(storage.asked) == 1
    storage.hangs = False
    measured.call(storage.asked[0], None, None)
    assert eventually(lambda: get(measured, b"/metrics").status == 200, _PATIENCE_SECONDS)


def values(server: Serving) -> dict[str, str]:
    answer = server.request("GET", "/metrics")
    assert answer.status == 200
    lines = answer.body.decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def expire(client: Any, name: str) -> None:
    specification = {"Enabled": True, "AttributeName": "ttl"}
    client.update_time_to_live(TableName=name, TimeToLiveSpecification=specification)
    for number in range(3):
        client.put_item(TableName=name, Item={"p": {"S": str(number)}, "ttl": {"N": "1700000000"}})


def everywhere(server: Serving, truth: Callable[[dict[str, str]], bool]) -> bool:
    """Whether all of many answers are so, whichever worker gives them."""
    return eventually(lambda: all(truth(values(server)) for _ in range(6)), _PATIENCE_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ttl_is_counted_for_all_workers_and_after_a_restart(tmp_path: Path, workers: str) -> None:
    flags = ("--data-dir", str(tmp_path), "--workers", workers)
    with serving(*flags) as server:
        client = client_of(server)
        name = make_table(client, "p")
        assert "ttl" not in str(values(server))
        expire(client, name)
        labels = f'{{region="us-east-1",table="{name}"}}'
        deleted, lag = f"hashrange_ttl_deleted_items_total{labels}", f"hashrange_ttl_lag_seconds{labels}"
        assert everywhere(server, lambda seen: (seen[deleted], seen[lag]) == ("3", "0"))
    with serving(*flags, "--ttl-lag", "30d") as server:
        overdue = {"N": str(int(time.time()) - 100)}
        client_of(server).put_item(TableName=name, Item={"p": {"S": "x"}, "ttl": overdue})
        assert everywhere(server, lambda seen: seen[deleted] == "3" and int(seen[lag]) >= 100)
