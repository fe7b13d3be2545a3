"""Where a request begins and ends: RFC 9112, and the ambiguities that request smuggling lives on."""

import re
from collections.abc import Callable

import pytest

from wiring import Client, Response, Wire, request

PLAIN = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED_HEAD = request("Echo", b"", b"Content-Length:", b"Transfer-Encoding: chunked")


def headed(*lines: bytes, first: bytes = b"GET / HTTP/1.1", body: bytes = b"") -> bytes:
    return b"\r\n".join((first, *lines, b"", body))


def statuses(wire: Wire, data: bytes, *, split: bool = False) -> list[int]:
    """What a client gets that sends this, at once or byte by byte, and then no more."""
    with wire.connect() as client:
        if split:
            wire.trickle(client, *(data[at : at + 1] for at in range(len(data))))
        else:
            client.send(data)
        client.stop_sending()
        answers = client.read_to_end()
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answers)]


REFUSED = {
    "no host": headed(b"Accept: x"),
    "no header at all": headed(),
    "two hosts": headed(b"Host: a", b"Host: b"),
    "the same host twice": headed(b"Host: a", b"Host: a"),
    "two hosts in different case": headed(b"Host: a", b"hOST: a"),
    "a host with a path": headed(b"Host: a/b"),
    "a host with a user": headed(b"Host: u@a"),
    "a host with a space": headed(b"Host: a b"),
    "a port that is none": headed(b"Host: a:b"),
    "a host in a list": headed(b"Host: a:1, b"),
    "an absolute target with a bad host": headed(b"Host: x", first=b"GET http://a@b/ HTTP/1.1"),
    "two equal lengths": headed(b"Host: x", b"Content-Length: 0", b"Content-Length: 0"),
    "two lengths": headed(b"Host: x", b"Content-Length: 0", b"Content-Length: 1"),
    "a list of lengths": headed(b"Host: x", b"Content-Length: 0, 0"),
    "a signed length": headed(b"Host: x", b"Content-Length: +0"),
    "a hexadecimal length": headed(b"Host: x", b"Content-Length: 0x0"),
    "an empty length": headed(b"Host: x", b"Content-Length: "),
    "length and coding": headed(b"Host: x", b"Content-Length: 5", b"Transfer-Encoding: chunked")
    + b"0\r\n\r\n",
    "coding and length": headed(b"Host: x", b"Transfer-Encoding: chunked", b"Content-Length: 5")
    + b"0\r\n\r\n",
    "chunked twice": headed(b"Host: x", b"Transfer-Encoding: chunked, chunked") + b"0\r\n\r\n",
    "chunked twice in two lines": headed(
        b"Host: x", b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"
    ),
    "chunked before another": headed(b"Host: x", b"Transfer-Encoding: chunked, gzip") + b"0\r\n\r\n",
    "another coding alone": headed(b"Host: x", b"Transfer-Encoding: gzip") + b"0\r\n\r\n",
    "identity": headed(b"Host: x", b"Transfer-Encoding: identity"),
    "nearly chunked": headed(b"Host: x", b"Transfer-Encoding: xchunked") + b"0\r\n\r\n",
    "chunked in quotes": headed(b"Host: x", b'Transfer-Encoding: "chunked"') + b"0\r\n\r\n",
    "chunked with a vertical tab": headed(b"Host: x", b"Transfer-Encoding: \x0bchunked") + b"0\r\n\r\n",
    "a coding of nothing": headed(b"Host: x", b"Transfer-Encoding: ") + b"0\r\n\r\n",
    "a coding in HTTP/1.0": headed(b"Host: x", b"Transfer-Encoding: chunked", first=b"GET / HTTP/1.0")
    + b"0\r\n\r\n",
    "a space before the colon": headed(b"Host: x", b"Transfer-Encoding : chunked"),
    "a folded header": headed(b"Host: x", b"A: b", b" c"),
    "a folded coding": headed(b"Host: x", b"Transfer-Encoding:", b" chunked"),
    "space before the first header": headed(b" Host: x"),
    "a header without a name": headed(b"Host: x", b": y"),
    "a header without a colon": headed(b"Host: x", b"nonsense"),
    "line feeds alone": PLAIN.replace(b"\r\n", b"\n"),
    "one line feed alone": b"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
    "a carriage return alone": b"GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n",
    "a zero byte in a value": headed(b"Host: x", b"A: \0"),
    "a zero byte in a name": headed(b"Host: x", b"A\0: b"),
    "two spaces": headed(b"Host: x", first=b"GET  / HTTP/1.1"),
    "a space too many": headed(b"Host: x", first=b"GET / x HTTP/1.1"),
    "no version": b"GET /\r\n\r\n",
    "HTTP/0.9": headed(b"Host: x", first=b"GET / HTTP/0.9"),
    "HTTP/1.2": headed(b"Host: x", first=b"GET / HTTP/1.2"),
    "HTTP/2.0": headed(b"Host: x", first=b"GET / HTTP/2.0"),
    "HTTP/2's preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "another protocol": headed(b"Host: x", first=b"GET / RTSP/1.0"),
    "lower case": headed(b"Host: x", first=b"GET / http/1.1"),
    "an unknown method": headed(b"Host: x", first=b"BREW / HTTP/1.1"),
    "a control character in the target": headed(b"Host: x", first=b"GET /\x01 HTTP/1.1"),
    "a byte that is no URL": headed(b"Host: x", first=b"GET /\xc3\xbc HTTP/1.1"),
    "a size that is too large": CHUNKED_HEAD + b"10000000000000002\r\n{}\r\n0\r\n\r\n",
    "a negative size": CHUNKED_HEAD + b"-2\r\n{}\r\n0\r\n\r\n",
    "a size with 0x": CHUNKED_HEAD + b"0x2\r\n{}\r\n0\r\n\r\n",
    "a size with a space": CHUNKED_HEAD + b"2 \r\n{}\r\n0\r\n\r\n",
    "a chunk longer than it says": CHUNKED_HEAD + b"1\r\n{}\r\n0\r\n\r\n",
    "a chunk that ends with a line feed": CHUNKED_HEAD + b"2\r\n{}\n0\r\n\r\n",
    "a size that ends with a line feed": CHUNKED_HEAD + b"2\n{}\r\n0\r\n\r\n",
    "an extension that ends with a line feed": CHUNKED_HEAD + b"2;a\n{}\r\n0\r\n\r\n",
    "a line break in an extension": CHUNKED_HEAD + b'2;a="\r\n"\r\n{}\r\n0\r\n\r\n',
    "a length in a trailer": CHUNKED_HEAD + b"2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n",
    "a trailer that is none": CHUNKED_HEAD + b"2\r\n{}\r\n0\r\nnonsense\r\n\r\n",
}


