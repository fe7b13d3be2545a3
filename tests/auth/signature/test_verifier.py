"""Signatures: what botocore signs is accepted, what was changed afterwards is not, and every fault has its words."""

import random
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from auth.signature.signing import (
    ACCESS_KEY,
    HEADERS,
    NOW,
    SECRET,
    SESSION_KEY,
    TOKEN,
    KnownKeys,
    credential_of,
    signed,
)
from hashrange.auth.signature.rejection import Rejected
from hashrange.auth.signature.scope import signed_at
from hashrange.auth.signature.verifier import SignedRequest, Verifier

INVALID, INCOMPLETE = "InvalidSignatureException", "IncompleteSignatureException"
MISMATCH = "The request signature we calculated does not match the signature you provided."


def verify(
    request: SignedRequest, *, now: float = NOW, service: str = "dynamodb", keys: KnownKeys | None = None
) -> Any:
    return Verifier(keys or KnownKeys()).verified(request, service, now)


def rejected(request: SignedRequest, **options: Any) -> Rejected:
    with pytest.raises(Rejected) as raised:
        verify(request, **options)
    return raised.value


def changed(request: SignedRequest, **headers: str | None) -> SignedRequest:
    """The request with other headers; names have underscores, None takes one away."""
    named = {name.replace("_", "-").encode(): value for name, value in headers.items()}
    fields = [(name, value) for name, value in request.fields if name not in named]
    fields += [(name, value.encode("latin-1")) for name, value in named.items() if value is not None]
    return request._replace(headers=dict(fields), fields=fields)


def authorization(request: SignedRequest, change: Callable[[str], str]) -> SignedRequest:
    return changed(request, Authorization=change(request.headers[b"Authorization"].decode()))


VECTORS = [
    (False, "849c0bebf81373491eb09607c3ba0559aaf1bbd77be371fff26f7d1fd9daf495"),
    (True, "029e50f411233e44bea3dc3c41e62d6f1a8d25f784f17de1231826cb90ef23c4"),
]


@pytest.mark.parametrize(("with_token", "signature"), VECTORS)
def test_known_signatures(with_token: bool, signature: str) -> None:
    headers = (
        "content-type;host;x-amz-date" + (";x-amz-security-token" if with_token else "") + ";x-amz-target"
    )
    fields = [
        (b"Host", b"localhost:8000"),
        (b"Content-Type", b"application/x-amz-json-1.0"),
        (b"X-Amz-Target", b"DynamoDB_20120810.ListTables"),
        (b"X-Amz-Date", b"20260102T030405Z"),
        *([(b"X-Amz-Security-Token", b"TOKEN")] if with_token else []),
        (
            b"Authorization",
            b"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/dynamodb/aws4_request, "
            b"SignedHeaders=%b, Signature=%b" % (headers.encode(), signature.encode()),
        ),
    ]
    keys = KnownKeys(AKIDEXAMPLE=credential_of(SECRET, token="TOKEN" if with_token else None))
    assert (
        verify(SignedRequest(b"POST", b"/", b"", dict(fields), fields, b"{}"), keys=keys).scope.region
        == "us-east-1"
    )


GOOD = {
    "plain": signed(),
    "a session": signed(session=True),
    "another region": signed(region="eu-central-1"),
    "unicode in the body": signed("äöü😀".encode()),
    "an empty body": signed(b""),
    "bytes in the body": signed(bytes(range(256))),
    "runs of blanks": signed(headers=HEADERS | {"X-Amz-Meta-A": "  a   b \t c  "}),
    "quotes": signed(headers=HEADERS | {"X-Amz-Meta-A": '"a   b"'}),
    "an empty header": signed(headers=HEADERS | {"X-Amz-Meta-A": ""}),
    "odd characters": signed(headers=HEADERS | {"X-Amz-Meta-A": "!#$%&'*+-.^_`|~:;,=/?"}),
    "a path": signed(url="http://localhost:8000/a/b%20c/../d/"),
    "a path of two slashes": signed(url="http://localhost:8000//a//b"),
    "a query": signed(url="http://localhost:8000/?b=2&a=1&a=0&c&d=%2F&e=a%20b&f=~"),
    "another host": signed(url="http://db.example.org/"),
    "the content's hash": signed(headers=HEADERS | {"X-Amz-Content-SHA256": sha256(b"{}").hexdigest()}),
    "GET": signed(b"", method="GET"),
}


