"""Log lines, request ids and clocks."""

import io
import json
from collections.abc import Iterator
from itertools import islice

import pytest

from hashrange import ids, logs
from hashrange.clock import ManualClock, SystemClock
from serving import serving


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    yield io.StringIO()
    logs.configure(level="warning", form="text")


def test_text_lines_name_the_facts(stream: io.StringIO) -> None:
    logs.configure(level="info", form="text", stream=stream)
    logs.Log("test").info("table.created", table="a b", count=2)
    logs.Log("test").debug("not.seen")
    _, level, rest = stream.getvalue().split(maxsplit=2)
    assert (level, rest) == ("info", 'table.created table="a b" count=2\n')


def test_a_line_stays_one_line_whatever_the_facts_hold(stream: io.StringIO) -> None:
    logs.configure(level="info", form="text", stream=stream)
    logs.Log("test").info("odd", value="a\nlevel=error")
    assert stream.getvalue().count("\n") == 1


def test_json_lines_carry_tracebacks(stream: io.StringIO) -> None:
    logs.configure(level="info", form="json", stream=stream)
    logs.Log("test").error("it.broke", error=ValueError("because"), table="t")
    line = json.loads(stream.getvalue())
    assert (line["message"], line["level"], line["table"]) == ("it.broke", "error", "t")
    assert "ValueError: because" in line["traceback"]


def test_request_ids_look_like_the_services_own_and_differ() -> None:
    some = list(islice(ids.request_ids(), 1000))
    assert len(set(some)) == 1000
    assert all(len(value) == 52 and value.decode().isalnum() and value == value.upper() for value in some)


def test_clocks() -> None:
    clock = ManualClock(100.0)
    clock.advance(2.5)
    assert clock.now() == 102.5
    assert SystemClock().now() > 1_700_000_000


@pytest.mark.slow
def test_every_request_is_logged_where_that_is_asked_for() -> None:
    with serving("--in-memory", "--log-level", "debug") as running:
        running.post("ListTables", {})
        running.post("DescribeTable", {"TableName": "missing"})
        running.post("NoSuchThing", {})
        log = running.log_text()
    assert "request.answered operation=ListTables status=200" in log
    assert "operation=DescribeTable status=400 error=ResourceNotFoundException" in log
    assert "operation=NoSuchThing status=400 error=UnknownOperationException" in log


@pytest.fixture
def outage_log() -> Iterator[io.StringIO]:
    text = io.StringIO()
    logs.configure(level="info", form="text", stream=text)
    yield text
    logs.configure(level="warning", form="text")


def outage(clock: ManualClock) -> logs.Outage:
    return logs.Outage(logs.Log("test"), "disk", now=clock.now, volume="a")


def test_an_outage_at_the_edge_is_one_outage_with_all_its_failures(outage_log: io.StringIO) -> None:
    clock = ManualClock()
    disk = outage(clock)
    for _ in range(200):
        disk.failed("full")
        clock.advance(0.125)
        disk.worked()
        clock.advance(0.125)
    clock.advance(logs.QUIET_SECONDS - 0.5)
    disk.worked()
    assert outage_log.getvalue().count("disk.failed volume=a reason=full failures=1") == 1
    assert disk.lasts
    clock.advance(0.25)
    disk.worked()
    lines = outage_log.getvalue().splitlines()
    assert len(lines) == 2
    assert "disk.recovered volume=a failures=200 seconds=49.8" in lines[1]
    assert not disk.lasts


def test_an_outage_that_lasts_is_a_line_a_minute(outage_log: io.StringIO) -> None:
    clock = ManualClock()
    disk = outage(clock)
    for _ in range(121):
        disk.failed("full")
        disk.worked()
        clock.advance(1)
    lines = [line.rpartition("failures=")[2] for line in outage_log.getvalue().splitlines()]
    assert lines == ["1", "61", "121"]


def test_an_outage_is_over_although_nothing_is_attempted_any_more(outage_log: io.StringIO) -> None:
    clock = ManualClock()
    disk = outage(clock)
    disk.failed("full")
    disk.worked()
    logs.settle_outages()
    assert "recovered" not in outage_log.getvalue()
    clock.advance(logs.QUIET_SECONDS)
    logs.settle_outages()
    logs.settle_outages()
    assert outage_log.getvalue().count("disk.recovered volume=a failures=1 seconds=0.0") == 1


def test_an_outage_is_not_over_because_nothing_is_attempted(outage_log: io.StringIO) -> None:
    clock = ManualClock()
    disk = outage(clock)
    disk.failed("full")
    disk.worked()
    disk.failed("full")
    clock.advance(100 * logs.QUIET_SECONDS)
    logs.settle_outages()
    assert disk.lasts
    assert "recovered" not in outage_log.getvalue()


def test_the_next_outage_begins_to_count_anew(outage_log: io.StringIO) -> None:
    clock = ManualClock()
    disk = outage(clock)
    for _ in range(2):
        disk.failed("full")
        clock.advance(logs.QUIET_SECONDS)
        disk.worked()
    assert outage_log.getvalue().count("disk.failed volume=a reason=full failures=1") == 2
    assert outage_log.getvalue().count("disk.recovered volume=a failures=1") == 2
