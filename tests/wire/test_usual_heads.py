"""The compiled helper against its twin: the same headers and body of a usual request, or it is left to the parser."""

import re
import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.wire import headers, usual_requests
from hashrange.wire.usual_requests import ParsedRequests

needs_helper = pytest.mark.skipif(usual_requests.helper is None, reason="there was no C compiler")

_SIGNED = (
    b"AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20260102/us-east-1/dynamodb/aws4_request, "
    b"SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" + b"0a" * 32
)
_TARGET = b"DynamoDB_20120810.GetItem"
_JSON = b"application/x-amz-json-1.0"


def request(*lines: bytes, body: bytes = b"{}") -> bytes:
    """A request with these headers, and its length where one of them has none."""
    head = b"\r\n".join((b"POST / HTTP/1.1", *lines, b"", b""))
    return head.replace(b"%d", b"%d" % len(body)) + body


# What the SDKs send, each in its own order and spelling.
BOTOCORE = request(
    b"Host: localhost:8000",
    b"Accept-Encoding: identity",
    b"X-Amz-Target: " + _TARGET,
    b"Content-Type: " + _JSON,
    b"User-Agent: Boto3/1.40.0 md/Botocore#1.40.0 ua/2.1 os/linux#6.1 md/arch#x86_64 lang/python#3.11.7",
    b"X-Amz-Date: 20260102T030405Z",
    b"X-Amz-Security-Token: " + b"FwoGZXIvYXdzEBYaD/+=" * 20,
    b"Authorization: " + _SIGNED,
    b"amz-sdk-invocation-id: 7a3b8c1e-0000-4000-8000-000000000000",
    b"amz-sdk-request: attempt=1; max=3",
    b"Content-Length: %d",
    body=b'{"TableName":"people","Key":{"pk":{"S":"a"}}}',
)
JAVASCRIPT = request(
    b"content-type: " + _JSON,
    b"x-amz-target: " + _TARGET,
    b"user-agent: aws-sdk-js/3.700.0 ua/2.1 os/linux lang/js md/nodejs#22.0.0 api/dynamodb#3.700.0 m/E,n",
    b"host: localhost:8000",
    b"amz-sdk-invocation-id: 7a3b8c1e-0000-4000-8000-000000000000",
    b"amz-sdk-request: attempt=1; max=3",
    b"x-amz-date: 20260102T030405Z",
    b"x-amz-content-sha256: " + b"44" * 32,
    b"authorization: " + _SIGNED,
    b"content-length: %d",
    b"Connection: keep-alive",
)
GO = request(
    b"Host: localhost:8000",
    b"User-Agent: aws-sdk-go-v2/1.36.0 ua/2.1 os/linux lang/go#1.23 md/GOOS#linux api/dynamodb#1.40.0",
    b"Content-Length: %d",
    b"Accept-Encoding: identity",
    b"Amz-Sdk-Invocation-Id: 7a3b8c1e-0000-4000-8000-000000000000",
    b"Amz-Sdk-Request: attempt=1; max=3",
    b"Authorization: " + _SIGNED,
    b"Content-Type: " + _JSON,
    b"X-Amz-Date: 20260102T030405Z",
    b"X-Amz-Target: " + _TARGET,
)
BROWSER = request(
    b"Host: localhost:8000",
    b"Connection: keep-alive",
    b"Content-Length: %d",
    b'sec-ch-ua: "Chromium";v="130", "Not?A_Brand";v="99"',
    b"x-amz-target: " + _TARGET,
    b"Origin: http://localhost:3000",
    b"Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    b"X-B3TraceId: 1",
    b"Keep-Alive: timeout=5",
    b"Authorization: " + _SIGNED,
)
SDKS = [BOTOCORE, JAVASCRIPT, GO, BROWSER]


def with_lines(*lines: bytes, sent: bytes = BOTOCORE) -> bytes:
    return sent.replace(b"\r\n\r\n", b"\r\n" + b"\r\n".join(lines) + b"\r\n\r\n", 1)


