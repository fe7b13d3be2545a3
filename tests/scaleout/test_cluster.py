"""A cluster under load and under fault after fault: no acknowledged write is lost and no transaction is half done.

Three PostgreSQL nodes with quorum commit, two Hashrange servers before them, eight clients.
`pytest tests/scaleout/test_cluster.py --seed N` repeats a run's faults and requests, though not their timing.
"""

import os
import random
import time
from contextlib import ExitStack, closing

import pytest

from scaleout.cluster import cluster
from scaleout.cluster_faults import Faults
from scaleout.load import Load, create_tables
from scaleout.servers import Client, Servers
from scaleout.verdict import check
from sizes import size

# Every kind of fault once; in a thorough run three times, unless with the other isolation, where only commits differ.
_MORE = os.environ.get("HASHRANGE_CLUSTER_FAULTS")
FAULTS = {"locking": int(_MORE or size(9, 27)), "serializable": int(_MORE or 9)}


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_fault_after_fault(isolation: str, seed: int) -> None:
    chance = random.Random(seed)
    with ExitStack() as stack:
        nodes = stack.enter_context(cluster())
        places = ("--engine", nodes.url(), "--replica", nodes.replica_urls())
        flags = (*places, "--postgres-isolation", isolation, "--transition-ms", "0")
        servers = stack.enter_context(closing(Servers(2, *flags)))
        with closing(Client(servers, chance)) as client:
            create_tables(client)
        load = Load(servers, seed=seed, clients=8)
        load.start()
        try:
            for number, fault in enumerate(Faults(nodes, servers, chance).sequence(FAULTS[isolation])):
                began, before = time.monotonic(), len(load.operations)
                fault()
                nodes.wait_for_replicas(2)
                wait_for_progress(load)
                done = len(load.operations) - before
                print(f"{number:2} {fault.__name__:14} {time.monotonic() - began:5.1f} s {done:5} operations")
        finally:
            load.stop()
        with closing(Client(servers, chance)) as client:
            check(load, client)
    known = [each for each in load.operations if each.outcome != "unknown"]
    print(f"{len(known)} of {len(load.operations)} outcomes known, {len(load.transactions)} transactions")
    assert len(known) > 15 * FAULTS[isolation]


def wait_for_progress(load: Load, operations: int = 40, seconds: float = 120) -> None:
    """Service is back when operations succeed again."""
    deadline = time.monotonic() + seconds
    start = len(load.operations)
    while sum(each.outcome == "done" for each in load.operations[start:]) < operations:
        assert time.monotonic() < deadline, "service does not come back"
        assert not load.errors, load.errors
        time.sleep(0.02)
