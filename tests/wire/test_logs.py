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


def test_every_request_is_logged_where_that_is_asked_for() -> None:
    with serving("--in-memory", "--log-level", "debug") as running:
        running.post("ListTables", {})
        running.post("DescribeTable", {"TableName": "missing"})
        running.post("NoSuchThing", {})
        log = running.log_text()
    assert "request.answered operation=ListTables status=200" in log
    assert "operation=DescribeTable status=400 error=ResourceNotFoundException" in log
    assert "operation=NoSuchThing status=400 error=UnknownOperationException" in log