def parsed(sent: bytes) -> tuple[dict[bytes, bytes], bytes] | None:
    """What the twin makes of a request, all names in Title-Case."""
    fields: dict[bytes, bytes] = {}
    read = ParsedRequests(fields).read(sent, fields, {})
    return None if read is None else (headers.titled(fields), read[0])


def helped(sent: bytes, fields: dict[bytes, bytes]) -> bytes | None:
    assert usual_requests.helper is not None
    read = usual_requests.helper(sent, fields, {})
    return None if read is None else read[0]


def all_fields(sent: bytes) -> dict[bytes, bytes]:
    """The headers by the parser alone, without any rule of what is usual."""
    fields = headers.fields_of([sent])
    named = headers.titled(dict(fields))
    assert len(named) == len(fields)
    return named


def compared(sent: bytes) -> bool:
    """Hold the helper against the twin, whatever was read before; give whether the helper took the request."""
    answers = []
    for before in (b"", BOTOCORE, JAVASCRIPT, BROWSER):
        fields: dict[bytes, bytes] = {}
        helped(before, fields)
        body = helped(sent, fields)
        answers.append(None if body is None else (fields, body))
    assert answers[1:] == answers[:-1]
    if answers[0] is None:
        return False
    twin = parsed(sent)
    if twin is None:
        # It says no to `connection` in lower case, which it does not look at closely.
        head, _, body = sent.partition(b"\r\n\r\n")
        assert re.search(rb"(?i)\r\nconnection: keep-alive(\r|$)", head)
        twin = all_fields(sent), body
    assert answers[0] == twin
    return True


@needs_helper
@pytest.mark.parametrize("sent", SDKS, ids=["botocore", "javascript", "go", "browser"])
def test_the_helper_takes_what_sdks_send(sent: bytes) -> None:
    assert compared(sent)


def padded(head_bytes: int) -> bytes:
    size = with_lines(b"X-Pad: ").index(b"\r\n\r\n") + 4
    return with_lines(b"X-Pad: " + b"x" * (head_bytes - size))


def numbered(count: int) -> bytes:
    return with_lines(*(b"X-%d: y" % number for number in range(count - BOTOCORE.count(b": "))))


USUAL = {
    "20 headers": numbered(20),
    "a head of 4096 bytes": padded(4096),
    "a name of 64 bytes": with_lines(b"x" * 64 + b": y"),
    "all that a name may have": with_lines(b"!#$%&'*+-.^_`|~09azAZ: y"),
    "all that a value may have": with_lines(b"X-A: " + bytes(range(0x21, 0x7F)) + b" ~"),
    "a name in a case of its own": BOTOCORE.replace(b"X-Amz-Target", b"x-AMZ-tARGET"),
    "a digit in a name": with_lines(b"x-1a-SHA256abc: y"),
    "lines in the body": request(b"Host: x", b"Content-Length: %d", body=b"a\r\n\r\nPOST / HTTP/1.1\r\n\r\n"),
    "any bytes in the body": request(b"Host: x", b"Content-Length: %d", body=bytes(range(256))),
    "a large body": request(b"Host: x", b"Content-Length: %d", body=b"x" * 60_000),
    "the last words of a head in a value": with_lines(b"X-A: Content-Length: 9"),
}


@needs_helper
@pytest.mark.parametrize("case", USUAL)
def test_the_helper_takes_whatever_is_usual(case: str) -> None:
    assert compared(USUAL[case])


def length(text: bytes, sent: bytes = BOTOCORE) -> bytes:
    return re.sub(rb"Content-Length: \d+", text, sent)


