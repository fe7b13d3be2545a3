"""Requests to the key service with the wrong type, or a hostile text, in the place of every member: no 500, no hang."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.session import get_session

from serving import Serving

RUBBISH: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 1.5, "", "x", "\0", "\ud800", "é" * 5000, "arn:aws:kms:::"),
    *("arn:aws:kms:us-east-1:000000000000:key/",),
    *("alias/", "alias/../x", "AAAA", "=", [], {}, [None], [{}], {"a": None}, {"a": 1}, {"": ""}, [[[[]]]]),
)  # fmt: skip
HEADERS = {
    "Content-Type": "application/x-amz-json-1.1",
    "Authorization": (
        "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/kms/aws4_request, SignedHeaders=host, Signature=0"
    ),
}


def requests(key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every member of every operation spoilt in turn, with good values in its required neighbours."""
    model = get_session().get_service_model("kms")
    good: dict[str, Any] = {
        "KeyId": key,
        "TargetKeyId": key,
        "DestinationKeyId": key,
        "AliasName": "alias/rubbish",
    }
    good |= {"Plaintext": "eA==", "CiphertextBlob": "AQ==", "PolicyName": "default", "NumberOfBytes": 1}
    for name in model.operation_names:
        shape = model.operation_model(name).input_shape
        if shape is None:
            continue
        needed = {member: good[member] for member in shape.required_members if member in good}
        for member in shape.members:
            for rubbish in RUBBISH:
                yield name, needed | {member: rubbish}


@pytest.fixture
def rubbish_key(kms: Any) -> str:
    return str(kms.create_key()["KeyMetadata"]["KeyId"])


def test_no_request_is_an_error_of_the_server(kms_server: Serving, kms: Any, rubbish_key: str) -> None:
    spoilt = 0
    for name, request in requests(rubbish_key):
        answer = kms_server.request(
            "POST", "/", json.dumps(request).encode(), {**HEADERS, "X-Amz-Target": f"TrentService.{name}"}
        )
        spoilt += 1
        assert answer.status in (200, 400), (name, request, answer.status, answer.body)
    assert spoilt > 1000
    assert kms.list_keys()["Keys"]
