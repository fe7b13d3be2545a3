"""With verified signatures: who is served, in which protocol, and in which words others are refused."""

import gzip
import json
from datetime import UTC, datetime
from functools import partial

import pytest

from auth.signature.signing import (
    ACCESS_KEY,
    HEADERS,
    NOW,
    SECRET,
    SESSION_KEY,
    KnownKeys,
    credential_of,
    signed,
)
from hashrange.auth.signature.signer import SigningKey, Target, signed_headers
from hashrange.auth.signature.verifier import SignedRequest
from signed_wire import OWN_PATH, SignedWire, as_bytes

FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
WHO = b"Action=GetCallerIdentity&Version=2011-06-15"
CBOR = {"Content-Type": "application/cbor", "Smithy-Protocol": "rpc-v2-cbor"}
CBOR_URL = "http://localhost:8000/service/GraniteServiceVersion20100801/operation/ListMetrics"
LARGE = b'{"TableName": "t", "Item": {"pk": {"S": "%b"}}}' % (b"x" * 100_000)
PUT = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810.PutItem"}
PACKED = gzip.compress(b'{"Limit": 1}', mtime=0)

GOOD = {
    "JSON": signed(),
    "a session": signed(session=True),
    "a large body": signed(LARGE, headers=PUT),
    "a compressed body": signed(PACKED, headers={**HEADERS, "Content-Encoding": "gzip"}),
    "a form": signed(WHO, headers=FORM, service="sts"),
    "CBOR": signed(b"\xa0", headers=CBOR, url=CBOR_URL, service="monitoring"),
    "a path of our own": signed(
        b"", headers={}, url=f"http://localhost:8000{OWN_PATH.decode()}", service="hashrange"
    ),
}


def with_field(request: SignedRequest, name: bytes, value: bytes | None) -> SignedRequest:
    fields = [field for field in request.fields if field[0] != name]
    return request._replace(fields=fields if value is None else [*fields, (name, value)])


@pytest.mark.parametrize("request_", GOOD.values(), ids=GOOD.keys())
def test_what_is_signed_is_served_again_and_again(request_: SignedRequest) -> None:
    """A request that is sent a second time within the window is served: the service does not remember them either."""
    wire = SignedWire()
    client = wire.client()
    for _ in range(3):
        assert client.send(as_bytes(request_)).startswith(b"HTTP/1.1 200 ")
    assert len(wire.served) == 3
    assert wire.client().send(as_bytes(request_)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("request_", GOOD.values(), ids=GOOD.keys())
@pytest.mark.parametrize("before", [False, True])
def test_what_is_not_signed_like_this_is_not_served(request_: SignedRequest, before: bool) -> None:
    """Also on a connection whose last request was good."""
    body = bytes(request_.body)
    spoilt = [
        with_field(request_, b"Authorization", None),
        with_field(request_, b"Authorization", request_.headers[b"Authorization"][:-1] + b"!"),
        with_field(request_, b"Authorization", request_.headers[b"Authorization"][:-64] + b"0" * 64),
        with_field(request_, b"X-Amz-Date", b"20260102T030406Z"),
        with_field(request_, b"Host", b"localhost:8001"),
        request_._replace(query=b"a=b"),
        request_._replace(fields=[*request_.fields, (b"Host", b"localhost:8000")]),
        request_._replace(body=body + b" ", fields=[*request_.fields]),
    ]
    for request in spoilt:
        wire = SignedWire()
        client = wire.client()
        if before:
            client.send(as_bytes(request_))
        answer = client.send(as_bytes(request))
        assert answer
        assert not answer.startswith(b"HTTP/1.1 200 ")
        assert len(wire.served) == before


@pytest.mark.parametrize("request_", GOOD.values(), ids=GOOD.keys())
def test_a_signature_is_good_for_a_quarter_of_an_hour(request_: SignedRequest) -> None:
    wire = SignedWire()
    client = wire.client()
    for now, served in ((NOW, 1), (NOW + 900, 2), (NOW - 900, 3), (NOW + 901, 3), (NOW - 901, 3)):
        wire.now = now
        client.send(as_bytes(request_))
        assert len(wire.served) == served, now


def test_a_key_of_another_service_opens_nothing() -> None:
    wire = SignedWire()
    client = wire.client()
    client.send(as_bytes(signed()))
    foreign = client.send(as_bytes(signed(service="sts")))
    assert b"Credential should be scoped to correct service: 'dynamodb'. " in foreign
    assert b"Credential should be scoped to correct service: 'sts'. " in client.send(
        as_bytes(signed(WHO, headers=FORM, service="dynamodb"))
    )
    assert len(wire.served) == 1


def test_json_services_say_it_their_way() -> None:
    client = SignedWire().client()
    missing = client.send(as_bytes(with_field(signed(), b"Authorization", None)))
    head, _, body = missing.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body) == {
        "__type": "com.amazon.coral.service#MissingAuthenticationTokenException",
        "message": "Request is missing Authentication Token",
    }


