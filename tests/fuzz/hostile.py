"""Rubbish below JSON: broken HTTP, wrong headers, half requests. Each goes over a connection of its own."""

import gzip
import socket
from random import Random

from serving import AUTHORIZATION

_BODY = b'{"TableName": "fuzz"}'
_HEADERS: dict[bytes, bytes] = {
    b"Host": b"localhost",
    b"Content-Type": b"application/x-amz-json-1.0",
    b"X-Amz-Target": b"DynamoDB_20120810.DescribeTable",
    b"X-Amz-Date": b"20260101T000000Z",
    b"Authorization": AUTHORIZATION.encode(),
}
_ODD: list[bytes] = [
    b"", b"x", b"\xff\xfe", b"a" * 9000, b"0", b"-1", b"18446744073709551616", b"chunked", b"gzip", b"deflate, gzip",
    b"100-continue", b"close", b"upgrade", b"h2c", b"DynamoDB_20120810.", b"DynamoDB_20120810.Nope", b"..", b"%00",
    b"DynamoDBStreams_20120810.ListStreams", b"application/json; charset=utf-16", b"text/plain", b"AWS4-HMAC-SHA256",
    b"AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=, Signature=", b"Bearer x", b"AWS4-HMAC-SHA256 Credential=////",
]  # fmt: skip
_NAMES = [
    *_HEADERS, b"Content-Length", b"Transfer-Encoding", b"Content-Encoding", b"Expect", b"Connection", b"Upgrade",
    b"Origin", b"X-Amz-Security-Token", b"X-Odd", b"",
]  # fmt: skip


def request(random: Random) -> bytes:
    """A request that is wrong somewhere in its HTTP."""
    headers = dict(_HEADERS)
    body = _BODY
    if random.random() < 0.2:
        headers[b"Content-Encoding"] = b"gzip"
        packed = gzip.compress(b"{" + b" " * random.choice((10, 10_000_000)) + b"}", 1)
        body = random.choice((packed, packed[: len(packed) // 2], b"\x1f\x8b" + packed[9:], _BODY))
    for _ in range(random.randrange(4)):
        headers[random.choice(_NAMES)] = random.choice(_ODD)
    if random.random() < 0.2:
        headers.pop(random.choice(list(headers)))
    if b"Content-Length" not in headers:
        wrong = random.choice((0, 0, 0, 0, 1, -3))
        headers[b"Content-Length"] = b"%d" % (len(body) + wrong)
    if random.random() < 0.1:
        headers |= {
            b"X-%d" % number: b"x" * random.choice((1, 700)) for number in range(random.choice((20, 200)))
        }
    method = random.choice((b"POST",) * 8 + (b"GET", b"PUT", b"OPTIONS", b"HEAD", b"BREW", b"", b"\x00"))
    path = random.choice(
        (b"/",) * 8 + (b"/x", b"", b"*", b"/" + b"a" * 70_000, b"/?x=%zz", b"http://a/", b"/\xff")
    )
    version = random.choice((b"HTTP/1.1",) * 8 + (b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9", b"HTTP", b""))
    lines = [
        method + b" " + path + b" " + version,
        *(name + b": " + value for name, value in headers.items()),
    ]
    whole = random.choice((b"\r\n",) * 9 + (b"\n",)).join([*lines, b"", body])
    if random.random() < 0.3:
        whole = whole[: random.randrange(len(whole) + 1)]
    if random.random() < 0.1:
        whole += b"5\r\nhello\r\nzz\r\n\x00"
    return whole


def exchange(port: int, data: bytes) -> list[int]:
    """Send it, say that no more comes, and give the statuses of the answers until the server hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        received = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65536):
                received += chunk
        except (ConnectionResetError, BrokenPipeError):
            pass  # the server may hang up on what it will not read
    return [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]]