@pytest.mark.parametrize("split", [False, True], ids=["whole", "bytewise"])
@pytest.mark.parametrize("what", REFUSED)
def test_what_could_be_read_in_two_ways_is_refused_and_nothing_is_read_behind_it(
    wire: Wire, what: str, split: bool
) -> None:
    assert statuses(wire, REFUSED[what] + PLAIN, split=split) == [400]
    assert statuses(wire, PLAIN + REFUSED[what] + PLAIN, split=split) == [200, 400]


@pytest.mark.parametrize("lines", [(b"gzip, chunked",), (b"gzip", b"chunked"), (b"deflate , CHUNKED",)])
@pytest.mark.parametrize("split", [False, True], ids=["whole", "bytewise"])
def test_another_transfer_coding_is_not_implemented(
    wire: Wire, lines: tuple[bytes, ...], split: bool
) -> None:
    coded = headed(b"Host: x", *(b"Transfer-Encoding: " + line for line in lines)) + b"2\r\n{}\r\n0\r\n\r\n"
    assert statuses(wire, coded + PLAIN, split=split) == [501]
    assert statuses(wire, PLAIN + coded + PLAIN, split=split) == [200, 501]


SERVED = {
    "a host with a port": headed(b"Host: localhost:8000"),
    "an address": headed(b"Host: 127.0.0.1:8000"),
    "an IPv6 address": headed(b"Host: [::1]:8000"),
    "a container's name": headed(b"Host: hash_range-1:8000"),
    "no host in HTTP/1.0": headed(b"Connection: keep-alive", first=b"GET / HTTP/1.0"),
    "the target in absolute form": headed(b"Host: y", first=b"GET http://localhost:8000/ HTTP/1.1"),
    "the target in absolute form without a path": headed(b"Host: y", first=b"GET HTTP://localhost HTTP/1.1"),
    "an asterisk": headed(b"Host: x", first=b"OPTIONS * HTTP/1.1"),
    "empty lines before": b"\r\n\r\n\r\n" + PLAIN,
    "an offer of codings for the answer": headed(b"Host: x", b"TE: trailers, gzip"),
    "a body nobody asked for": headed(b"Host: x", b"Content-Length: 3", body=b"abc"),
    "a chunk extension": CHUNKED_HEAD + b'2;a=b;c="d"\r\n{}\r\n0\r\n\r\n',
    "trailers": CHUNKED_HEAD + b"2\r\n{}\r\n0\r\nHost: y\r\nX-Sum: 9\r\n\r\n",
    "capitals": CHUNKED_HEAD.replace(b"chunked", b"Chunked") + b"2\r\n{}\r\n0\r\n\r\n",
    "leading zeros": CHUNKED_HEAD + b"0002\r\n{}\r\n000\r\n\r\n",
}