def test_forms_are_answered_with_short_codes_and_403() -> None:
    request = signed(WHO, headers=FORM, service="sts")
    cases = {
        b"<Code>MissingAuthenticationToken</Code>": with_field(request, b"Authorization", None),
        b"<Code>SignatureDoesNotMatch</Code>": request._replace(body=WHO + b"&a=b"),
        b"<Code>InvalidClientTokenId</Code>": with_field(
            request,
            b"Authorization",
            request.headers[b"Authorization"].replace(ACCESS_KEY.encode(), b"AKIDX"),
        ),
    }
    for code, spoilt in cases.items():
        answer = SignedWire().client().send(as_bytes(spoilt))
        assert answer.startswith(b"HTTP/1.1 403 "), answer
        assert code in answer
    keys = KnownKeys(**{SESSION_KEY: credential_of("another/secret", token="TOKEN" * 30, expires_at=NOW + 1)})
    late = SignedWire(keys)
    late.now = NOW + 2
    answer = late.client().send(as_bytes(signed(WHO, headers=FORM, service="sts", session=True)))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"<Code>ExpiredToken</Code>" in answer


def test_json_and_target_are_judged_before_the_signature() -> None:
    client = SignedWire().client()
    unsigned = with_field(signed(b"{"), b"Authorization", None)
    assert b"SerializationException" in client.send(as_bytes(unsigned))
    unknown = with_field(
        with_field(signed(), b"Authorization", None), b"X-Amz-Target", b"DynamoDB_20120810.No"
    )
    assert b"UnknownOperationException" in client.send(as_bytes(unknown))


def test_a_key_that_is_revoked_or_replaced_is_refused_at_once() -> None:
    keys = KnownKeys()
    wire = SignedWire(keys)
    client = wire.client()
    for _ in range(2):
        client.send(as_bytes(signed()))
    for key in (credential_of(SECRET, is_active=False), credential_of("another")):
        keys._keys[ACCESS_KEY] = key
        assert b"HTTP/1.1 400 " in client.send(as_bytes(signed()))
    del keys._keys[ACCESS_KEY]
    assert b"UnrecognizedClientException" in client.send(as_bytes(signed()))
    assert len(wire.served) == 2


def test_whoever_fails_too_often_is_put_off_and_nobody_else() -> None:
    wire = SignedWire(failures=1)
    friend, neighbour = wire.client("192.0.2.7"), wire.client("192.0.2.7")
    assert friend.send(as_bytes(signed())).startswith(b"HTTP/1.1 200 ")
    spoilt = as_bytes(signed()._replace(body=b'{"Limit":1}'))
    answers = [neighbour.send(spoilt) for _ in range(12)]
    assert [b"InvalidSignatureException" in answer for answer in answers] == [True] * 10 + [False] * 2
    assert b"ThrottlingException" in answers[-1]
    assert friend.send(as_bytes(signed())).startswith(b"HTTP/1.1 200 ")  # its key has been good before
    assert b"ThrottlingException" in neighbour.send(as_bytes(signed(session=True)))
    assert wire.client("192.0.2.8").send(as_bytes(signed(session=True))).startswith(b"HTTP/1.1 200 ")
    wire.now += 1
    assert neighbour.send(as_bytes(signed(session=True))).startswith(b"HTTP/1.1 200 ")


def test_all_addresses_of_one_network_count_as_one() -> None:
    wire = SignedWire(failures=1)
    spoilt = as_bytes(signed()._replace(body=b'{"Limit":1}'))
    answers = [wire.client(f"2001:db8::{number:x}").send(spoilt) for number in range(1, 12)]
    assert b"ThrottlingException" in answers[-1]
    assert b"InvalidSignatureException" in wire.client("2001:db8:0:1::1").send(spoilt)


def test_the_log_has_one_line_a_minute_and_nothing_secret(caplog: pytest.LogCaptureFixture) -> None:
    wire = SignedWire()
    spoilt = as_bytes(signed(session=True)._replace(body=b'{"Limit":1}'))
    for _ in range(50):
        wire.client().send(spoilt)
    assert [record.message for record in caplog.records] == ["signature.refused"]
    wire.now += 61
    wire.client().send(spoilt)
    fields = [record.__dict__["fields"] for record in caplog.records]
    assert [entry["times"] for entry in fields] == [1, 50]
    assert "TOKEN" not in str(fields)
    assert "x-amz" not in str(fields)


