"""How much more do two servers carry than one, when the database is not the limit?

    python bench/postgres_servers.py [--share 20] [--clients 64] [--seconds 4] [--rounds 3]

One server, the database and the load generator fill a small machine already. So each server is held to a share of a
core by a control group, which leaves the database with more than it needs; its use is printed to show that. One and
two servers take turns, with the same number of connections in all. The figures are in
docs/design/006-postgres-engine.md.
"""

import argparse
import os
import signal
import statistics
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NamedTuple

from postgres_ceiling import cpu_seconds, fill, send
from shares import quota

from postgres_server import PostgresServer, postgres_server
from serving import Serving, serving

_PROMISED = 1.6


class Load(NamedTuple):
    """One measurement: requests a second, and cores used meanwhile."""

    rate: float
    database: float
    servers: float


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured, and how long."""

    client: ProcessPoolExecutor
    database: PostgresServer
    connections: int
    seconds: float

    def measure(self, servers: list[Serving], operation: str) -> Load:
        """Send requests to these servers for a while."""
        roots = [self.database.process.pid], [server.process.pid for server in servers]
        ports = [server.port for server in servers]
        before = [sum(cpu_seconds(pids).values()) for pids in roots]
        rate = self.client.submit(send, ports, operation, self.connections, self.seconds).result()
        after = [sum(cpu_seconds(pids).values()) for pids in roots]
        used = ((end - start) / self.seconds for start, end in zip(before, after, strict=True))
        return Load(rate, *used)

    def compare(self, servers: list[Serving], operation: str, rounds: int) -> float:
        """Let one and all of them take turns, print what comes out, and give the ratio."""
        turns = [
            (self.measure(servers[:1], operation), self.measure(servers, operation)) for _ in range(rounds)
        ]
        one, two = (mean(loads) for loads in zip(*turns, strict=True))
        for label, load in (("one server", one), ("two servers", two)):
            print(f"{operation:8} {label:14} {load.rate:10.0f}{load.database:12.2f}{load.servers:10.2f}")
        ratio = two.rate / one.rate
        print(f"{operation:8} two carry {ratio:.2f} times as much as one", flush=True)
        return ratio


def mean(loads: Iterable[Load]) -> Load:
    return Load(*(statistics.mean(column) for column in zip(*loads, strict=True)))


def parsed() -> argparse.Namespace:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--share", type=float, default=20, help="percent of a core for each server")
    flags.add_argument("--clients", type=int, default=64, help="connections in all")
    flags.add_argument("--seconds", type=float, default=4, help="of each measurement")
    flags.add_argument("--rounds", type=int, default=3)
    return flags.parse_args()


def main() -> int:
    flags = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is taken down
    with ExitStack() as stack:
        settings = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "'256MB'"}
        groups = [
            stack.enter_context(quota(f"hashrange-bench-{os.getpid()}-{number}", flags.share / 100))
            for number in range(2)
        ]
        database = stack.enter_context(postgres_server(**settings))
        servers = [
            stack.enter_context(serving("--engine", database.url(), "--transition-ms", "0")) for _ in groups
        ]
        fill(servers[0])
        database.execute("VACUUM ANALYZE")
        for group, server in zip(groups, servers, strict=True):
            (group / "cgroup.procs").write_text(str(server.process.pid))
        client = stack.enter_context(ProcessPoolExecutor(1))
        bench = Bench(client, database, flags.clients, flags.seconds)
        print(f"{'':24}{'a second':>10}{'database':>12}{'servers':>10}   cores")
        ratios = [bench.compare(servers, operation, flags.rounds) for operation in ("GetItem", "PutItem")]
    return 0 if min(ratios) >= _PROMISED else 1


if __name__ == "__main__":
    sys.exit(main())
