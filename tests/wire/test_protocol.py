"""The JSON protocol: headers, checksums, errors, identities and what is no operation."""

import base64
import hashlib
from typing import Any

import pytest

from hashrange.ids import REQUEST_ID_CHARS
from wiring import AUTHORIZATION, Wire, request

SERVICE = "com.amazonaws.dynamodb.v20120810#"
CORAL = "com.amazon.coral.service#"


def test_headers_of_an_answer(wire: Wire) -> None:
    answer = wire.post("Echo", {"a": "ü"})
    assert answer.headers["content-type"] == "application/x-amz-json-1.0"
    assert len(answer.headers["x-amzn-requestid"]) == REQUEST_ID_CHARS
    assert answer.crc_matches()
    assert answer.headers["date"].endswith("GMT")
    assert wire.post("Echo", {}).headers["x-amzn-requestid"] != answer.headers["x-amzn-requestid"]


@pytest.mark.parametrize(
    ("sent", "given"),
    [
        (b"application/json", "application/json"),
        (b"application/x-amz-json-1.1", "application/x-amz-json-1.1"),
        (b"Application/X-Amz-JSON-1.0; charset=UTF-8", "application/x-amz-json-1.0"),
    ],
)
def test_the_content_type_is_given_back(wire: Wire, sent: bytes, given: str) -> None:
    answer = wire.post("Echo", {}, b"Content-Type: " + sent)
    assert (answer.status, answer.headers["content-type"]) == (200, given)


def test_another_content_type_is_no_operation(wire: Wire) -> None:
    for header in (b"Content-Type: text/plain", b"Content-Type:"):
        answer = wire.post("Echo", {}, header)
        assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")


@pytest.mark.parametrize("method", [b"PUT", b"DELETE", b"PATCH", b"GET"])
def test_another_method_is_no_operation(wire: Wire, method: bytes) -> None:
    with wire.connect() as client:
        client.send(request("Echo", {}).replace(b"POST /", method + b" /tables"))
        assert client.read().status == 404


@pytest.mark.parametrize("path", [b"/x", b"//", b"/dynamodb", b"/x?y=/"])
def test_another_path_is_no_operation(wire: Wire, path: bytes) -> None:
    with wire.connect() as client:
        client.send(request("Echo", {}).replace(b"POST /", b"POST " + path, 1))
        answer = client.read()
        assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")
        assert answer.headers["x-amz-crc32"] == "3552371480"
        client.send(request("Echo", {}).replace(b"POST /", b"POST /?x=y", 1))
        assert client.read().status == 200


def test_health(wire: Wire) -> None:
    with wire.connect() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = client.read()
        assert (answer.status, answer.body) == (200, b"healthy: dynamodb.us-east-1.amazonaws.com ")
        assert answer.headers["x-amz-crc32"] == "3128867991"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"nonsense", b'"text"', b"1", b"null", b'{"a":"\xff"}', b"[" * 100_000, b'{"a":NaN}']
)
def test_what_is_no_json_object_has_no_message(wire: Wire, body: bytes) -> None:
    answer = wire.post("Echo", body)
    assert (answer.status, answer.json) == (400, {"__type": CORAL + "SerializationException"})


def test_a_list_is_no_request(wire: Wire) -> None:
    message = "Start of list found where not expected"
    assert wire.post("Echo", []).json == {"__type": CORAL + "SerializationException", "Message": message}


@pytest.mark.parametrize(
    "target",
    [
        b"DynamoDB_20120810.Nothing",
        b"DynamoDBStreams_20120810.ListStreams",
        b"DynamoDB_20111205.Echo",
        b"Echo",
        b"",
    ],
)
def test_unknown_operations(wire: Wire, target: bytes) -> None:
    answer = wire.post("Echo", {}, b"X-Amz-Target: " + target)
    assert (answer.status, answer.json) == (400, {"__type": CORAL + "UnknownOperationException"})
    assert answer.headers["x-amzn-errortype"] == "UnknownOperationException"


@pytest.mark.parametrize(
    ("request_body", "answer_body"),
    [
        (
            {"code": "ValidationException", "message": "no"},
            {"__type": "com.amazon.coral.validate#ValidationException", "message": "no"},
        ),
        (
            {"code": "SerializationException", "message": "no"},
            {"__type": CORAL + "SerializationException", "Message": "no"},
        ),
        (
            {"code": "ConditionalCheckFailedException", "message": "no", "fields": {"Item": {}}},
            {"__type": SERVICE + "ConditionalCheckFailedException", "Message": "no", "Item": {}},
        ),
        (
            {"code": "ConditionalCheckFailedException", "message": "no"},
            {"__type": SERVICE + "ConditionalCheckFailedException", "message": "no"},
        ),
        (
            {"code": "TransactionCanceledException", "message": "no", "fields": {"CancellationReasons": []}},
            {"__type": SERVICE + "TransactionCanceledException", "Message": "no", "CancellationReasons": []},
        ),
    ],
)
def test_error_bodies(wire: Wire, request_body: dict[str, Any], answer_body: dict[str, Any]) -> None:
    answer = wire.post("Fail", request_body)
    assert (answer.status, answer.json) == (400, answer_body)
    assert answer.headers["x-amzn-errortype"] == request_body["code"]
    assert answer.crc_matches()


