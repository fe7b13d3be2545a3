"""Requests made beforehand and kept in a file, each after its length in eight digits."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from hashrange_bench.endpoint import Endpoint
from hashrange_bench.sample import Request


def write(path: Path, endpoint: Endpoint, requests: Iterable[Request], count: int) -> int:
    """Write so many requests; give how many there were."""
    written = 0
    with path.open("wb") as file:
        for operation, body in islice(requests, count):
            request = endpoint.request(operation, body)
            file.write(b"%08d" % len(request))
            file.write(request)
            written += 1
    return written


def read(path: Path) -> Iterator[bytes]:
    """Give the requests of a file."""
    with path.open("rb") as file:
        while length := file.read(8):
            yield file.read(int(length))
