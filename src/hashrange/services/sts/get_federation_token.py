"""GetFederationToken: credentials for somebody whom a user vouches for, with a part of what the user may do."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.protocol import kinds
from hashrange.api.protocol.kinds import JavaPattern
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.auth.principals import PrincipalKind
from hashrange.services.iam.structures import Tag
from hashrange.services.sts import errors, sessions
from hashrange.services.sts.sessions import Credentials, PolicyArns, SessionPolicy
from hashrange.storage.engine import Reader
from hashrange.storage.identities import federated_arn
from hashrange.storage.session_tokens import Session

_DEFAULT_SECONDS = 43_200
_NAME = JavaPattern(r"[\w+=,.@-]*", r"[A-Za-z0-9_+=,.@-]*")


class GetFederationToken(Request, kw_only=True):
    """The request."""

    name: Annotated[
        str,
        Meta(min_length=2, max_length=32, pattern=r"\A[A-Za-z0-9_+=,.@-]*\Z"),
        kinds.Name(least=2, most=32, pattern=_NAME),
    ]
    policy: SessionPolicy | None = None
    policy_arns: PolicyArns | None = None
    duration_seconds: Annotated[int, Meta(ge=900, le=129_600)] | None = None
    tags: Annotated[list[Tag], Meta(max_length=50)] | None = None


SHAPE = Shape(GetFederationToken)


class FederatedUser(Response, kw_only=True):
    """Who a session is."""

    federated_user_id: str
    arn: str


class GetFederationTokenOutput(Response, kw_only=True):
    """The answer."""

    credentials: Credentials
    federated_user: FederatedUser
    packed_policy_size: int | None = None


def get_federation_token(context: Context, request: GetFederationToken) -> Plan:
    """Only a user may vouch; without a policy the session may do nothing but what resource policies allow it."""
    caller = context.caller()
    if caller.issued_at is not None:
        raise errors.access_denied("Cannot call GetFederationToken with session credentials")
    if caller.kind is not PrincipalKind.USER:
        raise errors.access_denied(
            "GetFederationToken is for users: the root of an account has no such sessions"
        )
    sessions.check_policy(request.policy)
    policy_arns = tuple(policy.arn for policy in request.policy_arns or ())
    key_id, secret = sessions.new_pair()
    issued_at = float(int(context.clock.now()))
    session = Session(
        access_key_id=key_id,
        secret=secret,
        kind="federated",
        account_id=caller.account_id,
        entity=caller.name.lower(),
        entity_id=caller.principal_id,
        parent_key=None if context.principal is None else caller.access_key_id,
        name=request.name,
        issued_at=issued_at,
        expires_at=issued_at + (request.duration_seconds or _DEFAULT_SECONDS),
        policy=request.policy,
        policy_arns=policy_arns,
        tags=sessions.sent_tags(request.tags),
    )

    def step(reader: Reader) -> Described:
        sessions.check_policy_arns(reader, caller.account_id, policy_arns)
        credentials, percent = sessions.credentials(context, session)
        return Described(
            GetFederationTokenOutput(
                credentials=credentials,
                federated_user=FederatedUser(
                    federated_user_id=f"{caller.account_id}:{request.name}",
                    arn=federated_arn(caller.account_id, request.name),
                ),
                packed_policy_size=percent if session.policy or policy_arns or session.tags else None,
            )
        )

    return Read(step)