UNUSUAL = {
    "nothing": b"",
    "a first line alone": b"POST / HTTP/1.1\r\n",
    "no headers": b"POST / HTTP/1.1\r\n\r\n",
    "another method": BOTOCORE.replace(b"POST", b"PUT", 1),
    "another path": BOTOCORE.replace(b" / ", b" /? ", 1),
    "another version": BOTOCORE.replace(b"1.1\r\n", b"1.0\r\n", 1),
    "an empty line before": b"\r\n" + BOTOCORE,
    "21 headers": numbered(21),
    "a head of 4097 bytes": padded(4097),
    "a name of 65 bytes": with_lines(b"x" * 65 + b": y"),
    "no name": with_lines(b": y"),
    "no colon": with_lines(b"nonsense"),
    "no space behind the colon": with_lines(b"X-A:y"),
    "two spaces": with_lines(b"X-A:  y"),
    "a space behind a value": with_lines(b"X-A: y "),
    "no value": with_lines(b"X-A: "),
    "no value and no space": with_lines(b"X-A:"),
    "a space before the colon": with_lines(b"X-A : y"),
    "a tab": with_lines(b"X-A: a\tb"),
    "a folded line": with_lines(b"X-A: y", b" z"),
    "a line feed alone": with_lines(b"X-A: y\nX-B: z"),
    "a carriage return alone": with_lines(b"X-A: y\rX-B: z"),
    "carriage returns before a line feed": with_lines(b"X-A: y\r\r\nX-B: z"),
    "a zero byte in a name": with_lines(b"X\0A: y"),
    "a zero byte in a value": with_lines(b"X-A: a\0b"),
    "a delete character": with_lines(b"X-A: a\x7fb"),
    "a high byte in a name": with_lines(b"X-\xe9: y"),
    "a high byte in a value": with_lines(b"X-A: \xc3\xa9"),
    "a name twice": with_lines(b"X-A: y", b"X-A: y"),
    "a name twice in two cases": with_lines(b"x-a: y", b"X-A: z"),
    "a known name twice": with_lines(b"x-amz-target: DynamoDB_20120810.DeleteTable"),
    "a host twice": with_lines(b"hOST: localhost"),
    "a length twice": with_lines(b"content-length: 45"),
    "another length": with_lines(b"Content-Length: 4"),
    "a length too small": length(b"Content-Length: 44"),
    "a length too large": length(b"Content-Length: 46"),
    "a signed length": length(b"Content-Length: +45"),
    "a hexadecimal length": length(b"Content-Length: 0x2d"),
    "a list of lengths": length(b"Content-Length: 45, 45"),
    "a length with a zero": length(b"Content-Length: 045"),
    "a length past all bounds": length(b"Content-Length: " + b"9" * 40),
    "a length that wraps around": length(b"Content-Length: 18446744073709551661"),
    "no length": length(b"X-A: y"),
    "no body": request(b"Host: x", b"Content-Length: 0", body=b""),
    "another request behind": BOTOCORE * 2,
    "an empty line behind": BOTOCORE + b"\r\n",
    "a connection that ends": with_lines(b"Connection: close"),
    "a connection that may end": with_lines(b"Connection: keep-alive, close"),
    "another connection that ends": with_lines(b"Proxy-Connection: close"),
    "another protocol": with_lines(b"Connection: upgrade", b"Upgrade: h2c"),
    "settings of another protocol": with_lines(b"HTTP2-Settings: AAMAAABkAAQAAP__"),
    "an expectation": with_lines(b"Expect: 100-continue"),
    "chunks": length(b"Transfer-Encoding: chunked"),
    "chunks and a length": with_lines(b"transfer-encoding: chunked"),
    "chunks in a case of their own": with_lines(b"tRANSFER-eNCODING: chunked"),
    "trailers": with_lines(b"Trailer: X-Sum"),
    "codings for the answer": with_lines(b"TE: trailers"),
}


@needs_helper
@pytest.mark.parametrize("case", UNUSUAL)
def test_the_helper_leaves_what_is_unusual_or_wrong_to_the_parser(case: str) -> None:
    assert not compared(UNUSUAL[case])


@needs_helper
@pytest.mark.parametrize("sent", SDKS, ids=["botocore", "javascript", "go", "browser"])
def test_the_helper_takes_no_request_that_is_cut(sent: bytes) -> None:
    for end in range(len(sent)):
        assert not compared(sent[:end])


