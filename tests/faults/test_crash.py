"""kill -9 under load, again and again: nothing acknowledged is lost, nothing is there by half."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from faults.line import Line
from faults.tables import FACTS, NOTES, check_table, create
from faults.writer import Writer, settle_after_crash
from serving import Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

ROUNDS = 22
WRITERS = 8
SEED = 20260814


@contextmanager
def under_load(port: int, writers: list[Writer]) -> Iterator[None]:
    """Have all writers write; on the way out they are told to stop, and what went wrong in one is raised."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(writers)) as pool:
        running = [pool.submit(writer.run, port, stop) for writer in writers]
        try:
            yield
        finally:
            stop.set()
        for each in running:
            each.result(timeout=30)


def test_everything_acknowledged_survives_being_killed_at_random_moments(tmp_path: Path) -> None:
    random = Random(SEED)
    writers = [Writer(f"w{number}", Random(f"{SEED}-{number}")) for number in range(WRITERS)]
    for round_number in range(ROUNDS):
        with serving("--data-dir", str(tmp_path), "--log-level", "warning") as server:
            with Line(server.port) as line:
                if round_number == 0:
                    create(line)
                _check(line, writers)
            with under_load(server.port, writers):
                time.sleep(random.uniform(0.05, 1.3))
                server.process.kill()
            assert "Traceback" not in server.log_text()
    assert sum(writer.version for writer in writers) > 1000 * ROUNDS / 10, "hardly any load"
    with serving("--data-dir", str(tmp_path)) as server, Line(server.port) as line:
        _check(line, writers)


def _check(line: Line, writers: list[Writer]) -> None:
    """Compare what is stored with what was promised; then send doubtful and old transactions once more."""
    doubtful = [
        (writer, writer.pending)
        for writer in writers
        if writer.pending is not None and writer.pending.operation == "TransactWriteItems"
    ]
    counts = [writer.transactions for writer, _ in doubtful]
    settle_after_crash(writers, _items(line))
    for (writer, flight), before in zip(doubtful, counts, strict=True):
        line.call(flight.operation, flight.request)
        if writer.transactions == before:
            writer.pending = flight
            writer.settle(carried_out=True)
    for writer in writers:
        for request in writer.tokens:
            line.call("TransactWriteItems", request)
    settle_after_crash(writers, _items(line))


def _items(line: Line) -> list[tuple[str, dict[str, object]]]:
    return [(table, item) for table in (FACTS, NOTES) for item in check_table(line, table)]


def test_a_server_told_to_stop_answers_what_is_under_way(tmp_path: Path) -> None:
    writers = [Writer(f"w{number}", Random(number)) for number in range(WRITERS)]
    for round_number in range(3):
        with serving("--data-dir", str(tmp_path), "--log-level", "warning") as server:
            with Line(server.port) as line:
                if round_number == 0:
                    create(line)
                settle_after_crash(writers, _items(line))
            with under_load(server.port, writers):
                time.sleep(0.4)
                assert _stopped(server) == 0
            assert "Traceback" not in server.log_text()


def _stopped(server: Serving) -> int:
    began = time.monotonic()
    status = server.stop()
    assert time.monotonic() - began < 5, "draining waited for nothing"
    return status


def test_killed_before_it_has_begun_it_starts_again(tmp_path: Path) -> None:
    for _ in range(3):
        with serving("--data-dir", str(tmp_path)) as server:
            server.process.kill()
    with serving("--data-dir", str(tmp_path)) as server, Line(server.port) as line:
        assert line.call("ListTables", {}) == {"TableNames": []}
