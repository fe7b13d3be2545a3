"""kill -9 under load, again and again: nothing acknowledged is lost, nothing is there by half."""

import os
import signal
import time
from pathlib import Path
from random import Random

import pytest

from faults.line import Line
from faults.load import await_writes, under_load, writers
from faults.tables import create, everything
from faults.writer import Writer, settle_after_crash
from hashrange import cli
from hashrange.wire.limits import Limits
from serving import Serving, serving
from sizes import size

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

SEED = 20260814


@pytest.mark.parametrize(("workers", "rounds"), [(1, size(12, 22)), (2, size(4, 6))])
def test_everything_acknowledged_survives_being_killed_at_random_moments(
    tmp_path: Path, workers: int, rounds: int
) -> None:
    random = Random(SEED)
    working = writers(SEED)
    flags = ("--data-dir", str(tmp_path), "--log-level", "warning", "--workers", str(workers))
    for round_number in range(rounds):
        with serving(*flags) as server:
            with Line(server.port) as line:
                if round_number == 0:
                    create(line)
                _check(line, working)
            with under_load(server.port, working):
                await_writes(working, random.randrange(50, 500))
                server.process.kill()
            assert "Traceback" not in server.log_text()
    with serving(*flags) as server, Line(server.port) as line:
        _check(line, working)
        assert cli.main(["verify", str(tmp_path)]) == 0  # beside the server
    assert cli.main(["verify", str(tmp_path)]) == 0


def _check(line: Line, working: list[Writer]) -> None:
    """Compare what is stored with what was promised; then send doubtful and old transactions once more."""
    doubtful = [
        (writer, writer.pending)
        for writer in working
        if writer.pending is not None and writer.pending.operation == "TransactWriteItems"
    ]
    counts = [writer.transactions for writer, _ in doubtful]
    settle_after_crash(working, everything(line))
    for (writer, flight), before in zip(doubtful, counts, strict=True):
        line.call(flight.operation, flight.request)
        if writer.transactions == before:
            writer.pending = flight
            writer.settle(carried_out=True)
    for writer in working:
        for request in writer.tokens:
            line.call("TransactWriteItems", request)
    settle_after_crash(working, everything(line))


def test_a_worker_that_is_killed_takes_nothing_with_it(tmp_path: Path) -> None:
    random = Random(SEED)
    working = writers(SEED)
    with serving("--data-dir", str(tmp_path), "--log-level", "error", "--workers", "2") as server:
        with Line(server.port) as line:
            create(line)
        for _ in range(6):
            with under_load(server.port, working):
                await_writes(working, random.randrange(50, 300))
                os.kill(random.choice(_children(server)), signal.SIGKILL)
                time.sleep(0.3)  # for those of the other worker; those of this one are gone with it
            with Line(server.port) as line:
                _check(line, working)
            _await_children(server, 2)
        assert server.stop() == 0


def _children(server: Serving) -> list[int]:
    process = server.process.pid
    return [
        int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()
    ]


def _await_children(server: Serving, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(_children(server)) < count:
        assert time.monotonic() < deadline, "the dead worker was not replaced"
        time.sleep(0.05)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_told_to_stop_answers_what_is_under_way(tmp_path: Path, workers: int) -> None:
    working = writers(SEED)
    flags = ("--data-dir", str(tmp_path), "--log-level", "warning", "--workers", str(workers))
    seconds = []
    for round_number in range(3):
        with serving(*flags) as server:
            with Line(server.port) as line:
                if round_number == 0:
                    create(line)
                settle_after_crash(working, everything(line))
            with under_load(server.port, working):
                await_writes(working, 200)
                began = time.monotonic()
                assert server.stop() == 0
                seconds.append(time.monotonic() - began)
            assert "Traceback" not in server.log_text()
    # Of the quickest: a busy machine may take its time, but not every time.
    assert min(seconds) < 0.9 * Limits().drain_seconds, "draining waited for nothing"


def test_killed_before_it_has_begun_it_starts_again(tmp_path: Path) -> None:
    for _ in range(3):
        with serving("--data-dir", str(tmp_path)) as server:
            server.process.kill()
    with serving("--data-dir", str(tmp_path)) as server, Line(server.port) as line:
        assert line.call("ListTables", {}) == {"TableNames": []}
