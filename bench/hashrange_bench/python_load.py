"""A load generator in Python, for where there is no wrk: processes that send requests made beforehand."""

import itertools
import multiprocessing
import os
import sys
from array import array
from pathlib import Path
from typing import NamedTuple

from hashrange_bench import request_file
from hashrange_bench.endpoint import Endpoint
from hashrange_bench.sender import Sender

_PROCESSES_MAX = 4


class Share(NamedTuple):
    """What one process has done."""

    latencies_us: "array[int]"  # array takes no parameter before Python 3.12
    refused: int
    broken: int
    seconds: float


def main(arguments: list[str]) -> int:
    """Send; say what came of it in the one line that `load` reads."""
    url, path, start, connections, seconds = arguments
    shares = split(int(connections), processes())
    work = [
        (url, path, int(start), share, float(seconds), number, len(shares))
        for number, share in enumerate(shares)
    ]
    with multiprocessing.get_context("fork").Pool(len(shares)) as pool:
        results = pool.map(_send, work)
    latencies = array("I", sorted(itertools.chain.from_iterable(share.latencies_us for share in results)))
    refused = sum(share.refused for share in results)
    broken = sum(share.broken for share in results)
    longest = max(share.seconds for share in results)
    sys.stdout.write(
        f"RESULT requests={len(latencies)} microseconds={int(longest * 1e6)} refused={refused} "
        f"broken={broken} p50={percentile(latencies, 50)} p99={percentile(latencies, 99)}\n"
    )
    return 0


def _send(work: tuple[str, str, int, int, float, int, int]) -> Share:
    url, path, start, connections, seconds, number, processes = work
    requests = list(request_file.read(Path(path)))
    first = start % len(requests)
    mine = itertools.islice(itertools.cycle(requests), first + number, None, processes)
    sender = Sender(Endpoint.parse(url), mine, seconds=seconds)
    elapsed = sender.run(connections)
    return Share(sender.latencies_us, sender.refused, sender.broken, elapsed)


def processes() -> int:
    """Leave a core to the server."""
    return max(1, min(_PROCESSES_MAX, (os.cpu_count() or 2) - 1))


def split(connections: int, count: int) -> list[int]:
    """Share the connections out evenly."""
    shares = [len(range(number, connections, count)) for number in range(count)]
    return [share for share in shares if share]


def percentile(values: "array[int]", percent: int) -> int:
    """Give the value below which so many percent of the sorted values lie."""
    return values[min(len(values) - 1, len(values) * percent // 100)] if values else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