def test_the_debug_switch_shows_the_canonical_request_without_the_token(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wire = SignedWire(shows_canonical=True)
    answer = wire.client().send(as_bytes(signed(session=True)._replace(body=b'{"Limit":1}')))
    assert b"x-amz-date" not in answer
    shown = next(
        record.__dict__["fields"] for record in caplog.records if record.message == "signature.mismatch"
    )
    assert "x-amz-date:20260102T030405Z\nx-amz-security-token:(hidden)\nx-amz-target:" in shown["canonical"]
    assert "TOKEN" not in str(shown)


def test_what_our_own_commands_sign_is_accepted() -> None:
    wire = SignedWire()
    stamp = datetime.fromtimestamp(NOW, UTC).strftime("%Y%m%dT%H%M%SZ")
    for key in (SigningKey(ACCESS_KEY, SECRET), SigningKey(SESSION_KEY, "another/secret", "TOKEN" * 30)):
        target = Target(
            "GET", "[::1]:8000", OWN_PATH.decode(), "table=a%20b&index=c", "eu-west-1", "hashrange"
        )
        headers = signed_headers(target, b"", key, stamp)
        fields = [(name.title().encode(), value.encode()) for name, value in headers.items()]
        request = SignedRequest(b"GET", OWN_PATH, b"table=a%20b&index=c", dict(fields), fields, b"")
        assert wire.client().send(as_bytes(request)).startswith(b"HTTP/1.1 200 ")


IDENTITY_URL = f"http://localhost:8000/?{WHO.decode()}"


def test_a_form_may_be_in_a_signed_url() -> None:
    """A presigned GetCallerIdentity is how clusters and vaults have their users prove who they are."""
    get = partial(signed, b"", headers={}, url=IDENTITY_URL, service="sts", method="GET")
    wire = SignedWire()
    for request in (
        get(presigned_seconds=60),
        get(presigned_seconds=60, session=True),
        get(),
    ):
        assert wire.client().send(as_bytes(request)).startswith(b"HTTP/1.1 200 ")
    assert [served.operation for served in wire.served] == ["GetCallerIdentity"] * 3


def test_a_form_in_a_url_is_served_as_it_was_signed_only() -> None:
    request = signed(b"", headers={}, url=IDENTITY_URL, service="sts", method="GET", presigned_seconds=60)
    twice = signed(b"", headers={}, url=f"{IDENTITY_URL}&Action=GetSessionToken", service="sts", method="GET")
    wire = SignedWire()
    for spoilt, code in (
        (request._replace(query=WHO), b"MissingAuthenticationToken"),
        (
            request._replace(query=request.query.replace(b"GetCallerIdentity", b"GetSessionToken")),
            b"SignatureDoesNotMatch",
        ),
        (
            request._replace(query=request.query.replace(b"Expires=60", b"Expires=600")),
            b"SignatureDoesNotMatch",
        ),
        (request._replace(query=request.query + b"&Name=x"), b"SignatureDoesNotMatch"),
        # Their order is not signed: which of the two was meant is anybody's guess.
        (twice, b"MalformedInput"),
    ):
        answer = wire.client().send(as_bytes(spoilt))
        assert b"<Code>%b</Code>" % code in answer, answer
    assert wire.served == []
    wire.now = NOW + 61
    assert b"Signature expired: " in wire.client().send(as_bytes(request))


def test_odd_names_in_a_query_are_no_failure_of_the_server() -> None:
    query = (
        b"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20260102%2Fus-east-1%2Fdynamodb%2Faws4_request"
        b"&X-Amz-Date=20260102T030405Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-amz-target%3B%E2%82%AC%FF"
        b"&X-Amz-Signature=" + b"0" * 64
    )
    request = with_field(signed(), b"Authorization", None)._replace(query=query)
    assert b"InvalidSignatureException" in SignedWire().client().send(as_bytes(request))
    odd = request._replace(query=query.replace(b"AKIDEXAMPLE", b"%E2%82%AC%FF"))
    assert b"UnrecognizedClientException" in SignedWire().client().send(as_bytes(odd))


@pytest.mark.parametrize(
    "path", [b"/_hashrange/chaos/../clock", b"/_hashrange/./clock", b"/_hashrange//clock"]
)
def test_a_path_with_a_detour_does_not_lead_to_another_endpoint(path: bytes) -> None:
    """All of them are signed as /_hashrange/clock, and the first begins like a path of chaos."""
    wire = SignedWire()
    answer = wire.client().send(as_bytes(GOOD["a path of our own"]._replace(path=path)))
    assert not answer.startswith(b"HTTP/1.1 200 ")
    assert wire.served == []
