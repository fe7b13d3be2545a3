"""Endpoints: their addresses, and signatures that AWS's own library would make too."""

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials

from hashrange_bench.endpoint import CallFailed, Endpoint, EndpointInvalid
from hashrange_bench.sigv4 import Credentials, Message, canonical_request
from serving import Serving


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://localhost", "localhost"),
        ("https://dynamodb.eu-west-1.amazonaws.com/", "dynamodb.eu-west-1.amazonaws.com"),
        ("http://[::1]:8000", "[::1]:8000"),
    ],
)
def test_an_address_is_read(url: str, authority: str) -> None:
    endpoint = Endpoint.parse(url)
    assert endpoint.authority == authority
    assert endpoint.url == url.rstrip("/")


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://localhost", "http://a/b", "http://a:port"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(EndpointInvalid):
        Endpoint.parse(url)


@pytest.mark.parametrize("token", ["", "a session's token"])
def test_the_signature_is_the_one_botocore_makes(token: str) -> None:
    credentials = Credentials("AKIDEXAMPLE", "secret/example", token)
    endpoint = Endpoint.parse("http://127.0.0.1:8000", region="eu-west-1", credentials=credentials)
    body = b'{"TableName":"t"}'
    headers = endpoint.headers("DescribeTable", body)

    signed = {"Host", "Content-Type", "X-Amz-Date", "X-Amz-Target", "X-Amz-Security-Token"} & headers.keys()
    request = AWSRequest(
        "POST", "http://127.0.0.1:8000/", {name: headers[name] for name in signed}, data=body
    )
    request.context["timestamp"] = headers["X-Amz-Date"]
    signer = SigV4Auth(BotoCredentials("AKIDEXAMPLE", "secret/example", token), "dynamodb", "eu-west-1")
    canonical = signer.canonical_request(request)
    signature = signer.signature(signer.string_to_sign(request, canonical), request)

    assert headers["Authorization"].endswith(f"Signature={signature}")
    assert "AKIDEXAMPLE/" in headers["Authorization"]


def test_the_signed_form_is_the_same_for_any_order_case_and_spacing_of_headers() -> None:
    plain = Message({"host": "a", "x-amz-date": "20260101T000000Z"}, b"")
    other = Message({"X-Amz-Date": " 20260101T000000Z", "Host": "a  "}, b"")
    assert canonical_request(plain) == canonical_request(other)


def test_a_request_is_whole() -> None:
    request = Endpoint.parse("http://127.0.0.1:8000").request("PutItem", '{"a":"ü"}')
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.startswith(b"POST / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert body.decode() == '{"a":"ü"}'


def test_a_refusal_carries_the_servers_words(server: Serving) -> None:
    endpoint = Endpoint.parse(server.endpoint)
    assert "TableNames" in endpoint.call("ListTables", "{}")
    with pytest.raises(CallFailed, match="DescribeTable: 400 ResourceNotFoundException") as refusal:
        endpoint.call("DescribeTable", '{"TableName":"hashrange-bench-none"}')
    assert refusal.value.code == "ResourceNotFoundException"
