"""Tokens of identity providers: what is signed by a published key for the right audience, and nothing else."""

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from hashrange.auth.web_tokens import (
    ExpiredToken,
    InvalidKeys,
    InvalidToken,
    Provider,
    published_keys,
    verified,
)

ISSUER = "https://id.example.org/realm"
RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
CLAIMS = {"iss": ISSUER, "sub": "user-1", "aud": "app", "exp": 2000, "iat": 900}


def part(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def number(value: int) -> str:
    return part(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def key_set() -> str:
    public, point = RSA.public_key().public_numbers(), EC.public_key().public_numbers()
    keys = [
        {
            "kty": "RSA",
            "kid": "r",
            "use": "sig",
            "alg": "RS256",
            "n": number(public.n),
            "e": number(public.e),
        },
        {"kty": "EC", "kid": "e", "crv": "P-256", "x": number(point.x), "y": number(point.y)},
        {"kty": "oct", "kid": "o", "k": "AAAA"},
    ]
    return json.dumps({"keys": keys})


PROVIDER = Provider(ISSUER, frozenset({"app"}), published_keys(key_set()))


def rsa_signature(text: bytes) -> bytes:
    return RSA.sign(text, padding.PKCS1v15(), hashes.SHA256())


def ec_signature(text: bytes) -> bytes:
    r, s = decode_dss_signature(EC.sign(text, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def token(header: dict[str, Any] | None = None, sign: Any = rsa_signature, **claims: Any) -> str:
    head = part(json.dumps({"alg": "RS256", "kid": "r"} if header is None else header).encode())
    content = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}
    text = f"{head}.{part(json.dumps(content).encode())}"
    return f"{text}.{part(sign(text.encode()))}"


@pytest.mark.parametrize(
    ("header", "sign"),
    [
        (None, rsa_signature),
        ({"alg": "RS256"}, rsa_signature),
        ({"alg": "ES256", "kid": "e"}, ec_signature),
    ],
)
def test_a_signed_token_says_whom_it_is_about(header: dict[str, Any] | None, sign: Any) -> None:
    identity = verified(token(header, sign), [PROVIDER], 1000)
    assert (identity.subject, identity.audience) == ("user-1", "app")
    assert identity.provider.name == "id.example.org/realm"


def public_pem() -> bytes:
    return RSA.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


@pytest.mark.parametrize(
    "forged",
    [
        token({"alg": "none"}, lambda _: b""),
        token({"alg": "None", "kid": "r"}, lambda _: b""),
        token({"alg": "HS256", "kid": "r"}, lambda text: hmac.digest(public_pem(), text, hashlib.sha256)),
        token({"alg": "HS256", "kid": "o"}, lambda text: hmac.digest(b"\0\0\0", text, hashlib.sha256)),
        token({"alg": "ES256", "kid": "r"}),
        token({"alg": "RS256", "kid": "e"}),
        token({"alg": "ES256", "kid": "e"}, lambda _: bytes(64)),
        token({"alg": "ES256", "kid": "e"}, lambda text: EC.sign(text, ec.ECDSA(hashes.SHA256()))),
        token({"alg": "RS256", "kid": "r", "crit": ["b64"]}),
        token({"kid": "r"}),
        token(sign=lambda text: rsa_signature(text + b"x")),
        token(iss="https://other.example.org"),
        token(iss=None),
        token(aud="other"),
        token(aud=None),
        token(aud={"app": 1}),
        token(sub=""),
        token(sub=None),
        token(sub=["user-1"]),
        token(exp=None),
        token(exp="3000"),
        token(exp=True),
        token(nbf=1500),
        token(iat=1500),
        *("", "a.b", "a.b.c", "..", "é.é.é", "a" * 100_000, "[" * 9000 + ".e30.e30"),
    ],
)
def test_no_other_token_is_taken(forged: str) -> None:
    with pytest.raises(InvalidToken):
        verified(forged, [PROVIDER], 1000)


def test_any_changed_character_is_noticed() -> None:
    good = token()
    for place in range(len(good)):
        letter = "A" if good[place] != "A" else "B"
        with pytest.raises(InvalidToken):
            verified(good[:place] + letter + good[place + 1 :], [PROVIDER], 1000)


def test_a_token_ends() -> None:
    assert verified(token(), [PROVIDER], 2059).subject
    with pytest.raises(ExpiredToken):
        verified(token(), [PROVIDER], 2060)


def test_several_audiences() -> None:
    assert verified(token(aud=["other", "app"]), [PROVIDER], 1000).audience == "app"
    assert verified(token(aud=["other", "app"], azp="other"), [PROVIDER], 1000).audience == "app"


@pytest.mark.parametrize(
    "document", ["", "[]", "{}", '{"keys":[]}', '{"keys":[{"kty":"RSA"}]}', '{"keys":[1]}']
)
def test_a_key_set_without_keys_is_refused(document: str) -> None:
    with pytest.raises(InvalidKeys):
        published_keys(document)


def test_a_short_rsa_key_is_not_used() -> None:
    weak = rsa.generate_private_key(65537, 1024).public_key().public_numbers()
    with pytest.raises(InvalidKeys):
        published_keys(json.dumps({"keys": [{"kty": "RSA", "n": number(weak.n), "e": number(weak.e)}]}))
