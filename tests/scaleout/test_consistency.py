"""Two servers, eight clients, one PostgreSQL: single items are linearizable, transactions strictly serializable.

pytest tests/scaleout/test_consistency.py --seed 12345        # the run that failed, once more
"""

import random
import time
from contextlib import closing

from scaleout.load import Load, create_tables
from scaleout.servers import Client, Servers
from scaleout.verdict import check

SECONDS = 6


def test_what_clients_see_can_be_explained(database: str, isolation: str, seed: int) -> None:
    flags = ("--engine", database, "--postgres-isolation", isolation, "--transition-ms", "0")
    with closing(Servers(2, *flags)) as servers:
        with closing(Client(servers, random.Random(seed))) as client:
            create_tables(client)
        load = Load(servers, seed=seed, clients=8)
        load.start()
        time.sleep(SECONDS)
        load.stop()
        with closing(Client(servers, random.Random(seed))) as client:
            check(load, client)
    assert len(load.operations) > 200
    assert len(load.transactions) > 100
    assert all(each.outcome != "unknown" for each in load.transactions)
    assert not any("Traceback" in log for log in servers.logs), servers.logs
