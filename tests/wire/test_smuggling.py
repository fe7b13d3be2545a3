"""Requests that one reader could take for another than the next: what is served is what was signed, or nothing.

Whoever records a signed request, or stands between a client and the server, can add headers that are not signed, frame
the body anew, and write the target in another form.
"""

import pytest

from auth.signature.signing import signed
from signed_wire import OWN_PATH, SignedWire, as_bytes

GOOD = as_bytes(signed())
AUTHORIZATION = signed().headers[b"Authorization"]
FORGED = AUTHORIZATION[:-64] + b"0" * 64
DELETION = b"DynamoDB_20120810.DeleteTable"
CHUNKED = GOOD.replace(b"Content-Length: 2", b"Transfer-Encoding: chunked").replace(
    b"\r\n\r\n{}", b"\r\n\r\n"
)


def added(line: bytes, *, first: bool = False) -> bytes:
    """The request with one more header."""
    head, _, body = GOOD.partition(b"\r\n\r\n")
    request_line, _, lines = head.partition(b"\r\n")
    lines = line + b"\r\n" + lines if first else lines + b"\r\n" + line
    return b"\r\n".join([request_line, lines, b"", body])


def length(text: bytes) -> bytes:
    return GOOD.replace(b"Content-Length: 2", text)


def target(text: bytes) -> bytes:
    return GOOD.replace(b"POST / ", b"POST %b " % text)


REFUSED = {
    "a forged Authorization before the good one": added(b"Authorization: " + FORGED, first=True),
    "a second target": added(b"X-Amz-Target: " + DELETION),
    "a second target before it": added(b"X-Amz-Target: " + DELETION, first=True),
    "a second target in lower case": added(b"x-amz-target: " + DELETION),
    "a second time": added(b"X-Amz-Date: 20260102T030406Z"),
    "a second host": added(b"Host: evil.example"),
    "a header in two lines": GOOD.replace(b"20120810.List", b"20120810.\r\n List"),
    "a target in the second line of another header": added(b"X-Odd: a\r\n X-Amz-Target: " + DELETION),
    "a blank before the colon": added(b"X-Amz-Target : " + DELETION),
    "a lone carriage return": added(b"X-Odd: a\rX-Amz-Target: " + DELETION),
    "a lone line feed": added(b"X-Odd: a\nX-Amz-Target: " + DELETION),
    "line feeds only": GOOD.replace(b"\r\n", b"\n"),
    "a null": added(b"X-Odd: a\0b"),
    "chunked beside a length": added(b"Transfer-Encoding: chunked"),
    "chunked before a length": added(b"Transfer-Encoding: chunked", first=True),
    "two lengths": added(b"Content-Length: 3"),
    "the same length twice": added(b"Content-Length: 2"),
    "a list of lengths": length(b"Content-Length: 2, 2"),
    "a signed length": length(b"Content-Length: +2"),
    "a negative length": length(b"Content-Length: -2"),
    "a hexadecimal length": length(b"Content-Length: 0x2"),
    "a coding that ends with chunked": length(b"Transfer-Encoding: xchunked"),
    "a coding after chunked": length(b"Transfer-Encoding: chunked, identity"),
    "a chunk with a prefix": CHUNKED + b"0x2\r\n{}\r\n0\r\n\r\n",
    "another chunk": CHUNKED + b"2\r\n{}\r\n1\r\n \r\n0\r\n\r\n",
    "a URL of another host": target(b"http://evil.example/"),
    "a URL of another path": target(b"http://localhost:8000" + OWN_PATH),
    "two slashes": target(b"//"),
    "a dot": target(b"/."),
    "a quoted dot": target(b"/%2e"),
    "quoted dots before a path of our own": target(b"/%2e%2e" + OWN_PATH),
    "dots before a path of our own": target(b"/x/.." + OWN_PATH),
    "a fragment": target(b"/#x"),
    "the beginning of a presigned URL": target(b"/?X-Amz-Algorithm=AWS4-HMAC-SHA256"),
    "a query": target(b"/?Action=GetCallerIdentity&Version=2011-06-15"),
    "another method": GOOD.replace(b"POST ", b"PUT "),
    "another protocol": GOOD.replace(b"HTTP/1.1", b"HTTP/2.0"),
}


@pytest.mark.parametrize("before", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("sent", REFUSED.values(), ids=REFUSED.keys())
def test_what_could_be_read_in_two_ways_is_refused(sent: bytes, before: bool) -> None:
    """Also on a connection whose last request was good, and is remembered."""
    wire = SignedWire()
    client = wire.client()
    if before:
        assert client.send(GOOD).startswith(b"HTTP/1.1 200 ")
    wire.served.clear()
    answer = client.send(sent)
    assert answer[:10] in {b"HTTP/1.1 4", b"HTTP/1.1 5"}
    assert b"InternalServerError" not in answer
    assert wire.served == []


HARMLESS = {
    "a forged Authorization behind the good one": added(b"Authorization: " + FORGED),
    "a header that only looks like the target": added(b"X_Amz_Target: " + DELETION),
    "a method that some frameworks believe": added(b"X-HTTP-Method-Override: DELETE"),
    "a path that some proxies believe": added(b"X-Original-URL: " + OWN_PATH),
    "the body in chunks": CHUNKED + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    "a chunk with an extension": CHUNKED + b"2;a=b\r\n{}\r\n0\r\n\r\n",
    "a target in a trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX-Amz-Target: " + DELETION + b"\r\n\r\n",
    "its own URL": target(b"http://localhost:8000/"),
}


@pytest.mark.parametrize("sent", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_changes_nothing_of_what_was_signed_is_served_as_signed(sent: bytes) -> None:
    wire = SignedWire()
    assert wire.client().send(sent).startswith(b"HTTP/1.1 200 ")
    assert [(served.operation, served.body) for served in wire.served] == [("ListTables", b"{}")]


def test_a_request_behind_another_needs_a_signature_of_its_own() -> None:
    hidden = GOOD.replace(b"ListTables", b"DeleteTable")
    wire = SignedWire()
    answer = wire.client().send(GOOD + hidden)
    assert [served.operation for served in wire.served] == ["ListTables"]
    assert b"InvalidSignatureException" in answer


def test_a_session_s_token_cannot_be_exchanged() -> None:
    good = as_bytes(signed(session=True))
    for line in (b"X-Amz-Security-Token: other", b"x-amz-security-token: other"):
        head, _, body = good.partition(b"\r\n\r\n")
        wire = SignedWire()
        assert b"InvalidSignatureException" in wire.client().send(head + b"\r\n" + line + b"\r\n\r\n" + body)
        assert wire.served == []
