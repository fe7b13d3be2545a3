"""A volume that is really full: writes are refused, reads go on, a restart works, and room heals it."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from hashlib import shake_256
from pathlib import Path

import pytest

from serving import Serving, serving

pytestmark = pytest.mark.slow

TABLE = "small-volume"
WAIT_SECONDS = 60


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    place = tmp_path / "volume"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "hashrange-test", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a file system of a limited size is not permitted here")
    try:
        yield place
    finally:
        unmount(place)


def unmount(place: Path) -> None:
    """Unmount as soon as the last worker of a killed server is gone."""
    until = time.monotonic() + WAIT_SECONDS
    while subprocess.run(["umount", str(place)], capture_output=True, check=False).returncode:
        assert time.monotonic() < until, "the volume stays in use"
        time.sleep(0.1)


def resize(volume: Path, megabytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={megabytes}m", str(volume)], check=True)


def create(server: Serving, table: str = TABLE) -> None:
    definition = {
        "TableName": table,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    until = time.monotonic() + WAIT_SECONDS
    # Where space is being freed, one write that found room says nothing about the next one.
    while (answer := server.post("CreateTable", definition)).status != 200:
        assert (answer.status, answer.error) == (500, "InternalServerError")
        assert time.monotonic() < until, "the table cannot be made"
        time.sleep(0.05)
    while time.monotonic() < until:
        described = server.post("DescribeTable", {"TableName": table}).body
        if described["Table"]["TableStatus"] == "ACTIVE":
            return
        time.sleep(0.05)
    raise AssertionError("the table does not become active")


@cache
def value_of(number: int) -> str:
    """A text of 3,000 characters of which a backup keeps half at least: a volume that is full has no room for that."""
    return shake_256(b"%d" % number).hexdigest(1500)


def put(server: Serving, number: int, table: str = TABLE) -> int:
    item = {"pk": {"S": f"{number}"}, "value": {"S": value_of(number)}}
    answer = server.post("PutItem", {"TableName": table, "Item": item})
    if answer.status != 200:
        assert (answer.status, answer.error) == (500, "InternalServerError")
    return answer.status


def batch(server: Serving, numbers: range) -> int:
    items = [
        {"PutRequest": {"Item": {"pk": {"S": f"{number}"}, "value": {"S": value_of(number)}}}}
        for number in numbers
    ]
    return server.post("BatchWriteItem", {"RequestItems": {TABLE: items}}).status


def fill(server: Serving) -> int:
    """Put items until one is refused; give how many were not."""
    count = 0
    while batch(server, range(count, count + 25)) == 200:
        count += 25
        assert count < 20_000
    while put(server, count) == 200:
        count += 1
    return count


def check_items(server: Serving, count: int) -> None:
    for number in range(0, count, max(1, count // 50)):
        key = {"TableName": TABLE, "Key": {"pk": {"S": f"{number}"}}, "ConsistentRead": True}
        answer = server.post("GetItem", key)
        assert answer.status == 200
        assert answer.body["Item"]["value"]["S"] == value_of(number)


def write_eventually(server: Serving, number: int, table: str = TABLE) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while put(server, number, table) != 200:
        assert time.monotonic() < until, "writes are still refused"
        time.sleep(0.1)


def log_with(server: Serving, *words: str) -> str:
    """The server's log as soon as it has these words: an outage is over some seconds after its last failure."""
    until = time.monotonic() + WAIT_SECONDS
    while not all(word in (log := server.log_text()) for word in words):
        assert time.monotonic() < until, log
        time.sleep(0.1)
    return log


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_full_volume_refuses_writes_and_heals_when_it_has_room(volume: Path, workers: str) -> None:
    flags = ("--data-dir", str(volume / "data"), "--workers", workers)
    with serving(*flags) as server:
        create(server)
        count = fill(server)
        assert count > 1000  # 3 MB: the log and its copy must not take the whole volume
        for _ in range(50):
            put(server, count)
        check_items(server, count)
        assert server.process.poll() is None
        resize(volume, 48)
        write_eventually(server, count)
        check_items(server, count + 1)
        log = log_with(server, "commit.recovered", "storage.recovered")
        assert "Traceback" not in log
        assert log.count("storage.failed") <= 2 * int(workers)  # PutItem and BatchWriteItem
        assert len(log.splitlines()) < 20
        assert server.stop() == 0


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("to_the_last_byte", [False, True])
def test_deleting_a_table_makes_room_for_the_others(
    volume: Path, workers: str, to_the_last_byte: bool
) -> None:
    """Somebody else may have taken the last bytes: the server has a reserve."""
    flags = ("--data-dir", str(volume / "data"), "--workers", workers)
    with serving(*flags) as server:
        create(server)
        create(server, "kept")
        assert put(server, 1, "kept") == 200
        count = fill(server)
        while (
            to_the_last_byte and put(server, count, "kept") == 200
        ):  # what is in the log takes room at first
            take_the_last_bytes(volume)
        assert server.post("DeleteTable", {"TableName": TABLE}).status == 200
        write_eventually(server, 2, "kept")
        create(server)
        for number in range(count // 2):
            write_eventually(server, number)
        assert server.post("GetItem", {"TableName": "kept", "Key": {"pk": {"S": "1"}}}).body["Item"]
        log = server.log_text()
        for job in ("settle-tables", "reclaim-space"):  # what frees space; others may have to wait for it
            assert f"job.failed job={job}" not in log, log
        assert "Traceback" not in log
        assert server.stop() == 0


@pytest.mark.parametrize("way", ["delete the backup", "switch recovery off first"])
def test_a_table_with_recovery_can_be_cleared_away_from_a_full_volume(volume: Path, way: str) -> None:
    """The backup that it leaves has no room on the volume, so its rows would stay for it."""
    with serving("--data-dir", str(volume / "data")) as server:
        create(server)
        create(server, "kept")
        set_recovery(server, enabled=True)
        fill(server)
        take_the_last_bytes(volume)
        if way == "switch recovery off first":
            set_recovery(server, enabled=False)
        assert server.post("DeleteTable", {"TableName": TABLE}).status == 200
        if way == "delete the backup":
            answer = server.post("DeleteBackup", {"BackupArn": system_backup(server)})
            assert answer.status == 200, answer.body
        for number in range(500):
            write_eventually(server, number, "kept")
        assert "Traceback" not in server.log_text()
        assert server.stop() == 0


def set_recovery(server: Serving, *, enabled: bool) -> None:
    spec = {"PointInTimeRecoveryEnabled": enabled}
    request = {"TableName": TABLE, "PointInTimeRecoverySpecification": spec}
    answer = server.post("UpdateContinuousBackups", request)
    assert answer.status == 200, answer.body


def system_backup(server: Serving) -> str:
    until = time.monotonic() + WAIT_SECONDS
    while not (found := server.post("ListBackups", {"BackupType": "SYSTEM"}).body["BackupSummaries"]):
        assert time.monotonic() < until, server.log_text()
        time.sleep(0.1)
    assert found[0]["BackupStatus"] in {
        "CREATING",
        "AVAILABLE",
    }  # the log may have given space back meanwhile
    return str(found[0]["BackupArn"])


def kill(server: Serving) -> None:
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait(timeout=WAIT_SECONDS)


def fill_to_the_last_byte(volume: Path, *, has_reserve: bool = False) -> Path:
    """Leave not even room for the log's index, which the killed server has left behind."""
    if not has_reserve:
        (volume / "data" / "hashrange.reserve").unlink(missing_ok=True)
    (volume / "data" / "hashrange.db-shm").unlink(missing_ok=True)
    return take_the_last_bytes(volume)


def take_the_last_bytes(volume: Path) -> Path:
    ballast = volume / "ballast"
    with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as stream:
        while True:
            stream.write(b"\1" * 4096)
    return ballast


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("has_reserve", [False, True])
def test_a_killed_server_starts_on_a_full_volume_if_its_log_fits(
    volume: Path, workers: str, has_reserve: bool
) -> None:
    """The log has new versions of rows that are in the file already."""
    flags = ("--data-dir", str(volume / "data"), "--workers", workers)
    with serving(*flags) as server:
        create(server)
        for start in range(0, 300, 25):
            assert batch(server, range(start, start + 25)) == 200
        assert server.stop() == 0
    with serving(*flags) as server:
        for start in range(0, 100, 25):
            assert batch(server, range(start, start + 25)) == 200
        kill(server)
    fill_to_the_last_byte(volume, has_reserve=has_reserve)
    with serving(*flags) as server:
        check_items(server, 300)
        kill(server)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_start_on_a_full_volume_says_what_it_needs(volume: Path, workers: str) -> None:
    """The log has rows for which the file must grow."""
    flags = ("--data-dir", str(volume / "data"), "--workers", workers)
    log, data = volume / "data" / "hashrange.db-wal", volume / "data" / "hashrange.db"
    count = 0
    with serving(*flags) as server:
        create(server)
    for _ in range(20):  # on a busy machine the log may have been copied by the time of the kill
        with serving(*flags) as server:
            size = data.stat().st_size
            assert batch(server, range(count, count + 25)) == 200
            count += 25
            kill(server)
        if log.exists() and log.stat().st_size and data.stat().st_size == size:
            break
    ballast = fill_to_the_last_byte(volume)
    command = [sys.executable, "-m", "hashrange", "serve", "--port", "0", *flags]
    refusal = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
    assert refusal.returncode == 1
    assert re.search(r"is full: \d+ bytes are free, about \d+ are needed", refusal.stderr)
    assert "Traceback" not in refusal.stderr
    ballast.unlink()
    with serving(*flags) as server:
        check_items(server, count)
        write_eventually(server, count)
        assert server.stop() == 0