@pytest.mark.parametrize("request_", GOOD.values(), ids=GOOD.keys())
def test_what_botocore_signs_is_accepted(request_: SignedRequest) -> None:
    assert verify(request_).credential.is_active


def test_a_presigned_url_is_accepted_until_it_expires() -> None:
    request = signed(b"", headers={}, presigned_seconds=3600)
    assert verify(request, now=NOW + 3599).credential.secret == SECRET
    assert rejected(request, now=NOW + 3601).message == (
        "Signature expired: 20260102T030405Z is now earlier than 20260102T030406Z (20260102T040406Z - 60 min.)"
    )
    assert rejected(request._replace(query=request.query.replace(b"3600", b"7200"))).code == INVALID
    assert rejected(request._replace(body=b"{}")).code == INVALID
    long = rejected(request._replace(query=request.query.replace(b"Expires=3600", b"Expires=6048000")))
    assert long.code == INCOMPLETE


def test_a_session_by_presigned_url() -> None:
    assert verify(signed(b"", headers={}, session=True, presigned_seconds=60)).scope.access_key == SESSION_KEY


def test_a_repeated_header_is_joined_in_the_order_sent() -> None:
    request = signed(headers=HEADERS | {"X-Amz-Meta-A": "b,a"})
    fields = [field for field in request.fields if field[0] != b"X-Amz-Meta-A"]
    twice = [*fields, (b"X-Amz-Meta-A", b" b "), (b"X-Amz-Meta-A", b"a")]
    assert verify(request._replace(fields=twice))
    other = [*fields, (b"X-Amz-Meta-A", b"a"), (b"X-Amz-Meta-A", b"b")]
    assert rejected(request._replace(fields=other)).message.startswith(MISMATCH)


def test_header_parameters_in_other_spellings() -> None:
    request = signed()
    assert verify(authorization(request, lambda sent: sent.replace(", ", ",")))
    assert verify(authorization(request, lambda sent: sent.replace(", ", "  ")))
    reordered = authorization(request, lambda sent: sent.replace("content-type;host", "Host;Content-Type"))
    assert verify(reordered)


def test_the_extended_form_of_the_date_is_signed_as_the_basic_one() -> None:
    assert signed_at("2026-01-02T03:04:05Z") == signed_at("20260102T030405Z") == ("20260102T030405Z", NOW)


CHANGED = {
    "the body": signed()._replace(body=b'{"Limit":1}'),
    "the target": changed(signed(), X_Amz_Target="DynamoDB_20120810.DeleteTable"),
    "the content type": changed(signed(), Content_Type="application/x-amz-json-1.1"),
    "the host": changed(signed(), Host="localhost:8001"),
    "the path": signed()._replace(path=b"/x"),
    "the method": signed()._replace(method=b"GET"),
    "the query": signed()._replace(query=b"a=1"),
    "the time": changed(signed(), X_Amz_Date="20260102T030406Z"),
    "the region": authorization(signed(), lambda sent: sent.replace("us-east-1", "us-west-2")),
    "the key": authorization(signed(), lambda sent: sent.replace(ACCESS_KEY, SESSION_KEY)),
    "fewer signed headers": authorization(signed(), lambda sent: sent.replace("content-type;", "")),
    "a signed header that was not sent": authorization(
        signed(), lambda sent: sent.replace("host;", "host;range;")
    ),
    "upper-case signature": authorization(signed(), lambda sent: sent[:-64] + sent[-64:].upper()),
    "a shorter signature": authorization(signed(), lambda sent: sent[:-1]),
    "another signature": authorization(signed(), lambda sent: sent[:-64] + "0" * 64),
    "the hash of another body": changed(
        signed(headers=HEADERS | {"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"})._replace(body=b"x")
    ),
}


