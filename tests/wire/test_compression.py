"""Bodies that come compressed, and answers to clients that ask for compressed ones."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from hashrange.api.errors import ApiError
from hashrange.wire import compression
from serving import Serving
from wiring import AUTHORIZATION, Client, Response, Wire, request

MIB = 1024 * 1024
PLAIN = b'{"packed": true}'
TOO_LARGE = "com.amazon.coral.service#RequestEntityTooLargeException"
FAILURE = {"__type": "com.amazon.coral.service#InternalFailure"}


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def members(data: bytes, size: int) -> bytes:
    return b"".join(gzip.compress(data[at : at + size]) for at in range(0, len(data), size))


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        (b"gzip", gzip.compress(PLAIN)),
        (b"GZIP", gzip.compress(PLAIN)),
        (b"x-gzip", gzip.compress(PLAIN)),
        (b"gzip", members(PLAIN, 1)),
        (b"gzip", gzip.compress(b"") * 255 + gzip.compress(PLAIN)),
        (b"gzip", members(b" " * 300_000 + PLAIN, 100_000)),
        (b"deflate", zlib.compress(PLAIN)),
        (b"deflate", zlib.compress(PLAIN, 9)),
        (b"deflate", raw_deflate(PLAIN)),
        (b"identity", PLAIN),
    ],
    ids=range(10),
)
def test_requests_come_in_every_coding(wire: Wire, coding: bytes, body: bytes) -> None:
    assert wire.post("Echo", body, b"Content-Encoding: " + coding).json == {"packed": True}


BROKEN = {
    "nothing": b"",
    "plain": b"{}",
    "one byte": b"\x1f",
    "nonsense behind a magic number": b"\x1f\x8bnonsense",
    "a header alone": b"\x78\x9c",
    "ones": b"\xff" * 100,
    "gzip cut short": gzip.compress(PLAIN)[:-4],
    "gzip with a wrong length": gzip.compress(PLAIN)[:-1] + b"\1",
    "gzip and a byte": gzip.compress(PLAIN) + b"x",
    "gzip and half a member": gzip.compress(PLAIN) + gzip.compress(b"x")[:9],
    "257 members": gzip.compress(b"") * 256 + gzip.compress(PLAIN),
    "zlib cut short": zlib.compress(PLAIN)[:-1],
    "zlib and a byte": zlib.compress(PLAIN) + b"x",
    "deflate cut short": raw_deflate(PLAIN)[:-1],
}


@pytest.mark.parametrize("coding", [b"gzip", b"deflate"])
@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_unpacked_is_a_failure_as_the_service_has_it(
    wire: Wire, coding: bytes, body: bytes
) -> None:
    answer = wire.post("Echo", body, b"Content-Encoding: " + coding)
    assert (answer.status, answer.json) == (500, FAILURE)
    assert answer.headers["x-amzn-errortype"] == "InternalFailure"
    assert answer.crc_matches()


def test_another_coding_is_no_json(wire: Wire) -> None:
    answer = wire.post("Echo", b"{}", b"Content-Encoding: br")
    assert (answer.status, answer.error) == (400, "com.amazon.coral.service#SerializationException")


def padded(size: int) -> bytes:
    return b'{"a": "' + b"x" * (size - 9) + b'"}'


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        (b"gzip", gzip.compress),
        (b"gzip", lambda data: members(data, 1000)),
        (b"deflate", zlib.compress),
        (b"deflate", raw_deflate),
    ],
)
def test_a_body_may_be_as_large_unpacked_as_plain(
    small_wire: Callable[..., Wire], coding: bytes, pack: Callable[[bytes], bytes]
) -> None:
    wire = small_wire(body_bytes_max=100_000)
    header = b"Content-Encoding: " + coding
    assert wire.post("Echo", pack(padded(100_000)), header).status == 200
    answer = wire.post("Echo", pack(padded(100_001)), header)
    assert (answer.status, answer.error) == (413, TOO_LARGE)


@pytest.mark.parametrize("member_bytes", [64 * MIB, MIB])
def test_a_bomb_is_not_unpacked_past_the_limit(member_bytes: int) -> None:
    bomb = members(b"\0" * (64 * MIB), member_bytes)
    tracemalloc.start()
    try:
        with pytest.raises(ApiError) as refused:
            compression.unpacked(b"gzip", bomb, MIB)
        assert refused.value.status == 413
        assert tracemalloc.get_traced_memory()[1] < 8 * MIB
    finally:
        tracemalloc.stop()


# The size of what `Big` answers with.
def sized(size: int) -> dict[str, int]:
    return {"bytes": size - 2}


def unpacked(answer: Response) -> bytes:
    match answer.headers["content-encoding"]:
        case "gzip":
            return gzip.decompress(answer.body)
        case "deflate":
            return zlib.decompress(answer.body)
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize("coding", [b"gzip", b"deflate"])
@pytest.mark.parametrize("size", [4097, 32 * 1024, 32 * 1024 + 1, MIB])
def test_answers_over_4_kb_leave_packed(wire: Wire, coding: bytes, size: int) -> None:
    plain = wire.post("Big", sized(size))
    assert "content-encoding" not in plain.headers
    answer = wire.post("Big", sized(size), b"Accept-Encoding: " + coding)
    assert answer.headers["content-encoding"] == coding.decode()
    assert unpacked(answer) == plain.body
    # The SDKs compare it with what they receive, before they unpack it.
    assert answer.crc_matches()
    kept = {
        "content-type",
        "x-amzn-requestid",
        "x-amz-crc32",
        "date",
        "connection",
        "server",
        "content-length",
    }
    assert answer.headers.keys() == kept | {"content-encoding"}


def test_answers_of_4_kb_leave_as_they_are(wire: Wire) -> None:
    answer = wire.post("Big", sized(4096), b"Accept-Encoding: gzip")
    assert "content-encoding" not in answer.headers
    assert len(answer.body) == 4096


def test_a_large_error_leaves_packed(wire: Wire) -> None:
    fields = {"CancellationReasons": ["x" * 5000]}
    body = {"code": "TransactionCanceledException", "message": "no", "fields": fields}
    answer = wire.post("Fail", body, b"Accept-Encoding: gzip")
    assert (answer.status, answer.headers["content-encoding"]) == (400, "gzip")
    assert orjson.loads(unpacked(answer))["CancellationReasons"] == fields["CancellationReasons"]
    assert answer.headers["x-amzn-errortype"] == "TransactionCanceledException"


def test_packed_and_plain_answers_keep_their_order(wire: Wire) -> None:
    from wiring import request

    sizes = [MIB, 10, 100_000, 5000, 2 * MIB, 20]
    with wire.connect() as client:
        client.send(b"".join(request("Big", sized(size), b"Accept-Encoding: gzip") for size in sizes))
        answers = [client.read() for _ in sizes]
    bodies = [unpacked(each) if "content-encoding" in each.headers else each.body for each in answers]
    assert [len(body) for body in bodies] == sizes


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        (b"gzip", b"gzip"),
        (b"deflate", b"deflate"),
        (b"gzip, deflate, br, zstd", b"gzip"),
        (b"deflate, gzip", b"gzip"),
        (b"GZip", b"gzip"),
        (b"deflate;q=0.9, gzip;q=0.5", b"deflate"),
        (b"gzip;q=0, deflate;q=0.1", b"deflate"),
        (b"gzip;q=0", b""),
        (b"gzip;q=0.000", b""),
        (b"gzip ; q=1.000", b"gzip"),
        (b"gzip;q=nonsense", b""),
        (b"gzip;q=2", b""),
        (b"identity", b""),
        (b"*", b""),
        (b"br", b""),
        (b"", b""),
        (b";;;,,,", b""),
    ],
)
def test_what_a_client_accepts(accepted: bytes, coding: bytes) -> None:
    assert compression.chosen(accepted) == coding


def test_an_item_leaves_packed_for_those_who_ask_for_it(
    server: Serving, make_client: Callable[..., Any]
) -> None:
    client = make_client()
    name = "compression"
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )
    client.get_waiter("table_exists").wait(TableName=name)
    item = {"pk": {"S": "a"}, "text": {"S": "words " * 5000}}
    client.put_item(TableName=name, Item=item)
    with Client(server.port) as raw:
        region = AUTHORIZATION.replace(b"eu-west-1", b"us-east-1")
        headers = b"Accept-Encoding: gzip", b"Authorization: " + region
        raw.send(request("GetItem", {"TableName": name, "Key": {"pk": {"S": "a"}}}, *headers))
        assert orjson.loads(unpacked(raw.read())) == {"Item": item}
    # botocore asks for identity by itself, and gets what it asks for.
    assert client.get_item(TableName=name, Key={"pk": {"S": "a"}})["Item"] == item
    client.delete_table(TableName=name)
