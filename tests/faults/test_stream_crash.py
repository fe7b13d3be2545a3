"""kill -9 under load with a consumer at work: every acknowledged change is in the stream once, in order."""

from pathlib import Path
from random import Random

import pytest

from faults.line import Line
from hashrange import cli
from serving import serving
from stream_load import FLAGS, StreamReader, StreamWriter, advance, create, split, streaming

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

SEED = 20261116


@pytest.mark.parametrize(("workers", "rounds"), [(1, 8), (2, 5)])
def test_a_consumer_reads_every_change_once_across_crashes_splits_and_successions(
    tmp_path: Path, workers: int, rounds: int
) -> None:
    random = Random(SEED)
    flags = ("--data-dir", str(tmp_path), "--workers", str(workers), *FLAGS)
    ports = [0]
    writers = [StreamWriter(f"w{number}", f"{SEED}-{number}") for number in range(6)]
    reader = None
    for round_number in range(rounds):
        with serving(*flags) as server:
            ports[0] = server.port
            with Line(server.port) as line:
                if reader is None:
                    reader = StreamReader(create(line), lambda: ports[0], str(SEED))
                with streaming(writers, reader, lambda: ports[0]):
                    reader.await_records(40)
                    split(line, 5000 + 1000 * round_number)
                    reader.await_records(20)
                    advance(server, 1.5)
                    reader.await_records(random.randrange(10, 200))
                    server.process.kill()
                    server.process.wait(60)
            assert "Traceback" not in server.log_text()
    assert reader is not None
    with serving(*flags) as server:
        ports[0] = server.port
        assert reader.check(writers) > 50 * rounds
        assert len(reader.shards()) > 4 * rounds
        reader.close()
    assert cli.main(["verify", str(tmp_path)]) == 0