@pytest.mark.parametrize("request_", CHANGED.values(), ids=CHANGED.keys())
def test_what_was_changed_afterwards_is_refused(request_: SignedRequest) -> None:
    rejection = rejected(request_)
    assert (rejection.code, rejection.message.startswith(MISMATCH)) == (INVALID, True)


def without(parameter: str) -> SignedRequest:
    def change(sent: str) -> str:
        word, _, rest = sent.partition(" ")
        kept = [part for part in rest.split(", ") if not part.startswith(parameter)]
        return f"{word} {', '.join(kept)}"

    return authorization(signed(), change)


def wrong_scope(before: str, after: str) -> SignedRequest:
    return authorization(signed(), lambda sent: sent.replace(before, after))


FAULTS = [
    (
        changed(signed(), Authorization=None),
        "MissingAuthenticationTokenException",
        "Request is missing Authentication Token",
    ),
    (
        changed(signed(), Authorization="Basic x"),
        "MissingAuthenticationTokenException",
        "Request is missing Authentication Token",
    ),
    (
        signed()._replace(query=b"X-Amz-Algorithm=x"),
        INVALID,
        "Found both 'X-Amz-Algorithm' as a query-string param",
    ),
    (without("Credential"), INCOMPLETE, "Authorization header requires 'Credential' parameter. (Hashed"),
    (without("Signature="), INCOMPLETE, "Authorization header requires 'Signature' parameter. (Hashed"),
    (
        changed(signed(), X_Amz_Date=None),
        INCOMPLETE,
        "Authorization header requires existence of either a 'X-Amz-Date'",
    ),
    (
        changed(signed(), Authorization="AWS4-HMAC-SHA256 nonsense"),
        INCOMPLETE,
        "Invalid key=value pair (missing equal-sign)",
    ),
    (
        changed(signed(), X_Amz_Date="yesterday"),
        INCOMPLETE,
        "Date must be in ISO-8601 'basic format'. Got 'yesterday'.",
    ),
    (
        changed(signed(), X_Amz_Date="20260231T000000Z"),
        INCOMPLETE,
        "Date must be in ISO-8601 'basic format'.",
    ),
    (wrong_scope("host;", ""), INVALID, "'Host' or ':authority' must be a 'SignedHeader'"),
    (wrong_scope(";x-amz-target", ""), INVALID, "'X-Amz-Target' must be a 'SignedHeader'"),
    (
        wrong_scope("AWS4-HMAC-SHA256 ", "AWS4-ECDSA-P256-SHA256 "),
        INCOMPLETE,
        "Unsupported AWS 'algorithm': 'AWS4-ECDSA-P256-SHA256' (only AWS4-HMAC-SHA256 for now).",
    ),
    (wrong_scope("/aws4_request", ""), INCOMPLETE, "Credential must have exactly 5 slash-delimited elements"),
    (wrong_scope("us-east-1", ""), INVALID, "Credential should be scoped to a valid region. "),
    (
        wrong_scope("/dynamodb/", "/s3/"),
        INVALID,
        "Credential should be scoped to correct service: 'dynamodb'. ",
    ),
    (
        wrong_scope("us-east-1/dynamodb/", "!/s3/"),
        INVALID,
        "Credential should be scoped to a valid region. Credential should be scoped to correct service: 'dynamodb'. ",
    ),
    (
        wrong_scope("aws4_request", "aws4"),
        INVALID,
        "Credential should be scoped with a valid terminator: 'aws4_request', not 'aws4'. ",
    ),
    (wrong_scope("/20260102/", "/20260101/"), INVALID, "Date in Credential scope does not match YYYYMMDD"),
    (
        wrong_scope(ACCESS_KEY, "AKIANOBODY"),
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    ),
]


@pytest.mark.parametrize(("request_", "code", "begins"), FAULTS)
def test_every_fault_has_its_words(request_: SignedRequest, code: str, begins: str) -> None:
    rejection = rejected(request_)
    assert (rejection.code, rejection.message[: len(begins)]) == (code, begins)


