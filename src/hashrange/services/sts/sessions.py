"""Sessions: what STS gives out, and what their tokens hold."""

import re
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta, field

from hashrange.api.context import Context
from hashrange.api.errors import validation
from hashrange.api.protocol import kinds
from hashrange.api.protocol.kinds import JavaPattern
from hashrange.api.protocol.structures import Response, Structure
from hashrange.auth.policy import documents
from hashrange.auth.policy.documents import Kind, MalformedPolicy
from hashrange.core import limits
from hashrange.services.iam import access_keys
from hashrange.services.iam.structures import Tag
from hashrange.services.iam.views import is_built_in
from hashrange.services.sts import errors
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import POLICIES, arn_of, place_of
from hashrange.storage.session_tokens import Session, token_of

_NAME = JavaPattern(r"[\w+=,.@-]*", r"[A-Za-z0-9_+=,.@-]*")
_ROLE = re.compile(r"arn:aws:iam::([0-9]{12}):role(/|/[!-~]+/)([A-Za-z0-9_+=,.@-]{1,64})")

RoleArn = Annotated[str, Meta(min_length=20, max_length=2048)]
SessionName = Annotated[
    str,
    Meta(min_length=2, max_length=64, pattern=r"\A[A-Za-z0-9_+=,.@-]*\Z"),
    kinds.Name(least=2, most=64, pattern=_NAME),
]
SessionPolicy = Annotated[str, Meta(min_length=1, max_length=2048)]
Timestamp = Annotated[float, kinds.Timestamp()]


class PolicyDescriptor(Structure, kw_only=True):
    """A managed policy as a session policy."""

    arn: Annotated[str, Meta(min_length=20, max_length=2048)] = field(name="arn")


PolicyArns = Annotated[list[PolicyDescriptor], Meta(max_length=10)]


class Credentials(Response, kw_only=True):
    """Temporary credentials."""

    access_key_id: str
    secret_access_key: str
    session_token: str
    expiration: Timestamp


class AssumedRoleUser(Response, kw_only=True):
    """Who a session is."""

    assumed_role_id: str
    arn: str


class RoleName(msgspec.Struct, frozen=True):
    """The parts of a role's ARN."""

    account_id: str
    path: str
    name: str


def role_name(arn: str) -> RoleName:
    """The parts of the ARN of a role."""
    match = _ROLE.fullmatch(arn)
    if match is None:
        raise validation(f"{arn} is invalid")
    return RoleName(*match.groups())


def check_policy(policy: str | None) -> None:
    """Refuse a session policy that is none."""
    if policy is None:
        return
    try:
        documents.parse_new(policy, Kind.SESSION, name="session")
    except MalformedPolicy as malformed:
        raise errors.malformed_policy(str(malformed)) from None


def check_policy_arns(reader: Reader, account_id: str, arns: Iterable[str]) -> None:
    """Refuse managed policies that the role's account does not have."""
    for arn in arns:
        name = arn.rpartition("/")[2].lower()
        policy = None if is_built_in(arn) else POLICIES.find(reader, place_of(account_id), name)
        if not is_built_in(arn) and (policy is None or arn_of(account_id, policy) != arn):
            raise errors.malformed_policy(f"Policy {arn} does not exist or is not attachable.")


def sent_tags(sent: Iterable[Tag] | None) -> dict[str, str]:
    """The tags that a request gives a session; their keys differ in more than their case."""
    tags = {tag.key: tag.value for tag in sent or ()}
    if len({key.lower() for key in tags}) != len(list(sent or ())):
        raise validation("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
    if any(key.lower().startswith("aws:") for key in tags):
        raise validation("Tag keys that begin with aws: are reserved for system use.")
    return tags


def new_pair() -> tuple[str, str]:
    """A temporary key and its secret."""
    return access_keys.new_pair("ASIA")


def credentials(context: Context, session: Session) -> tuple[Credentials, int]:
    """The credentials of a session, and how much of a token's room it fills, in percent."""
    token = token_of(session, access_keys.seals(context).sessions)
    percent = -(-100 * len(token) // limits.SESSION_TOKEN_CHARS_MAX)
    if len(token) > limits.SESSION_TOKEN_CHARS_MAX:
        raise errors.too_large(percent)
    made = Credentials(
        access_key_id=session.access_key_id,
        secret_access_key=session.secret,
        session_token=token,
        expiration=session.expires_at,
    )
    return made, percent
