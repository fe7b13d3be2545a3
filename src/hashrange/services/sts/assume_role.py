"""AssumeRole: begin a session of a role."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.errors import validation
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.principals import Principal, PrincipalKind
from hashrange.core import limits
from hashrange.services.iam.structures import Tag, TagKey
from hashrange.services.sts import errors, sessions, trust
from hashrange.services.sts.sessions import (
    AssumedRoleUser,
    Credentials,
    PolicyArns,
    RoleArn,
    SessionName,
    SessionPolicy,
)
from hashrange.storage.engine import Reader
from hashrange.storage.identities import session_arn
from hashrange.storage.identity_rows import ROLES, Role, place_of
from hashrange.storage.session_tokens import Session

_DEFAULT_SECONDS = 3600
_CHAINED_SECONDS_MAX = 3600


class AssumeRole(Request, kw_only=True):
    """The request."""

    role_arn: RoleArn
    role_session_name: SessionName
    policy_arns: PolicyArns | None = None
    policy: SessionPolicy | None = None
    duration_seconds: Annotated[int, Meta(ge=900, le=43_200)] | None = None
    tags: Annotated[list[Tag], Meta(max_length=50)] | None = None
    transitive_tag_keys: Annotated[list[TagKey], Meta(max_length=50)] | None = None
    external_id: Annotated[str, Meta(min_length=2, max_length=1224)] | None = None
    serial_number: Annotated[str, Meta(min_length=9, max_length=256)] | None = None
    token_code: Annotated[str, Meta(min_length=6, max_length=6)] | None = None
    source_identity: SessionName | None = None


SHAPE = Shape(AssumeRole)


class AssumeRoleOutput(Response, kw_only=True):
    """The answer."""

    credentials: Credentials
    assumed_role_user: AssumedRoleUser
    packed_policy_size: int | None = None
    source_identity: str | None = None


def assume_role(context: Context, request: AssumeRole) -> Plan:
    """Trust policy and caller's policies decide; a role that is not there is refused in the same words."""
    caller = context.caller()
    if context.principal is not None and caller.is_root:
        raise errors.access_denied("Roles may not be assumed by root accounts.")
    if request.serial_number is not None or request.token_code is not None:
        raise errors.access_denied("MultiFactorAuthentication failed with invalid MFA one time pass code.")
    named = sessions.role_name(request.role_arn)
    sessions.check_policy(request.policy)
    policy_arns = tuple(policy.arn for policy in request.policy_arns or ())
    tags, transitive = _tags(caller, request)
    source_identity = _source_identity(caller, request)
    pair = sessions.new_pair()
    issued_at = float(int(context.clock.now()))

    def step(reader: Reader) -> Described:
        role = ROLES.find(reader, place_of(named.account_id), named.name.lower())
        if role is None or (role.path, role.name) != (named.path, named.name):
            raise errors.denied(caller.arn, "sts:AssumeRole", request.role_arn)
        actions, keys = _actions(request, source_identity), _keys(request, tags, source_identity)
        trust.check(context, named.account_id, role, actions, keys)
        sessions.check_policy_arns(reader, named.account_id, policy_arns)
        seconds = request.duration_seconds or _DEFAULT_SECONDS
        _check_duration(caller, role, seconds)
        session = Session(
            access_key_id=pair[0],
            secret=pair[1],
            kind="role",
            account_id=named.account_id,
            entity=role.name.lower(),
            entity_id=role.id,
            name=request.role_session_name,
            issued_at=issued_at,
            expires_at=issued_at + seconds,
            policy=request.policy,
            policy_arns=policy_arns,
            tags=tags,
            transitive_tags=transitive,
            source_identity=source_identity,
        )
        return Described(_answer(context, session, role))

    return Read(step)


def _answer(context: Context, session: Session, role: Role) -> AssumeRoleOutput:
    credentials, percent = sessions.credentials(context, session)
    return AssumeRoleOutput(
        credentials=credentials,
        assumed_role_user=AssumedRoleUser(
            assumed_role_id=f"{role.id}:{session.name}",
            arn=session_arn(session.account_id, role, session.name),
        ),
        packed_policy_size=percent if session.policy or session.policy_arns or session.tags else None,
        source_identity=session.source_identity,
    )


def _source_identity(caller: Principal, request: AssumeRole) -> str | None:
    """Who is behind the session: once that is said, no session that follows from it can say otherwise."""
    known = caller.source_identity
    if known is not None and request.source_identity not in {None, known}:
        raise errors.access_denied("The source identity of a session cannot be changed by role chaining.")
    return known or request.source_identity


def _actions(request: AssumeRole, source_identity: str | None) -> list[str]:
    actions = ["sts:AssumeRole"]
    if request.tags:
        actions.append("sts:TagSession")
    if source_identity is not None:
        actions.append("sts:SetSourceIdentity")
    return actions


def _keys(request: AssumeRole, tags: dict[str, str], source_identity: str | None) -> dict[str, KeyValue]:
    keys: dict[str, KeyValue] = {
        "sts:rolesessionname": request.role_session_name,
        **{f"aws:requesttag/{key.lower()}": value for key, value in tags.items()},
    }
    if request.tags:
        keys["aws:tagkeys"] = tuple(tag.key for tag in request.tags)
    if request.transitive_tag_keys:
        keys["sts:transitivetagkeys"] = tuple(request.transitive_tag_keys)
    if request.external_id is not None:
        keys["sts:externalid"] = request.external_id
    if source_identity is not None:
        keys["sts:sourceidentity"] = source_identity
    return keys


def _tags(caller: Principal, request: AssumeRole) -> tuple[dict[str, str], tuple[str, ...]]:
    """The tags of the session, and which of them the next one inherits; those that are inherited stay as they are."""
    inherited = {key: value for key, value in caller.tags.items() if key in caller.transitive_tags}
    fixed = {key.lower() for key in inherited}
    sent = sessions.sent_tags(request.tags)
    if fixed & {key.lower() for key in sent}:
        raise validation("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
    tags = sent | inherited
    if len(tags) > limits.IAM_TAGS_MAX:
        raise validation(f"A session has at most {limits.IAM_TAGS_MAX} tags.")
    missing = set(request.transitive_tag_keys or ()) - tags.keys()
    if missing:
        raise validation("The specified transitive tag key must be included in the requested tags.")
    return tags, tuple(sorted(caller.transitive_tags | set(request.transitive_tag_keys or ())))


def _check_duration(caller: Principal, role: Role, seconds: int) -> None:
    if seconds > role.max_session_seconds:
        raise validation("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
    if caller.kind is PrincipalKind.ASSUMED_ROLE and seconds > _CHAINED_SECONDS_MAX:
        raise validation(
            "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining."
        )
