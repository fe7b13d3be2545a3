"""Two servers on one database, killed in turn: a consumer that goes to either reads every change once, in order."""

import random

import pytest

from faults.line import Line
from scaleout.servers import Servers
from stream_load import FLAGS, StreamReader, StreamWriter, advance, create, split, streaming

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_a_consumer_of_two_servers_reads_every_change_once(database: str, isolation: str, seed: int) -> None:
    chance = random.Random(seed)
    servers = Servers(2, "--engine", database, "--postgres-isolation", isolation, *FLAGS)
    try:
        writers = [StreamWriter(f"w{number}", f"{seed}-{number}") for number in range(4)]

        def port() -> int:
            return chance.choice(servers.ports())

        with Line(port()) as line:
            reader = StreamReader(create(line), port, str(seed))
        for round_number in range(4):
            with streaming(writers, reader, port):
                reader.await_records(40)
                with Line(port()) as line:
                    split(line, 5000 + 1000 * round_number)
                reader.await_records(20)
                advance(servers.running[round_number % 2], 1.5)
                reader.await_records(40)
                servers.kill(round_number % 2)
                reader.await_records(20)
        assert reader.check(writers) >= 400
        assert len(reader.shards()) > 16
        reader.close()
    finally:
        servers.close()
    assert not [log for log in servers.logs if "Traceback" in log]
