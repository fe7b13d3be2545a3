"""GetSessionToken: temporary credentials for whoever asks with a long-term key."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.auth.principals import PrincipalKind
from hashrange.services.sts import errors, sessions
from hashrange.services.sts.sessions import Credentials
from hashrange.storage.engine import Reader
from hashrange.storage.session_tokens import Session

_DEFAULT_SECONDS = 43_200
_ROOT_SECONDS_MAX = 3600


class GetSessionToken(Request, kw_only=True):
    """The request."""

    duration_seconds: Annotated[int, Meta(ge=900, le=129_600)] | None = None
    serial_number: Annotated[str, Meta(min_length=9, max_length=256)] | None = None
    token_code: Annotated[str, Meta(min_length=6, max_length=6)] | None = None


SHAPE = Shape(GetSessionToken)


class GetSessionTokenOutput(Response, kw_only=True):
    """The answer."""

    credentials: Credentials


def get_session_token(context: Context, request: GetSessionToken) -> Plan:
    """The session ends with the key that it was asked for with, at the latest."""
    caller = context.caller()
    if caller.issued_at is not None:
        raise errors.access_denied("Cannot call GetSessionToken with session credentials")
    if request.serial_number is not None or request.token_code is not None:
        raise errors.access_denied("MultiFactorAuthentication failed with invalid MFA one time pass code.")
    seconds = request.duration_seconds or _DEFAULT_SECONDS
    if caller.is_root:
        seconds = min(seconds, _ROOT_SECONDS_MAX)
    key_id, secret = sessions.new_pair()
    issued_at = float(int(context.clock.now()))
    is_user = caller.kind is PrincipalKind.USER
    session = Session(
        access_key_id=key_id,
        secret=secret,
        kind="user" if is_user else "root",
        account_id=caller.account_id,
        entity=caller.name.lower() if is_user else "",
        entity_id=caller.principal_id if is_user else "",
        # Without verified signatures nobody's key is known to be theirs.
        parent_key=None if context.principal is None else caller.access_key_id,
        issued_at=issued_at,
        expires_at=issued_at + seconds,
    )

    def step(_reader: Reader) -> Described:
        return Described(GetSessionTokenOutput(credentials=sessions.credentials(context, session)[0]))

    return Read(step)
