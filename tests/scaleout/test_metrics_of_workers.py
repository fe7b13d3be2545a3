"""Metrics of several processes: nothing is counted twice or forgotten, whichever of them answers or dies."""

import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hashrange.storage.metric_rows import read_series
from hashrange.storage.sqlite import SqliteEngine
from item_tables import make_table
from service_clients import REGION, client_of
from serving import Serving, serving

_PATIENCE_SECONDS = 60
WRITES = 120


def put(server: Serving, table: str, count: int) -> None:
    """Write over many connections, so that every worker has some."""
    clients = [client_of(server) for _ in range(6)]
    for number in range(count):
        clients[number % len(clients)].put_item(TableName=table, Item={"p": {"S": f"{number}"}})


def consumed(folder: Path, table: str) -> float:
    engine = SqliteEngine.open(folder)
    try:
        now, dimensions = time.time(), {"TableName": table}
        points = engine.read(
            lambda reader: read_series(
                reader,
                "000000000000",
                REGION,
                "ConsumedWriteCapacityUnits",
                dimensions,
                now - 3600,
                now + 60,
                60,
            )
        )
    finally:
        engine.close()
    return sum(point.sum for point in points)


def on_page(server: Serving, table: str) -> float:
    page = server.request("GET", "/metrics").body.decode()
    beginning = "hashrange_table_consumed_capacity_units_total{"
    lines = [line for line in page.splitlines() if line.startswith(beginning) and f'"{table}"' in line]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def wait_for(truth: Any) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not truth():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.slow
def test_the_writes_of_all_workers_are_added_up(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), "--workers", "2") as server:
        table = make_table(client_of(server), "p")
        put(server, table, WRITES)
        wait_for(lambda: all(on_page(server, table) == WRITES for _ in range(6)))
        put(server, table, WRITES)
        assert server.stop() == 0
    assert consumed(tmp_path, table) == 2 * WRITES


@pytest.mark.slow
def test_a_server_that_is_killed_loses_only_the_last_seconds(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path)) as server:
        table = make_table(client_of(server), "p")
        put(server, table, WRITES)
        wait_for(lambda: on_page(server, table) == WRITES)
        server.stop(signal.SIGKILL)
    with serving("--data-dir", str(tmp_path)) as server:
        assert on_page(server, table) == WRITES
        put(server, table, WRITES)
        wait_for(lambda: on_page(server, table) == 2 * WRITES)


def test_an_idle_table_has_samples_of_zero(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path)) as server:
        table = make_table(client_of(server), "p")
        assert server.stop() == 0
    engine = SqliteEngine.open(tmp_path)
    try:
        now, dimensions = time.time(), {"TableName": table}
        for kind in ("Read", "Write"):
            step = partial(
                read_series,
                account_id="000000000000",
                region=REGION,
                metric=f"Consumed{kind}CapacityUnits",
                dimensions=dimensions,
                start=now - 600,
                end=now + 600,
                period=60,
                now=now + 180,
            )
            points = engine.read(step)
            assert len(points) >= 3
            assert all((point.n, point.sum, point.max) == (1, 0.0, 0.0) for point in points)
            assert points[-1].time <= now + 180
    finally:
        engine.close()
