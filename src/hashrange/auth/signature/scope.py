"""Scope and time of a signature: for which day, region and service it was made, and when."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

from hashrange.auth.signature.rejection import incomplete, invalid

TERMINATOR = "aws4_request"
_BASIC = re.compile(r"\d{8}T\d{6}Z", re.ASCII)
_EXTENDED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_REGION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_PIECES = 5
_NO_REGION = "Credential should be scoped to a valid region. "
EXPIRES_SECONDS_MAX = 604_800


class Scope(NamedTuple):
    """The pieces of a credential behind its access key."""

    access_key: str
    date: str
    region: str
    service: str
    terminator: str


class SigningTime(NamedTuple):
    """When a request was signed."""

    text: str  # in the form that is signed
    seconds: float  # since 1970


def scope_of(credential: str) -> Scope:
    """The pieces of a credential."""
    pieces = credential.split("/")
    if len(pieces) != _PIECES:
        raise incomplete(
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
            f"got '{credential}'"
        )
    return Scope(*pieces)


def check_region(scope: Scope) -> None:
    """Refuse a scope whose region cannot be one."""
    if not _REGION.fullmatch(scope.region):
        raise invalid(_NO_REGION)


def check(scope: Scope, service: str, signed: SigningTime) -> None:
    """Refuse a scope that is not for this service and the day of the signature, with all that is wrong with it."""
    problems = []
    if not _REGION.fullmatch(scope.region):
        problems.append(_NO_REGION)
    if scope.service != service:
        problems.append(f"Credential should be scoped to correct service: '{service}'. ")
    if scope.terminator != TERMINATOR:
        problems.append(
            f"Credential should be scoped with a valid terminator: '{TERMINATOR}', not '{scope.terminator}'. "
        )
    if scope.date != signed.text[:8]:
        problems.append(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            f"'{scope.date}' != '{signed.text[:8]}', from '{signed.text}'."
        )
    if problems:
        raise invalid("".join(problems))


def signed_at(timestamp: str) -> SigningTime:
    """The time of a signature, from ISO 8601's basic form, or from the extended one, which is signed as the basic."""
    basic = timestamp.replace("-", "").replace(":", "") if _EXTENDED.fullmatch(timestamp) else timestamp
    if _BASIC.fullmatch(basic):
        try:
            moment = datetime.strptime(basic, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            pass
        else:
            return SigningTime(basic, moment.timestamp())
    raise incomplete(
        f"Date must be in ISO-8601 'basic format'. Got '{timestamp}'. See http://en.wikipedia.org/wiki/ISO_8601"
    )


def check_time(
    signed: SigningTime, now: float, *, skew_seconds: int, valid_seconds: int | None = None
) -> None:
    """Refuse what was signed too long ago, or in the future; a presigned URL is valid for a time of its own."""
    minutes = skew_seconds // 60
    lasts = skew_seconds if valid_seconds is None else valid_seconds
    if signed.seconds < now - lasts:
        raise invalid(
            f"Signature expired: {signed.text} is now earlier than {_basic(now - lasts)} "
            f"({_basic(now)} - {lasts // 60} min.)"
        )
    if signed.seconds > now + skew_seconds:
        raise invalid(
            f"Signature not yet current: {signed.text} is still later than {_basic(now + skew_seconds)} "
            f"({_basic(now)} + {minutes} min.)"
        )


def valid_seconds(expires: str) -> int:
    """How long a presigned URL is valid."""
    if (
        not expires.isascii()
        or not expires.isdigit()
        or not 1 <= int(expires[:7]) <= EXPIRES_SECONDS_MAX
        or len(expires) > 6
    ):
        raise incomplete(
            f"X-Amz-Expires must be a number of seconds from 1 to {EXPIRES_SECONDS_MAX}. Re-examine the query-string "
            "parameters."
        )
    return int(expires)


def _basic(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%dT%H%M%SZ")