def test_a_bug_is_an_internal_error_that_tells_nothing(wire: Wire) -> None:
    answer = wire.post("Crash", {})
    body = {"__type": SERVICE + "InternalServerError", "message": "Internal server error"}
    assert (answer.status, answer.json) == (500, body)


def test_a_failed_write_is_answered_with_its_error(wire: Wire) -> None:
    answer = wire.post("Write", {"key": "f", "value": "v", "fail": True})
    assert answer.json["message"] == "the step failed"
    assert wire.post("Read", {"key": "f"}).json == {"value": ""}


def refused(wire: Wire, *headers: bytes, path: bytes = b"/") -> tuple[str, str]:
    with wire.connect() as client:
        client.send(request("Who", {}, *headers).replace(b"POST /", b"POST " + path, 1))
        answer = client.read()
        assert answer.status == 400
        return answer.error.removeprefix(CORAL), answer.json["message"]


def test_identity_comes_from_the_credential_scope(wire: Wire) -> None:
    assert wire.post("Who", {}).json == ["AKID", "eu-west-1"]
    tight = AUTHORIZATION.replace(b", ", b",").replace(b"AKID", b"OTHER")
    assert wire.post("Who", {}, b"Authorization: " + tight).json == ["OTHER", "eu-west-1"]
    turned = (
        b"AWS4-HMAC-SHA256 Signature=1, SignedHeaders=host, Credential=K/20260101/r-1/dynamodb/aws4_request"
    )
    for _ in range(2):
        assert wire.post("Who", {}, b"Authorization: " + turned).json == ["K", "r-1"]
    assert wire.post("Who", {}, b"X-Amz-Date:", b"Date: today").status == 200


def test_multi_region_signatures_use_the_servers_own_region(wire: Wire) -> None:
    asymmetric = (
        b"AWS4-ECDSA-P256-SHA256 Credential=K/20260101/dynamodb/aws4_request, SignedHeaders=host, Signature=1"
    )
    assert wire.post("Who", {}, b"Authorization: " + asymmetric).json == ["K", None]


def test_missing_authentication(wire: Wire) -> None:
    missing = ("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    assert refused(wire, b"Authorization:") == missing
    assert refused(wire, b"Authorization: Bearer abc") == missing


def test_incomplete_signatures(wire: Wire) -> None:
    code, message = refused(wire, b"Authorization: AWS4-HMAC-SHA256", b"X-Amz-Date:")
    assert code == "IncompleteSignatureException"
    assert message == (
        "Authorization header requires 'Credential' parameter. "
        "Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "(Hashed with SHA-256 and encoded with Base64) "
        "Authorization=YI2YWea8FSxnksZL2ETHbs5elHm9HQufxTLK0W0ffV0="
    )
    unsigned = AUTHORIZATION.removesuffix(b"0a1b")
    assert wire.post("Who", {}).status == 200  # now the scope is known
    for header in (unsigned, unsigned.removesuffix(b"Signature="), unsigned.removesuffix(b", Signature=")):
        _, message = refused(wire, b"Authorization: " + header)
        assert message.startswith("Authorization header requires 'Signature' parameter. (Hashed with SHA-256")
    assert refused(wire, b"X-Amz-Date:")[0] == "IncompleteSignatureException"


def test_malformed_signatures(wire: Wire) -> None:
    spaced = AUTHORIZATION.replace(b"AKID/", b"AKID /")
    code, message = refused(wire, b"Authorization: " + spaced)
    assert code == "IncompleteSignatureException"
    digest = base64.b64encode(hashlib.sha256(spaced).digest()).decode()
    assert message == (
        "Invalid key=value pair (missing equal-sign) in Authorization header (hashed with SHA-256 and encoded with "
        f"Base64): '{digest}'."
    )
    code, message = refused(wire, b"Authorization: " + AUTHORIZATION.replace(b"/eu-west-1", b""))
    assert message == (
        "Credential must have exactly 5 slash-delimited elements, "
        "e.g. keyid/date/region/service/term, got 'AKID/20260101/dynamodb/aws4_request'"
    )
    code, message = refused(wire, b"Authorization: " + AUTHORIZATION.replace(b"eu-west-1", b"a\xffb"))
    assert (code, message) == (
        "InvalidSignatureException",
        "Credential should be scoped to a valid region. ",
    )


def test_presigned_requests(wire: Wire) -> None:
    query = (
        b"/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=PK%2F20260101%2Fap-south-1%2Fdynamodb%2Faws4_request"
        b"&X-Amz-Date=20260101T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=1"
    )
    with wire.connect() as client:
        client.send(request("Who", {}, b"Authorization:").replace(b"POST /", b"POST " + query, 1))
        assert client.read().json == ["PK", "ap-south-1"]
    code, message = refused(wire, b"Authorization:", path=b"/?X-Amz-Algorithm=AWS4-HMAC-SHA256")
    assert code == "IncompleteSignatureException"
    assert message.startswith("AWS query-string parameters must include 'X-Amz-Credential'. AWS query")
    code, message = refused(wire, path=query)
    assert code == "InvalidSignatureException"
    assert message.startswith("Found both 'X-Amz-Algorithm' as a query-string param")