@pytest.mark.parametrize("split", [False, True], ids=["whole", "bytewise"])
@pytest.mark.parametrize("what", SERVED)
def test_what_is_allowed_is_served_and_so_is_what_comes_behind(wire: Wire, what: str, split: bool) -> None:
    assert statuses(wire, SERVED[what] + PLAIN, split=split) == [200, 200]
    assert statuses(wire, PLAIN + SERVED[what] * 3 + PLAIN, split=split) == [200] * 5


def test_empty_lines_in_a_chunked_body_are_no_end(wire: Wire) -> None:
    body = b'{"a":1' + b"\r\n\r\n" * 200 + b"}"
    with wire.connect() as client:
        client.send(CHUNKED_HEAD + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        assert client.read().json == {"a": 1}
        client.send(request("Echo", {"next": 1}))
        assert client.read().json == {"next": 1}


def test_nothing_is_smuggled_behind_a_body_of_empty_lines(wire: Wire) -> None:
    """Such a body is not cut into lines, so what comes in the same packet is not looked at closely, but refused."""
    body = b"{" + b"\r\n\r\n" * 200 + b"}"
    whole = CHUNKED_HEAD + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    assert statuses(wire, whole + headed(b"Host: a", b"Host: b")) == [200, 400]


def many(lines: list[bytes]) -> bytes:
    return request("Echo", {}).replace(b"\r\n\r\n", b"\r\n" + b"\r\n".join(lines) + b"\r\n\r\n")


@pytest.mark.parametrize("split", [False, True], ids=["whole", "in two"])
def test_equal_headers_count_one_by_one(small_wire: Callable[..., Wire], split: bool) -> None:
    wire = small_wire(headers_max=20)
    for repeats, status in ((14, 200), (15, 400), (500, 400)):
        for lines in ([b"X-Same: y"] * repeats, [b"x-%d: y" % number for number in range(repeats)]):
            whole = many(lines)
            with wire.connect() as client:
                wire.trickle(client, *((whole[:50], whole[50:]) if split else (whole,)))
                assert client.read().status == status


@pytest.mark.parametrize("first", [b"POST / HTTP/1.1", b"POST /?x HTTP/1.1"])
def test_a_head_of_16_kb_and_one_byte_more(wire: Wire, first: bytes) -> None:
    def padded(size: int) -> bytes:
        whole = request("Echo", {}, b"X-Pad: y").replace(b"POST / HTTP/1.1", first)
        head = whole.partition(b"\r\n\r\n")[0]
        return whole.replace(b"X-Pad: y", b"X-Pad: " + b"y" * (1 + size - len(head)))

    assert answer(wire, padded(16 * 1024)).status == 200
    refused = answer(wire, padded(16 * 1024 + 1))
    assert (refused.status, refused.json["message"]) == (
        400,
        "The request's headers are too large or too many",
    )


def answer(wire: Wire, data: bytes) -> Response:
    with wire.connect() as client:
        client.send(data)
        return client.read()


def test_a_target_in_absolute_form_is_an_operation_too(client: Client) -> None:
    client.send(request("Echo", {"a": 1}).replace(b"POST /", b"POST http://localhost:8000/", 1))
    assert client.read().json == {"a": 1}


@pytest.mark.parametrize("before", range(1, 8))
def test_a_head_that_is_cut_near_its_end_has_requests_behind_it(wire: Wire, before: int) -> None:
    """The rest of the head comes with its body and with the next requests: each ends where it ends."""
    first, second = request("Echo", {"number": 1}), request("Echo", {"number": 2})
    cut = first.index(b"\r\n\r\n") + 4 - before
    with wire.connect() as client:
        wire.trickle(client, first[:cut], first[cut:] + second + second)
        assert [client.read().json for _ in range(3)] == [{"number": 1}, {"number": 2}, {"number": 2}]
