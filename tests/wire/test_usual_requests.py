"""Requests of the usual kind take a short way, and everything that only looks like one is read as carefully as ever."""

import re

import pytest

from hashrange.wire import usual_requests
from hashrange.wire.usual_requests import REQUEST_BYTES_MAX
from wiring import Wire, request

USUAL = request("Echo", {"a": 1})
SPACELESS = [b"X-%d:y" % number for number in range(8)]


def with_lines(*lines: bytes) -> bytes:
    return USUAL.replace(b"\r\n\r\n", b"\r\n" + b"\r\n".join(lines) + b"\r\n\r\n")


# What is sent, and the statuses of all that is answered to it and to a usual request behind it.
CASES = {
    "nothing else": (USUAL, [200, 200]),
    "the same once more": (USUAL + USUAL, [200, 200, 200]),
    "names in lower case": (USUAL.replace(b"X-Amz-Target", b"x-amz-target"), [200, 200]),
    "an unknown name": (with_lines(b"Traceparent: 00-1-2-01"), [200, 200]),
    "a name twice": (with_lines(b"X-Same: a", b"X-Same: b"), [200, 200]),
    "no spaces behind colons": (with_lines(*SPACELESS), [200, 200]),
    "spaces around a value": (with_lines(b"X-A:  \t b \t "), [200, 200]),
    "empty lines behind": (USUAL + b"\r\n\r\n", [200, 200]),
    "a connection that is kept": (with_lines(b"Connection: keep-alive"), [200, 200]),
    "an offer to leave HTTP": (with_lines(b"Connection: upgrade", b"Upgrade: h2c"), [200, 200]),
    "a body that is awaited": (with_lines(b"Expect: 100-continue"), [200, 200]),
    "two hosts": (with_lines(b"Host: localhost"), [400]),
    "two hosts among names without spaces": (with_lines(b"Host:x", *SPACELESS), [400]),
    "two hosts in different case": (with_lines(b"hOST: localhost"), [400]),
    "a host that is none": (re.sub(rb"Host: \S+", b"Host: a/b", USUAL), [400]),
    "no host": (re.sub(rb"Host: \S+\r\n", b"", USUAL), [400]),
    "two lengths": (with_lines(b"Content-Length: 7"), [400]),
    "length and coding": (with_lines(b"Transfer-Encoding: chunked"), [400]),
    "a folded header": (with_lines(b"X-A: b", b" c"), [400]),
    "a line feed alone": (with_lines(b"X-A: b\nX-B: c"), [400]),
    "what is no HTTP behind": (USUAL + b"\x00", [200, 400]),
    "two hosts behind": (USUAL + with_lines(b"Host: localhost"), [200, 400]),
}


def statuses(wire: Wire, *packets: bytes) -> list[int]:
    with wire.connect() as client:
        wire.trickle(client, *packets)
        client.stop_sending()
        answers = client.read_to_end()
    return [int(status) for status in re.findall(rb"HTTP/1\.1 ([2-5]\d\d) ", answers)]


@pytest.fixture(autouse=True, params=["compiled", "parsed"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that are made from here on read usual requests with the helper, or with the parser."""
    if request.param == "parsed":
        monkeypatch.setattr(usual_requests, "helper", None)
    elif usual_requests.helper is None:
        pytest.skip("there was no C compiler")


@pytest.mark.parametrize("case", CASES)
def test_it_makes_no_difference_whether_a_request_comes_in_one_piece(wire: Wire, case: str) -> None:
    sent, expected = CASES[case]
    assert statuses(wire, USUAL) == [200]  # from here on its Host is known
    together = sent + USUAL
    head = sent.index(b"\r\n\r\n") + 4
    assert statuses(wire, together) == expected
    assert statuses(wire, USUAL, sent, USUAL) == [200, *expected]
    assert statuses(wire, together[:head], together[head:]) == expected
    assert statuses(wire, together[: len(sent) + 5], together[len(sent) + 5 :]) == expected
    assert statuses(wire, *(together[at : at + 1] for at in range(len(together)))) == expected


@pytest.mark.parametrize(
    "line", [b"Connection: close", b"Connection: keep-alive, close", b"Proxy-Connection: close"]
)
def test_the_last_request_is_the_last(wire: Wire, line: bytes) -> None:
    assert statuses(wire, USUAL) == [200]
    sent = with_lines(line) + USUAL
    for packets in ((sent,), (sent[:200], sent[200:])):
        with wire.connect() as client:
            wire.trickle(client, *packets)
            assert client.read().headers["connection"] == "close"
            assert client.read_to_end() == b""


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_bodies_at_the_limit_of_the_short_way(wire: Wire, more: int) -> None:
    text = "x" * (REQUEST_BYTES_MAX - len(request("Echo", {"a": ""})) + more)
    with wire.connect() as client:
        for number in range(2):
            client.send(request("Echo", {"a": text, "n": number}))
            assert client.read().json == {"a": text, "n": number}
