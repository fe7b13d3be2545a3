"""Requests signed by botocore, as any SDK would send them, and a directory that knows their keys."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from unittest.mock import patch
from urllib.parse import urlsplit

import botocore.auth
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hashrange.auth.principals import Credential, Principal, PrincipalKind
from hashrange.auth.signature.verifier import SignedRequest

ACCESS_KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
SESSION_KEY, SESSION_SECRET, TOKEN = "ASIDEXAMPLE", "another/secret", "TOKEN" * 30
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOW = MOMENT.timestamp()
HEADERS = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.ListTables"}


PRINCIPAL = Principal(
    account_id="111122223333",
    arn="arn:aws:iam::111122223333:user/somebody",
    kind=PrincipalKind.USER,
    principal_id="AIDASOMEBODY",
    name="somebody",
)


def credential_of(
    secret: str, *, is_active: bool = True, token: str | None = None, expires_at: float | None = None
) -> Credential:
    """The credential of somebody with this secret."""
    return Credential(
        access_key_id="",
        secret=secret,
        principal=PRINCIPAL,
        is_active=is_active,
        token=token,
        expires_at=expires_at,
    )


class KnownKeys:
    """A directory of two keys."""

    def __init__(self, **more: Credential) -> None:
        self._keys = {
            ACCESS_KEY: credential_of(SECRET),
            SESSION_KEY: credential_of(SESSION_SECRET, token=TOKEN, expires_at=NOW + 3600),
        } | more

    def credential(self, access_key: str, _token: str | None, /) -> Credential | None:
        return self._keys.get(access_key)


def signing_time() -> AbstractContextManager[object]:
    """Have botocore sign at the moment of these tests."""
    return patch.object(botocore.auth, "get_current_datetime", lambda: MOMENT.replace(tzinfo=None))


def signed(
    body: bytes = b"{}",
    *,
    headers: Mapping[str, str] = HEADERS,
    url: str = "http://localhost:8000/",
    session: bool = False,
    region: str = "us-east-1",
    service: str = "dynamodb",
    method: str = "POST",
    presigned_seconds: int | None = None,
) -> SignedRequest:
    """A request that botocore has signed."""
    request = AWSRequest(method=method, url=url, data=body, headers=dict(headers))
    credentials = (
        Credentials(SESSION_KEY, SESSION_SECRET, TOKEN) if session else Credentials(ACCESS_KEY, SECRET)
    )
    with signing_time():
        if presigned_seconds is None:
            SigV4Auth(credentials, service, region).add_auth(request)
        else:
            SigV4QueryAuth(credentials, service, region, expires=presigned_seconds).add_auth(request)
    parts = urlsplit(request.url)
    fields = [(b"Host", parts.netloc.encode())]
    fields += [(name.title().encode(), str(value).encode()) for name, value in request.headers.items()]
    target = parts.path.encode()
    return SignedRequest(method.encode(), target, parts.query.encode(), dict(fields), fields, body)
