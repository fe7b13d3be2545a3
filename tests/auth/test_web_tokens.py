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


def raw_token(claims: str, header: str = '{"alg":"RS256","kid":"r"}', encoding: str = "utf-8") -> str:
    """A token that is signed, whatever it says."""
    text = f"{part(header.encode(encoding))}.{part(claims.encode(encoding))}"
    return f"{text}.{part(rsa_signature(text.encode()))}"


def claims_with(text: str) -> str:
    return json.dumps(CLAIMS)[:-1] + text + "}"


def other_curve(text: bytes) -> bytes:
    key = ec.generate_private_key(ec.SECP384R1())
    r, s = decode_dss_signature(key.sign(text, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(48, "big") + s.to_bytes(48, "big")


PUBLIC_MODULUS = RSA.public_key().public_numbers().n
FORGED = {
    "no algorithm": token({"alg": "none"}, lambda _: b""),
    "no algorithm, in capitals": token({"alg": "NONE", "kid": "r"}, lambda _: b""),
    "no algorithm, a signature": token({"alg": "none", "kid": "r"}),
    "HMAC with the public key": token(
        {"alg": "HS256", "kid": "r"}, lambda text: hmac.digest(public_pem(), text, hashlib.sha256)
    ),
    "HMAC with the modulus": token(
        {"alg": "HS256"},
        lambda text: hmac.digest(PUBLIC_MODULUS.to_bytes(256, "big"), text, hashlib.sha256),
    ),
    "HMAC with a published secret": token(
        {"alg": "HS256", "kid": "o"}, lambda text: hmac.digest(b"\0\0\0", text, hashlib.sha256)
    ),
    "HMAC called RS256": token(sign=lambda text: hmac.digest(public_pem(), text, hashlib.sha256)),
    "an RSA key for ES256": token({"alg": "ES256", "kid": "r"}),
    "an EC key for RS256": token({"alg": "RS256", "kid": "e"}, ec_signature),
    "RSA by the EC key's name": token({"alg": "RS256", "kid": "e"}),
    "PSS": token({"alg": "PS256", "kid": "r"}),
    "a longer hash": token({"alg": "RS512", "kid": "r"}),
    "another curve": token({"alg": "ES384", "kid": "e"}, other_curve),
    "another curve called ES256": token({"alg": "ES256", "kid": "e"}, other_curve),
    "a point at infinity": token({"alg": "ES256", "kid": "e"}, lambda _: bytes(64)),
    "a signature in DER": token(
        {"alg": "ES256", "kid": "e"}, lambda text: EC.sign(text, ec.ECDSA(hashes.SHA256()))
    ),
    "a list of algorithms": token({"alg": ["RS256"], "kid": "r"}),
    "a header without algorithm": token({"kid": "r"}),
    "an extension that must be known": token({"alg": "RS256", "kid": "r", "crit": ["b64"]}),
    "a key of its own": token(
        {"alg": "ES256", "kid": "x", "jwk": {"kty": "EC"}, "jku": "http://evil.example/", "x5u": "x"},
        ec_signature,
    ),
    "a path for a key": token({"alg": "RS256", "kid": "../../../../dev/null"}),
    "a file for a key": token({"alg": "RS256", "kid": "file:///etc/passwd"}),
    "a query for a key": token({"alg": "RS256", "kid": "r' OR '1'='1"}),
    "a key that is empty": token({"alg": "RS256", "kid": ""}),
    "a list of keys": token({"alg": "RS256", "kid": ["r"]}),
    "a signature of something else": token(sign=lambda text: rsa_signature(text + b"x")),
    "no signature": token(sign=lambda _: b""),
    "another issuer": token(iss="https://other.example.org"),
    "a longer issuer": token(iss=ISSUER + "/"),
    "an issuer in other case": token(iss=ISSUER.upper()),
    "a list of issuers": token(iss=[ISSUER]),
    "no issuer": token(iss=None),
    "another audience": token(aud="other"),
    "an audience in other case": token(aud="APP"),
    "no audience": token(aud=None),
    "an empty list of audiences": token(aud=[]),
    "a list of other audiences": token(aud=["other", "app2"]),
    "audiences in a list in a list": token(aud=[["app"]]),
    "an audience that is an object": token(aud={"app": 1}),
    "made for another client": token(aud=["other", "app"], azp="other"),
    "made for a client that is no text": token(aud=["app"], azp=["app"]),
    "no subject": token(sub=None),
    "an empty subject": token(sub=""),
    "a list of subjects": token(sub=["user-1"]),
    "half a character": token(sub="user-\ud800"),
    "a line break in the subject": token(sub="user-1\n"),
    "a long subject": token(sub="x" * 256),
    "no end": token(exp=None),
    "an end that is text": token(exp="3000"),
    "an end that is true": token(exp=True),
    "an end that is not a number": raw_token(json.dumps({**CLAIMS, "exp": float("nan")})),
    "an end that never comes": raw_token(json.dumps({**CLAIMS, "exp": float("inf")})),
    "an end beyond all numbers": raw_token(json.dumps(CLAIMS).replace("2000", "1e999")),
    "an end with too many digits": raw_token(json.dumps(CLAIMS).replace("2000", "9" * 5000)),
    "not yet valid": token(nbf=1061),
    "a beginning that is text": token(nbf="0"),
    "made in the future": token(iat=1061),
    "two ends": raw_token(claims_with(', "exp": 3000')),
    "two subjects": raw_token(claims_with(', "sub": "admin"')),
    "two subjects, one escaped": raw_token(claims_with(', "s\\u0075b": "admin"')),
    "two algorithms": raw_token(json.dumps(CLAIMS), '{"alg":"none","alg":"RS256","kid":"r"}'),
    "another encoding": raw_token(json.dumps(CLAIMS), encoding="utf-16"),
    "claims that are a list": raw_token("[]"),
    "claims that are deep": raw_token("[" * 9000),
    "a huge token": token(padding="x" * 20_000),
    "four parts": token() + ".e30",
    "padding": token() + "=",
    "a space": token() + " ",
    **{f"no token {text[:8]}": text for text in ("", "a.b", "a.b.c", "..", "\xe9.\xe9.\xe9", "a" * 100_000)},
    "a deep header": "[" * 9000 + ".e30.e30",
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
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
    assert verified(token(aud=["other", "app"], azp="app"), [PROVIDER], 1000).audience == "app"


def test_both_sides_of_the_limits() -> None:
    assert verified(token(iat=1060, nbf=1060, exp=2000.5), [PROVIDER], 1000).subject == "user-1"
    assert verified(token(sub="x" * 255), [PROVIDER], 1000).subject == "x" * 255


@pytest.mark.parametrize("curve", [ec.SECP384R1(), ec.SECP256K1()])
def test_keys_of_other_curves_are_not_used(curve: ec.EllipticCurve) -> None:
    point = ec.generate_private_key(curve).public_key().public_numbers()
    entry = {"kty": "EC", "kid": "e", "x": number(point.x), "y": number(point.y)}
    for name in ("P-384", "secp256k1", "P-256"):  # the last one is a lie: the point is not on that curve
        with pytest.raises(InvalidKeys):
            published_keys(json.dumps({"keys": [{**entry, "crv": name}]}))


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
