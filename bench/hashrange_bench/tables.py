"""The benchmark's tables at an endpoint: made, filled and taken away again."""

import contextlib
import http.client
import time
from collections.abc import Iterator

from hashrange_bench import sample
from hashrange_bench.endpoint import CallFailed, Endpoint
from hashrange_bench.sender import Sender, SendFailed

_FILLED = {sample.PEOPLE: sample.PEOPLE_COUNT, sample.ORDERS: sample.ORDERS_COUNT}
_CHUNK = 10_000
_CHANGE_SECONDS_MAX = 60
_FILL_SECONDS_MAX = 300
_UNREACHABLE = (OSError, http.client.HTTPException)


class Tables:
    """Knows which tables are there, and how many items each has."""

    def __init__(self, endpoint: Endpoint, *, connections: int, on_demand: bool = True) -> None:
        """Without `on_demand`, tables are provisioned with more than any load here takes."""
        self._endpoint = endpoint
        self._connections = connections
        self._on_demand = on_demand
        self._counts: dict[str, int] = {}

    def ready(self, name: str) -> int:
        """Have the table there with its first items; give how many."""
        if name not in self._counts:
            self._create(name)
            self._counts[name] = 0
            if name in _FILLED:
                self.fill(name, _FILLED[name], seconds=_FILL_SECONDS_MAX)
        return self._counts[name]

    def fill(self, name: str, count: int, *, seconds: float) -> int:
        """Put items until the table has so many or the time is over; give how many it has."""
        have, deadline = self.ready(name), time.monotonic() + seconds
        while have < count and time.monotonic() < deadline:
            goal = min(count, have + _CHUNK)
            self._put(name, have, goal)
            have = self._counts[name] = goal
        return have

    def count(self, name: str, count: int) -> None:
        """Note that a workload has put items, so that there are so many now."""
        self._counts[name] = max(count, self._counts.get(name, 0))

    def drop(self) -> None:
        """Delete every table that was made; an endpoint that is gone has none."""
        for name in self._counts:
            with contextlib.suppress(CallFailed, *_UNREACHABLE):
                self._endpoint.call("DeleteTable", f'{{"TableName":"{name}"}}')
        self._counts.clear()

    def _put(self, name: str, first: int, last: int) -> None:
        sender = Sender(self._endpoint, self._batches(name, first, last), seconds=_FILL_SECONDS_MAX)
        sender.run(self._connections)
        if sender.refused or sender.unfinished:
            raise SendFailed(f"{name} was not filled: {sender.complaint or 'items were left unprocessed'}")

    def _batches(self, name: str, first: int, last: int) -> Iterator[bytes]:
        for operation, body in sample.batches(name, first, last):
            yield self._endpoint.request(operation, body)

    def _create(self, name: str) -> None:
        self._remove(name)
        try:
            self._endpoint.call("CreateTable", sample.TABLES[name].create(on_demand=self._on_demand))
        except CallFailed:
            if not self._on_demand:
                raise
            self._on_demand = False
            self._endpoint.call("CreateTable", sample.TABLES[name].create(on_demand=False))
        self._wait(name, "ACTIVE")

    def _remove(self, name: str) -> None:
        """Take away what an earlier run has left behind."""
        if self._status(name) is not None:
            self._endpoint.call("DeleteTable", f'{{"TableName":"{name}"}}')
            self._wait(name, None)

    def _wait(self, name: str, wanted: str | None) -> None:
        deadline = time.monotonic() + _CHANGE_SECONDS_MAX
        while (status := self._status(name)) != wanted:
            if time.monotonic() > deadline:
                raise SendFailed(f"{name} has been {status} for {_CHANGE_SECONDS_MAX} s")
            time.sleep(0.05)

    def _status(self, name: str) -> str | None:
        try:
            answer = self._endpoint.call("DescribeTable", f'{{"TableName":"{name}"}}')
        except CallFailed as problem:
            if problem.code == "ResourceNotFoundException":
                return None
            raise
        return str(answer.get("Table", {}).get("TableStatus"))
