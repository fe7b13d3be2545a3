"""Session tokens: everything about a session, sealed, so that no row has to be kept of it.

A token is bound to its access key. It is valid as long as the role, user or key that it was given for is there.
"""

import base64
import binascii
import zlib
from typing import Literal

import msgspec

from hashrange.auth.policy.keys import KeyValue
from hashrange.kms.sealing import NotSealed, Seal

TOKEN_CHARS_MAX = 8192  # what clients may send; a header has room for twice as much
_PLAIN_BYTES_MAX = 65_536
_VERSION = b"\x01"


class Session(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a token holds."""

    access_key_id: str
    secret: str
    kind: Literal["root", "user", "role", "federated"]
    account_id: str
    entity: str = ""  # the user's or role's name in lower case
    entity_id: str = ""  # that it had then: one that was made anew is another
    parent_key: str | None = None  # the long-term key that GetSessionToken was asked with
    name: str = ""  # of the session
    issued_at: float
    expires_at: float
    policy: str | None = None
    policy_arns: tuple[str, ...] = ()
    tags: dict[str, str] = {}
    transitive_tags: tuple[str, ...] = ()
    source_identity: str | None = None
    context: dict[str, str | tuple[str, ...]] = {}

    def condition_keys(self) -> dict[str, KeyValue]:
        """The condition keys that it carries."""
        return dict(self.context)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Session).decode


def token_of(session: Session, seal: Seal) -> str:
    """The token of a session."""
    packed = zlib.compress(_encode(session))
    sealed = seal.seal(packed, session.access_key_id.encode())
    return base64.b64encode(_VERSION + sealed).decode()


def session_of(access_key_id: str, token: str, seal: Seal) -> Session | None:
    """The session of a token; None if it is no token, or another key's."""
    if len(token) > TOKEN_CHARS_MAX:
        return None
    try:
        raw = base64.b64decode(token.encode("ascii"), validate=True)
        # Base64 leaves bits at the end that mean nothing; a token has one spelling all the same.
        if raw[:1] != _VERSION or base64.b64encode(raw).decode() != token:
            return None
        packed = seal.open(raw[1:], access_key_id.encode())
        plain = zlib.decompressobj().decompress(packed, _PLAIN_BYTES_MAX)
        session = _decode(plain)
    except (UnicodeError, binascii.Error, ValueError, NotSealed, zlib.error, msgspec.MsgspecError):
        return None
    return session if session.access_key_id == access_key_id else None