def test_the_time_of_a_signature() -> None:
    assert verify(signed(), now=NOW + 899)
    assert verify(signed(), now=NOW - 899)
    assert rejected(signed(), now=NOW + 901).message == (
        "Signature expired: 20260102T030405Z is now earlier than 20260102T030406Z (20260102T031906Z - 15 min.)"
    )
    assert rejected(signed(), now=NOW - 901).message == (
        "Signature not yet current: 20260102T030405Z is still later than 20260102T030404Z (20260102T024904Z + 15 min.)"
    )


def test_a_key_of_another_service() -> None:
    assert verify(signed(service="kms"), service="kms")
    assert rejected(signed(service="kms")).message.startswith(
        "Credential should be scoped to correct service"
    )


def test_the_state_of_a_key() -> None:
    inactive = rejected(signed(), keys=KnownKeys(AKIDEXAMPLE=credential_of(SECRET, is_active=False)))
    assert inactive.message == "The security token included in the request is invalid."
    assert rejected(signed(), keys=KnownKeys(AKIDEXAMPLE=credential_of("other"))).message.startswith(MISMATCH)
    with_token = changed(signed(), X_Amz_Security_Token=TOKEN)
    assert rejected(with_token).message == "The security token included in the request is invalid"
    assert (
        rejected(changed(signed(session=True), X_Amz_Security_Token="other")).code == INVALID
    )  # it was signed
    assert (
        rejected(
            signed(session=True),
            now=NOW + 899,
            keys=KnownKeys(ASIDEXAMPLE=credential_of("another/secret", token=TOKEN, expires_at=NOW + 10)),
        ).code
        == "ExpiredTokenException"
    )


def test_a_new_secret_takes_effect_at_once() -> None:
    keys = KnownKeys(AKIDEXAMPLE=credential_of("before"))
    verifier = Verifier(keys)
    with pytest.raises(Rejected):
        verifier.verified(signed(), "dynamodb", NOW)
    keys._keys[ACCESS_KEY] = credential_of(SECRET)
    assert verifier.verified(signed(), "dynamodb", NOW)


def test_the_keys_of_the_day_are_not_shown() -> None:
    verifier = Verifier(KnownKeys())
    verifier.verified(signed(), "dynamodb", NOW)
    assert SECRET not in repr(vars(verifier))


def test_no_mutation_of_a_signed_request_is_accepted() -> None:
    """Bytes of what is signed, changed one at a time at random places."""
    rng = random.Random(20120810)
    verifier = Verifier(KnownKeys())
    request = signed(b'{"TableName":"orders","Key":{"pk":{"S":"a"}}}')
    covered = {b"Host", b"Content-Type", b"X-Amz-Target", b"X-Amz-Date", b"Authorization"}
    for _ in range(3000):
        mutant = _mutated(request, rng, covered)
        try:
            verifier.verified(mutant, "dynamodb", NOW)
        except Rejected:
            continue
        assert _same_meaning(mutant, request), mutant


def _mutated(request: SignedRequest, rng: random.Random, covered: set[bytes]) -> SignedRequest:
    if rng.random() < 0.3:
        return request._replace(body=_other_byte(bytes(request.body), rng))
    fields = list(request.fields)
    at = rng.choice([number for number, (name, _) in enumerate(fields) if name in covered])
    fields[at] = fields[at][0], _other_byte(fields[at][1], rng)
    return request._replace(fields=fields, headers=dict(fields))


def _other_byte(sent: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(sent))
    return (
        sent[:at]
        + bytes([rng.choice([value for value in range(1, 256) if value != sent[at]])])
        + sent[at + 1 :]
    )


def _same_meaning(mutant: SignedRequest, request: SignedRequest) -> bool:
    """Blanks around values, separators and the case of header names in the list are not signed, and mean nothing."""

    def meaning(sent: SignedRequest) -> Any:
        values = {name: b" ".join(value.split()) for name, value in sent.fields}
        parts = values.pop(b"Authorization").replace(b",", b" ").split()
        lowered = {part.lower() if part.startswith(b"SignedHeaders=") else part for part in parts}
        return values, lowered, bytes(sent.body)

    return bool(meaning(mutant) == meaning(request))
