"""How much more do two workers carry than one server process, when each has a core's share of its own?

    python bench/workers.py [--share 25] [--clients 32] [--seconds 4] [--rounds 3]

One server and the load generator fill a machine of two cores already, so that a second worker finds no core to run on.
Here each server process is held to a share of a core by a control group, and there is enough left for the generator
and the disk. One process and two workers take turns, each on a data file of its own and with the same connections.
The figures are in docs/design/007-hot-path.md.
"""

import argparse
import os
import random
import signal
import statistics
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from postgres_ceiling import fill, requests, send_all
from shares import quota

from serving import Serving, serving

_PROMISED = 1.5
_MIX = (("GetItem", 80), ("PutItem", 15), ("Query", 5))


def mixed() -> list[bytes]:
    """Requests in the proportions of the mixed load, in one order for all; the second half puts what differs."""
    dice = random.Random(16)
    pools = {operation: requests(operation) for operation, _ in _MIX}
    operations = dice.choices([operation for operation, _ in _MIX], [share for _, share in _MIX], k=1000)
    return [pools[name][half + number] for half in (0, 1000) for number, name in enumerate(operations)]


def answering(server: Serving) -> list[int]:
    """The processes that answer: a server's workers, or the server itself."""
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children] or [pid]


def parsed() -> argparse.Namespace:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--share", type=float, default=25, help="percent of a core for each process")
    flags.add_argument("--clients", type=int, default=32)
    flags.add_argument("--seconds", type=float, default=4, help="of each measurement")
    flags.add_argument("--rounds", type=int, default=3)
    return flags.parse_args()


def main() -> int:
    flags = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is taken down
    load = mixed()
    with ExitStack() as stack:
        servers = []
        for workers in (1, 2):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            groups = [
                stack.enter_context(
                    quota(f"hashrange-workers-{os.getpid()}-{workers}-{number}", flags.share / 100)
                )
                for number in range(workers)
            ]
            server = stack.enter_context(
                serving("--data-dir", folder, "--workers", str(workers), "--transition-ms", "0")
            )
            fill(server)
            for group, pid in zip(groups, answering(server), strict=True):
                (group / "cgroup.procs").write_text(str(pid))
            servers.append(server)
        client = stack.enter_context(ProcessPoolExecutor(1))
        rates: list[list[float]] = [[], []]
        for _ in range(flags.rounds):
            for server, found in zip(servers, rates, strict=True):
                found.append(
                    client.submit(send_all, [server.port], load, flags.clients, flags.seconds).result()
                )
    one, two = map(statistics.mean, rates)
    print(f"one process {one:.0f} requests a second, two workers {two:.0f}: {two / one:.2f} times as many")
    return 0 if two / one >= _PROMISED else 1


if __name__ == "__main__":
    sys.exit(main())
