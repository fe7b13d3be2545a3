"""Load generators: what they are told, what they say, and that ours works."""

import itertools
from array import array
from pathlib import Path

import pytest

from hashrange_bench import load, python_load, request_file
from hashrange_bench.endpoint import Endpoint
from hashrange_bench.load import LoadFailed, Order, PythonLoad, Wrk
from hashrange_bench.process import Meter
from hashrange_bench.sender import Sender, SendFailed
from serving import Serving


def test_a_generators_last_words_are_read() -> None:
    words = "requests=300 microseconds=2000000 refused=2 broken=1 p50=1500 p99=12000"
    outcome = load.outcome(words, 0.5)
    assert outcome.per_second == 150
    assert (outcome.refused, outcome.broken) == (2, 1)
    assert (outcome.p50_ms, outcome.p99_ms) == (1.5, 12.0)


def test_wrk_gets_one_thread_and_whole_seconds(tmp_path: Path) -> None:
    order = Order(Endpoint.parse("http://127.0.0.1:8000"), tmp_path / "file", 7, 16, 0.4)
    command = Wrk().command(order)
    assert command[:5] == ["wrk", "--threads", "1", "--connections", "16"]
    assert command[command.index("--duration") + 1] == "1s"
    assert command[-2:] == [str(tmp_path / "file"), "7"]


def test_a_generator_that_is_not_there_fails_in_words(tmp_path: Path) -> None:
    order = Order(Endpoint.parse("http://127.0.0.1:8000"), tmp_path / "file", 0, 1, 0.1)
    with pytest.raises(LoadFailed, match="wrk did not run"):
        Wrk(["hashrange-no-such-program"]).run(order)


def test_requests_are_read_as_they_were_written(tmp_path: Path) -> None:
    endpoint = Endpoint.parse("http://127.0.0.1:8000")
    asked = itertools.repeat(("GetItem", '{"TableName":"ü"}'))
    assert request_file.write(tmp_path / "file", endpoint, asked, 3) == 3
    found = list(request_file.read(tmp_path / "file"))
    assert len(found) == 3
    assert found[0].endswith('{"TableName":"ü"}'.encode())


def test_the_generator_in_python_sends_and_counts(server: Serving, tmp_path: Path) -> None:
    endpoint = Endpoint.parse(server.endpoint)
    asked = itertools.cycle([("ListTables", "{}"), ("DescribeTable", '{"TableName":"no-such-table"}')])
    request_file.write(tmp_path / "file", endpoint, asked, 10)
    outcome = PythonLoad().run(Order(endpoint, tmp_path / "file", 3, 4, 0.2))
    assert outcome.requests > outcome.refused > 0
    assert outcome.broken == 0
    assert 0 < outcome.p50_ms <= outcome.p99_ms


def test_a_sender_sends_each_request_once(server: Serving) -> None:
    endpoint = Endpoint.parse(server.endpoint)
    requests = (endpoint.request("ListTables", "{}") for _ in range(50))
    sender = Sender(endpoint, requests, seconds=30)
    sender.run(8)
    assert len(sender.latencies_us) == 50
    assert (sender.refused, sender.broken) == (0, 0)


def test_a_sender_gives_up_on_an_endpoint_that_is_not_there() -> None:
    endpoint = Endpoint.parse("http://127.0.0.1:1")
    with pytest.raises(SendFailed, match=r"http://127\.0\.0\.1:1"):
        Sender(endpoint, itertools.repeat(b"x"), seconds=30).run(64)


def test_connections_are_shared_out_evenly() -> None:
    assert python_load.split(16, 3) == [6, 5, 5]
    assert python_load.split(2, 4) == [1, 1]


def test_percentiles() -> None:
    values = array("I", range(1, 101))
    assert python_load.percentile(values, 50) == 51
    assert python_load.percentile(values, 99) == 100
    assert python_load.percentile(array("I"), 50) == 0


def test_a_process_is_metered(server: Serving) -> None:
    meter = Meter(server.process.pid)
    cpu, memory, peak = meter.cpu_seconds(), meter.memory_bytes(), meter.peak_memory_bytes()
    assert cpu is not None
    assert cpu > 0
    assert memory is not None
    assert peak is not None
    assert peak >= memory > 1_000_000
    assert Meter(None).cpu_seconds() is None
    assert Meter(None).memory_bytes() is None
