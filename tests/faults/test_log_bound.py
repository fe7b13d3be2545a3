"""The write-ahead log under nothing but writes: bounded, with one worker and with two, readers or none."""

import threading
from pathlib import Path
from typing import Self

import pytest

from faults.test_small_volume import TABLE, create, resize, volume
from hashrange.storage.sqlite.checkpoint import LogLimits
from hashrange.storage.sqlite.group import STEPS_BYTES_MAX
from hashrange.storage.sqlite.schema import PAGE_BYTES
from serving import Serving, serving

__all__ = ["volume"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

BATCHES = 120
CLIENTS = 4
BATCH_BYTES = 25 * 20_000


class Watch:
    """The longest that the log has been."""

    def __init__(self, log: Path) -> None:
        self.longest = 0
        self._log = log
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.wait(0.01):
            if self._log.exists():
                self.longest = max(self.longest, self._log.stat().st_size)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def write(server: Serving, client: int, failures: list[object]) -> None:
    for number in range(BATCHES):
        items = [
            {
                "PutRequest": {
                    "Item": {
                        "pk": {"S": f"{client}-{number % 10}-{item}"},
                        "v": {"S": f"{number:05d}" * 4000},
                    }
                }
            }
            for item in range(25)
        ]
        answer = server.post("BatchWriteItem", {"RequestItems": {TABLE: items}}, timeout=120)
        if answer.status != 200:
            failures.append(answer.body)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_log_stays_within_its_limit(volume: Path, workers: str) -> None:
    """240 MB are written, thirty times the size at which the log of this volume is due."""
    resize(volume, 256)
    limit = LogLimits.of_volume(volume).most * PAGE_BYTES
    assert limit < 20 * 1024 * 1024
    failures: list[object] = []
    with serving("--data-dir", str(volume / "data"), "--workers", workers) as server:
        create(server)
        for _ in range(8):  # every worker has readers, and they keep snapshots of the log
            server.post("GetItem", {"TableName": TABLE, "Key": {"pk": {"S": "0-0-0"}}})
        clients = [
            threading.Thread(target=write, args=(server, client, failures)) for client in range(CLIENTS)
        ]
        with Watch(volume / "data" / "hashrange.db-wal") as watch:
            for client in clients:
                client.start()
            for client in clients:
                client.join()
        assert failures == []
        assert limit // 4 < watch.longest < limit + 2 * STEPS_BYTES_MAX
        assert "Traceback" not in server.log_text()
