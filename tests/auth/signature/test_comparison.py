"""The time that a refusal takes tells nothing: the same work for every key, compared as a whole."""

import hmac
from typing import Any

import pytest

from auth.signature.signing import ACCESS_KEY, NOW, SECRET, KnownKeys, credential_of, signed
from hashrange.auth.signature import repeats, verifier
from hashrange.auth.signature.rejection import Rejected
from hashrange.auth.signature.repeats import Repeats
from hashrange.auth.signature.verifier import SignedRequest, Verifier

Pair = tuple[Any, Any]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[Pair]:
    """What was compared in constant time."""
    pairs: list[Pair] = []

    def noting(first: Any, second: Any) -> bool:
        pairs.append((first, second))
        return hmac.compare_digest(first, second)

    for module in (verifier, repeats):
        monkeypatch.setattr(module, "compare_digest", noting)
    return pairs


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of what went into a hash with a key."""
    lengths: list[int] = []

    def noting(key: bytes, text: bytes, name: str) -> bytes:
        lengths.append(len(text))
        return hmac.digest(key, text, name)

    monkeypatch.setattr(verifier, "digest", noting)
    return lengths


def forged(request: SignedRequest, signature: bytes) -> SignedRequest:
    header = request.headers[b"Authorization"][:-64] + signature
    fields = [(name, header if name == b"Authorization" else value) for name, value in request.fields]
    return request._replace(headers=dict(fields), fields=fields)


def of_key(access_key: str) -> SignedRequest:
    request = signed()
    header = request.headers[b"Authorization"].replace(ACCESS_KEY.encode(), access_key.encode())
    fields = [(name, header if name == b"Authorization" else value) for name, value in request.fields]
    return request._replace(headers=dict(fields), fields=fields)


def refused(request: SignedRequest, keys: KnownKeys) -> str:
    with pytest.raises(Rejected) as raised:
        Verifier(keys).verified(request, "dynamodb", NOW)
    return raised.value.code


RIGHT = signed().headers[b"Authorization"][-64:]
NEARLY = RIGHT[:-1] + (b"1" if RIGHT.endswith(b"0") else b"0")
CASES = {
    "a key that nobody has": (of_key("AKIDNOBODY1"), KnownKeys(), "UnrecognizedClientException"),
    "a wrong secret": (
        signed(),
        KnownKeys(AKIDEXAMPLE=credential_of("other")),
        "InvalidSignatureException",
    ),
    "a wrong signature": (forged(signed(), b"0" * 64), KnownKeys(), "InvalidSignatureException"),
    "a signature that is nearly right": (forged(signed(), NEARLY), KnownKeys(), "InvalidSignatureException"),
    "a key that is switched off": (
        signed(),
        KnownKeys(AKIDEXAMPLE=credential_of(SECRET, is_active=False)),
        "UnrecognizedClientException",
    ),
}


@pytest.mark.parametrize(("request_", "keys", "code"), CASES.values(), ids=CASES.keys())
def test_every_refusal_compares_once_and_hashes_alike(
    request_: SignedRequest, keys: KnownKeys, code: str, compared: list[Pair], hashed: list[int]
) -> None:
    assert refused(request_, keys) == code
    ((first, second),) = compared
    assert len(first) == len(second) == 64
    assert type(first) is type(second)
    # Four steps to the key of the day, one with it: whether or not there is such a key.
    assert hashed[:3] == [len("20260102"), len("us-east-1"), len("dynamodb")]
    assert len(hashed) == 5
    assert hashed[3] == len("aws4_request")


@pytest.mark.parametrize("signature", [b"", b"0", b"0" * 63, b"0" * 65, "é".encode() * 32, b"X" * 64])
def test_what_is_no_signature_is_refused_before_it_is_compared(
    signature: bytes, compared: list[Pair]
) -> None:
    assert refused(forged(signed(), signature), KnownKeys()) in {
        "InvalidSignatureException",
        "IncompleteSignatureException",
    }
    assert compared == []


def test_a_request_like_others_before_is_compared_in_the_same_way(compared: list[Pair]) -> None:
    keys = KnownKeys()
    request = signed()
    known = Repeats(keys)
    known.remember(request.headers, Verifier(keys).verified(request, "dynamodb", NOW))
    compared.clear()
    assert known.verified(request.headers, request.body, "dynamodb", NOW) is not None
    wrong = forged(request, b"0" * 64)
    assert known.verified(wrong.headers, wrong.body, "dynamodb", NOW) is None
    assert [len(first) == len(second) == 64 for first, second in compared] == [True, True]
