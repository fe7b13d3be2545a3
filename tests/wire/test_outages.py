"""Storage that fails is logged once, counted, and logged again when it works."""

import io
from collections.abc import Iterator

import pytest

from hashrange import logs
from hashrange.storage.errors import Corrupt, DamagedRow, Unavailable
from hashrange.wire import outages


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    text = io.StringIO()
    logs.configure(level="info", form="text", stream=text)
    outages.ongoing.clear()
    yield text
    outages.ongoing.clear()
    logs.configure(level="warning", form="text")


def test_a_thousand_refusals_are_one_line_and_their_end_another(
    stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(1000):
        outages.log_failure("PutItem", Unavailable("disk full"))
    outages.log_failure("UpdateItem", Unavailable("disk full"))
    (first, second) = stream.getvalue().splitlines()
    assert "storage.failed operation=PutItem" in first
    assert "storage.failed operation=UpdateItem" in second
    monkeypatch.setattr(logs, "QUIET_SECONDS", 0)
    outages.note_success("PutItem")
    assert "storage.recovered operation=PutItem failures=1000" in stream.getvalue()
    assert list(outages.ongoing) == ["UpdateItem"]


def test_the_next_outage_is_logged_anew(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "QUIET_SECONDS", 0)
    for _ in range(2):
        outages.log_failure("PutItem", Unavailable("disk full"))
        outages.note_success("PutItem")
    assert stream.getvalue().count("storage.failed") == stream.getvalue().count("failures=1 seconds") == 2


def test_an_operation_that_sometimes_works_is_one_outage(stream: io.StringIO) -> None:
    for _ in range(1000):
        outages.log_failure("PutItem", Unavailable("disk full"))
        outages.note_success("PutItem")
    (line,) = stream.getvalue().splitlines()
    assert "storage.failed operation=PutItem" in line
    assert "PutItem" in outages.ongoing


def test_each_damaged_place_is_named_once(stream: io.StringIO) -> None:
    for number in range(3):
        for _ in range(100):
            outages.log_failure("GetItem", DamagedRow(b"\x10\0\0\0\x07\0\0key%d" % number), "tab")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert all(
        "storage.damaged operation=GetItem table=tab" in line and "table number 7, item" in line
        for line in lines
    )


def test_the_damaged_places_that_are_remembered_are_bounded(stream: io.StringIO) -> None:
    for number in range(outages.PLACES_MAX + 10):
        outages.log_failure("GetItem", Corrupt(f"made up {number}"))
    assert len(outages._damage) == outages.PLACES_MAX
