"""Large bodies: how many values they may have, and that the event loop has nothing to do with them."""

import gzip
import threading
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.api.errors import ApiError
from hashrange.chain import background
from hashrange.core import json_values
from hashrange.wire import json_endpoint, large_bodies
from hashrange.wire.large_bodies import refuse_many_values
from wiring import Wire

_LIMIT = 100
_TEXT = st.text(st.sampled_from('a,[{"\\\n'), max_size=30)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_bodies, "VALUES_MAX", _LIMIT)


def _refused(body: bytes) -> bool:
    try:
        refuse_many_values(body)
    except ApiError as error:
        return (error.code, error.status) == ("RequestEntityTooLargeException", 413)
    return False


@pytest.mark.usefixtures("few")
def test_both_sides_of_the_limit() -> None:
    assert not _refused(orjson.dumps([1] * _LIMIT))
    assert _refused(orjson.dumps([1] * (_LIMIT + 1)))
    assert _refused(orjson.dumps([{"S": ""}] * _LIMIT))
    assert _refused(b"[" * (_LIMIT + 1))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("text", [",", "[", "{", '","', "\\", '\\"', '"', '\\",', '\\\\"'])
def test_what_stands_in_a_string_does_not_count(text: str) -> None:
    assert not _refused(orjson.dumps({"S": text * 1000}))
    assert not _refused(orjson.dumps([text * 1000, text * 999]))


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
@given(texts=st.lists(_TEXT, max_size=20))
def test_where_the_pieces_end_makes_no_difference(piece: int, texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_bodies, "VALUES_MAX", 0)
        patch.setattr(json_values, "_PIECE_BYTES", piece)
        outside = b"".join(json_values.outside_strings(orjson.dumps(texts)))
    assert outside == b"[" + b"," * (len(texts) - 1) + b"]"


def test_the_largest_item_is_within_the_limit() -> None:
    refuse_many_values(b'{"Item":{"l":{"L":[' + b",".join([b'{"S":""}'] * 400_000) + b"]}}}")


def _members(count: int) -> bytes:
    return orjson.dumps({f"a{number}": {"S": ""} for number in range(count)})


def test_both_sides_of_the_limit_of_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_bodies, "MEMBERS_MAX", _LIMIT)
    assert not _refused(_members(_LIMIT + 1))  # the first one does not count
    assert _refused(_members(_LIMIT + 2))
    assert not _refused(orjson.dumps([{"S": ""}] * 10 * _LIMIT))


@pytest.mark.parametrize("filler", ["{}", "{ }", "{\n}", '""', "{}{}", "{{{{"])
def test_nothing_makes_up_for_too_many_members(monkeypatch: pytest.MonkeyPatch, filler: str) -> None:
    monkeypatch.setattr(large_bodies, "MEMBERS_MAX", _LIMIT)
    monkeypatch.setattr(json_values, "_PIECE_BYTES", 50)
    tail = ",".join([filler] * 10 * _LIMIT).encode()
    # Members in the same piece as a syntax error may go uncounted, which are few.
    assert _refused(b"[" + _members(_LIMIT + 10) + b"," + tail + b"]")


def test_both_sides_of_the_limit_of_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_bodies, "ELEMENTS_MAX", _LIMIT)
    assert not _refused(orjson.dumps([1] * (_LIMIT + 1)))
    assert _refused(orjson.dumps([1] * (_LIMIT + 2)))
    assert not _refused(_members(10 * _LIMIT))


def test_a_request_about_tables_has_few_values() -> None:
    body = orjson.dumps([1] * large_bodies.CONTROL_VALUES_MAX)
    refuse_many_values(body, control=True)
    with pytest.raises(ApiError):
        refuse_many_values(body[:-1] + b",1]", control=True)


def test_the_item_with_the_most_attributes_is_within_the_limit() -> None:
    refuse_many_values(b'{"Item":' + _members(142_000) + b"}")


def test_a_packed_body_with_too_many_values_is_refused(wire: Wire) -> None:
    body = gzip.compress(orjson.dumps([[]] * 1_400_000))
    assert len(body) < 40_000
    answer = wire.post("Echo", body, b"Content-Encoding: gzip")
    assert (answer.status, b"RequestEntityTooLarge" in answer.body) == (413, True)


def _threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads on which bodies are read."""
    names: list[str] = []
    read = json_endpoint._large_call

    def noted(*arguments: Any) -> Any:
        names.append(threading.current_thread().name)
        return read(*arguments)

    monkeypatch.setattr(json_endpoint, "_large_call", noted)
    return names


@pytest.mark.parametrize(
    ("size", "threads"), [(json_endpoint.LOOP_BYTES_MAX, 0), (json_endpoint.LOOP_BYTES_MAX + 1, 1)]
)
def test_a_large_body_is_read_on_another_thread(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, size: int, threads: int
) -> None:
    names = _threads(monkeypatch)
    body = b'{"a": "' + b"x" * (size - 9) + b'"}'
    answer = wire.post("Echo", body)
    assert (answer.status, answer.body) == (200, body.replace(b": ", b":"))
    assert len(names) == threads
    assert all(name.startswith("hashrange-background") for name in names)


def test_errors_of_large_bodies_are_those_of_small_ones(wire: Wire) -> None:
    large = b'{"a": "' + b"x" * 100_000 + b'"'
    assert b"SerializationException" in wire.post("Echo", large).body
    assert b"UnknownOperation" in wire.post("Nothing", large + b"}").body
    assert b"SerializationException" in wire.post("Echo", b"[" + large + b"}]").body
    for name in (b"\xff", b"\xed\xa0\x80"):
        no_text = wire.post("Echo", large.replace(b'"a"', b'"%b"' % name) + b"}")
        assert (no_text.status, b"SerializationException" in no_text.body) == (400, True)


def test_bodies_that_wait_have_a_limit(
    small_wire: Callable[..., Wire], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "QUEUED_BYTES_MAX", 150_000)
    wire = small_wire()
    assert wire.post("Echo", b'{"a": "' + b"x" * 100_000 + b'"}').status == 200
    answer = wire.post("Echo", b'{"a": "' + b"x" * 200_000 + b'"}')
    assert (answer.status, b"ThrottlingException" in answer.body) == (400, True)