_LINES = [
    *(line for case in UNUSUAL.values() for line in case.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]),
    *(line for sent in SDKS for line in sent.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]),
]
_PIECES = [
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"\t",
    b":",
    b": ",
    b"\xff",
    b"\x7f",
    b"\r\n ",
    b"\r\n\r\n",
    b"0",
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A request of an SDK, spoilt in some places."""
    sent = draw(st.sampled_from(SDKS))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(sent)))
        to = min(len(sent), at + draw(st.integers(0, 20)))
        match draw(st.sampled_from(["cut", "double", "insert", "byte", "line", "title", "unline"])):
            case "cut":
                sent = sent[:at] + sent[to:]
            case "double":
                sent = sent[:to] + sent[at:]
            case "insert":
                sent = sent[:at] + draw(st.sampled_from(_PIECES)) + sent[at:]
            case "byte":
                sent = sent[:at] + draw(st.binary(min_size=1, max_size=2)) + sent[at + 1 :]
            case "line":
                sent = with_lines(draw(st.sampled_from(_LINES)), sent=sent)
            case "title":
                sent = sent[:at] + sent[at:to].swapcase() + sent[to:]
            case _:
                head, empty, body = sent.partition(b"\r\n\r\n")
                first, *lines = head.split(b"\r\n")
                del lines[draw(st.integers(0, 3)) : draw(st.integers(0, 6))]
                sent = b"\r\n".join([first, *lines]) + empty + body
    return sent


@needs_helper
@given(mutated())
def test_a_spoilt_request_is_read_as_the_parser_reads_it_or_left_to_it(sent: bytes) -> None:
    compared(sent)


_tokens = st.text("!#$%&'*+-.^_`|~09azAZ-", min_size=1, max_size=30).map(str.encode)
_values = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=40).map(
    str.encode
)


@needs_helper
@given(st.dictionaries(_tokens, _values, max_size=20), st.binary(min_size=1, max_size=50))
def test_headers_of_any_name_and_value_are_the_parsers(fields: dict[bytes, bytes], body: bytes) -> None:
    lines = (b"%b: %b" % field for field in fields.items())
    compared(request(*lines, b"Content-Length: %d" % len(body), body=body))


@needs_helper
def test_requests_of_one_connection_have_nothing_of_each_other() -> None:
    fields: dict[bytes, bytes] = {}
    for sent in [*SDKS, *UNUSUAL.values(), *reversed(SDKS), *USUAL.values(), *UNUSUAL.values()] * 2:
        body = helped(sent, fields)
        if body is not None:
            assert (fields, body) == (all_fields(sent), sent.partition(b"\r\n\r\n")[2])


@needs_helper
def test_what_the_last_request_had_too_is_not_made_anew() -> None:
    fields: dict[bytes, bytes] = {}
    helped(BOTOCORE, fields)
    first = dict(fields)
    helped(BOTOCORE.replace(b"GetItem", b"PutItem"), fields)
    assert {name for name, value in fields.items() if value is not first[name]} == {b"X-Amz-Target"}


@needs_helper
def test_the_helper_keeps_nothing_of_what_it_was_given() -> None:
    fields: dict[bytes, bytes] = {}
    samples = [*SDKS, *USUAL.values(), *UNUSUAL.values()]
    for sent in samples:
        helped(sent, fields)
    counts = [sys.getrefcount(sent) for sent in samples]
    tracemalloc.start()
    held = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        for sent in samples:
            helped(sent, fields)
    grown = tracemalloc.get_traced_memory()[0] - held
    tracemalloc.stop()
    assert [sys.getrefcount(sent) for sent in samples] == counts
    assert grown < 10_000


@needs_helper
@pytest.mark.parametrize(
    "arguments", [(), (BOTOCORE,), (BOTOCORE, None, {}), (BOTOCORE, {}), (BOTOCORE, {}, [])]
)
def test_the_helper_takes_bytes_and_two_dictionaries(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError):
        usual_requests.helper(*arguments)  # type: ignore[arg-type]


@needs_helper
@pytest.mark.parametrize("sent", [bytearray(BOTOCORE), memoryview(BOTOCORE), "text", None])
def test_what_is_not_exactly_bytes_is_not_read(sent: object) -> None:
    assert usual_requests.helper is not None
    assert usual_requests.helper(sent, {}, {}) is None  # type: ignore[arg-type]
