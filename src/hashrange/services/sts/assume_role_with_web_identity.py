"""AssumeRoleWithWebIdentity: begin a session of a role with a token of an identity provider, and without a key."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.errors import ApiError, validation
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.auth import web_tokens
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.web_tokens import ExpiredToken, InvalidKeys, InvalidToken, WebIdentity
from hashrange.logs import Log
from hashrange.services.sts import errors, providers, sessions, trust
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

ACTION = "sts:AssumeRoleWithWebIdentity"
_DEFAULT_SECONDS = 3600

log = Log("services.sts")


class AssumeRoleWithWebIdentity(Request, kw_only=True):
    """The request."""

    role_arn: RoleArn
    role_session_name: SessionName
    web_identity_token: Annotated[str, Meta(min_length=4, max_length=20_000)]
    provider_id: Annotated[str, Meta(min_length=4, max_length=2048)] | None = None
    policy_arns: PolicyArns | None = None
    policy: SessionPolicy | None = None
    duration_seconds: Annotated[int, Meta(ge=900, le=43_200)] | None = None


SHAPE = Shape(AssumeRoleWithWebIdentity)


class AssumeRoleWithWebIdentityOutput(Response, kw_only=True):
    """The answer."""

    credentials: Credentials
    subject_from_web_identity_token: str
    assumed_role_user: AssumedRoleUser
    packed_policy_size: int | None = None
    provider: str
    audience: str


def assume_role_with_web_identity(context: Context, request: AssumeRoleWithWebIdentity) -> Plan:
    """The token says who it is, and the role's trust policy whether they may have the role."""
    if request.provider_id is not None:
        raise validation(
            "ProviderId is for access tokens of OAuth 2.0, which are not taken: send an ID token"
        )
    identity = _identified(context, request.web_identity_token)
    named = sessions.role_name(request.role_arn)
    sessions.check_policy(request.policy)
    policy_arns = tuple(policy.arn for policy in request.policy_arns or ())
    pair = sessions.new_pair()
    issued_at = float(int(context.clock.now()))

    def step(reader: Reader) -> Described:
        role = ROLES.find(reader, place_of(named.account_id), named.name.lower())
        if role is None or (role.path, role.name) != (named.path, named.name):
            raise errors.access_denied(f"Not authorized to perform {ACTION}")
        keys = _keys(identity, named.account_id)
        provider_arn = providers.arn_of(named.account_id, identity.provider)
        asked = {**keys, "sts:rolesessionname": request.role_session_name}
        trust.check_federated(context, named.account_id, role, ACTION, provider_arn, asked)
        sessions.check_policy_arns(reader, named.account_id, policy_arns)
        seconds = request.duration_seconds or _DEFAULT_SECONDS
        if seconds > role.max_session_seconds:
            raise validation(
                "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."
            )
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
            context=keys,
        )
        return Described(_answer(context, session, role, identity))

    return Read(step)


def _identified(context: Context, token: str) -> WebIdentity:
    try:
        known = providers.provider(context.settings)
        return web_tokens.verified(token, () if known is None else (known,), context.clock.now())
    except InvalidKeys as problem:
        log.error("oidc-keys.unreadable", reason=str(problem))
        raise ApiError(
            "IDPCommunicationError", "The keys of the identity provider cannot be read", status=400
        ) from None
    except ExpiredToken as expired:
        raise ApiError("ExpiredTokenException", str(expired)) from None
    except InvalidToken as invalid:
        raise ApiError("InvalidIdentityToken", str(invalid)) from None


def _keys(identity: WebIdentity, account_id: str) -> dict[str, KeyValue]:
    """The condition keys of the provider's claims, for the trust policy and for all requests of the session."""
    name = identity.provider.name.lower()
    return {
        f"{name}:sub": identity.subject,
        f"{name}:aud": identity.audience,
        "aws:federatedprovider": providers.arn_of(account_id, identity.provider),
    }


def _answer(
    context: Context, session: Session, role: Role, identity: WebIdentity
) -> AssumeRoleWithWebIdentityOutput:
    credentials, percent = sessions.credentials(context, session)
    return AssumeRoleWithWebIdentityOutput(
        credentials=credentials,
        subject_from_web_identity_token=identity.subject,
        assumed_role_user=AssumedRoleUser(
            assumed_role_id=f"{role.id}:{session.name}",
            arn=session_arn(session.account_id, role, session.name),
        ),
        packed_policy_size=percent if session.policy or session.policy_arns else None,
        provider=providers.arn_of(session.account_id, identity.provider),
        audience=identity.audience,
    )
