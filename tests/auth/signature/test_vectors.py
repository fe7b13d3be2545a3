"""Whatever botocore's signer makes of a request is accepted: odd headers, unicode, blanks, paths, queries, sessions."""

from urllib.parse import quote

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from auth.signature.signing import ACCESS_KEY, HEADERS, NOW, SECRET, KnownKeys, signed, signing_time
from hashrange.auth.signature.rejection import Rejected
from hashrange.auth.signature.verifier import SignedRequest, Verifier

HOST = "http://localhost:8000"
# What HTTP lets a value have. Of the characters that Unicode counts among blanks botocore joins more than HTTP does.
VALUES = st.text(
    st.characters(
        min_codepoint=0x20, exclude_characters="\x7f", exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]
    )
    | st.sampled_from(" \t\"',;:=/%+"),
    max_size=40,
)
NAMES = st.from_regex(r"X-(Amz|Odd)-[A-Z][a-z0-9!#$&'*+.^_`|~]{0,8}", fullmatch=True).filter(
    lambda name: name.lower() not in {"x-amz-date", "x-amz-target", "x-amz-security-token"}
)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
QUERIES = st.lists(st.tuples(WORDS.filter(bool), WORDS), max_size=4)
SEGMENTS = st.lists(WORDS.filter(bool) | st.sampled_from([".", "..", "%2e", "a+b", "~"]), max_size=4)


@given(
    headers=st.dictionaries(NAMES, VALUES, max_size=4),
    query=QUERIES,
    segments=SEGMENTS,
    body=st.binary(max_size=60),
    session=st.booleans(),
    seconds=st.none() | st.integers(1, 604_800),
)
def test_what_botocore_signs_is_accepted(
    headers: dict[str, str],
    query: list[tuple[str, str]],
    segments: list[str],
    body: bytes,
    session: bool,
    seconds: int | None,
) -> None:
    path = "/" + "/".join(quote(segment, safe="%") for segment in segments)
    # A presigned URL has one parameter of a name, and no body: botocore would take it for a form.
    pairs = list(query) if seconds is None else list(dict(query).items())
    text = "&".join(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in pairs)
    request = signed(
        body if seconds is None else b"",
        headers={**HEADERS, **headers} if seconds is None else {},
        url=f"{HOST}{path}?{text}" if text else HOST + path,
        session=session,
        presigned_seconds=seconds,
    )
    assert Verifier(KnownKeys()).verified(request, "dynamodb", NOW).scope.region == "us-east-1"


def with_unsigned_body(marker: str | None) -> SignedRequest:
    """A request whose signature does not cover its body, as S3 has it over https."""
    body = b'{"Limit":1}'
    headers = HEADERS if marker is None else {**HEADERS, "X-Amz-Content-SHA256": marker}
    request = AWSRequest("POST", "https://localhost:8000/", data=body, headers=dict(headers))
    request.context["payload_signing_enabled"] = False
    with signing_time():
        SigV4Auth(Credentials(ACCESS_KEY, SECRET), "dynamodb", "us-east-1").add_auth(request)
    fields = [(b"Host", b"localhost:8000")]
    fields += [(name.title().encode(), str(value).encode()) for name, value in request.headers.items()]
    return SignedRequest(b"POST", b"/", b"", dict(fields), fields, body)


MARKERS = [
    None,
    "UNSIGNED-PAYLOAD",
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    "0" * 64,
]


@pytest.mark.parametrize("marker", MARKERS)
def test_a_body_that_is_not_signed_is_refused(marker: str | None) -> None:
    """Only S3 takes such bodies, or bodies whose chunks are signed one by one."""
    with pytest.raises(Rejected, match="The request signature we calculated does not match"):
        Verifier(KnownKeys()).verified(with_unsigned_body(marker), "dynamodb", NOW)


def test_a_presigned_url_with_asymmetric_keys_is_refused() -> None:
    request = signed(b"", headers={}, presigned_seconds=60)
    asymmetric = request.query.replace(b"AWS4-HMAC-SHA256", b"AWS4-ECDSA-P256-SHA256")
    with pytest.raises(Rejected, match="Unsupported AWS 'algorithm': 'AWS4-ECDSA-P256-SHA256'"):
        Verifier(KnownKeys()).verified(request._replace(query=asymmetric), "dynamodb", NOW)
