"""Principals: who signs requests, and what applies to them."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from hashrange.auth import arns
from hashrange.auth.policy.decision import Rules
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.policy.policy import Policy


class PrincipalKind(enum.Enum):
    """The kinds, as the key aws:PrincipalType and audit logs spell them."""

    ROOT = "Account"
    USER = "User"
    ASSUMED_ROLE = "AssumedRole"
    FEDERATED_USER = "FederatedUser"
    ANONYMOUS = "Anonymous"  # whoever has not signed, where that is not asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Whoever has signed a request."""

    account_id: str
    arn: str  # of a user, of an account's root, or of a session: arn:aws:sts::…:assumed-role/ROLE/SESSION
    kind: PrincipalKind
    principal_id: str  # AIDA…, AROA…:SESSION, or the account's number for its root
    name: str = ""  # of the user, or of the session
    access_key_id: str = ""
    role_arn: str | None = None  # of a role's session: what aws:PrincipalArn says
    tags: Mapping[str, str] = field(default_factory=dict)  # the session's go before the user's or role's
    transitive_tags: frozenset[str] = frozenset()
    issued_at: float | None = None  # of a session
    expires_at: float | None = None
    source_identity: str | None = None
    context: Mapping[str, KeyValue] = field(default_factory=dict)  # condition keys that a session carries
    identity: Sequence[Policy] = ()
    boundary: Policy | None = None
    session: Sequence[Policy] | None = None  # None: the session has no policy of its own
    # Made once: every request of the principal needs them.
    _caller: Caller = field(init=False, repr=False, compare=False)
    _keys: MappingProxyType[str, KeyValue] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        has_id = self.kind in {PrincipalKind.USER, PrincipalKind.ASSUMED_ROLE}
        unique_id = self.principal_id.partition(":")[0] if has_id else None
        caller = Caller(self.account_id, self.arn, self.role_arn, is_root=self.is_root, unique_id=unique_id)
        object.__setattr__(self, "_caller", caller)
        object.__setattr__(self, "_keys", MappingProxyType(self._condition_keys()))

    @property
    def principal_arn(self) -> str:
        """What the condition key aws:PrincipalArn says: a session's is that of its role."""
        return self.role_arn or self.arn

    @property
    def is_root(self) -> bool:
        """Whether it is an account's root."""
        return self.kind is PrincipalKind.ROOT

    def caller(self) -> Caller:
        """The principal as Principal elements of policies name it."""
        return self._caller

    def keys(self) -> MappingProxyType[str, KeyValue]:
        """The condition keys that say who asks, by their names in lower case."""
        return self._keys

    def _condition_keys(self) -> dict[str, KeyValue]:
        keys: dict[str, KeyValue] = {
            "aws:principalaccount": self.account_id,
            "aws:principalarn": self.principal_arn,
            "aws:principaltype": self.kind.value,
            "aws:userid": self.principal_id,
            **{f"aws:principaltag/{name.lower()}": value for name, value in self.tags.items()},
            **self.context,
        }
        if self.kind is PrincipalKind.USER:
            keys["aws:username"] = self.name
        if self.source_identity is not None:
            keys["aws:sourceidentity"] = self.source_identity
        return keys

    def rules(self, resource: Policy | None = None, owner: str | None = None) -> Rules:
        """What decides about a request of this principal, with the policy and the account of the resource."""
        return Rules(self.identity, self.boundary, self.session, resource, owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """An access key with its secret, which is shown nowhere."""

    access_key_id: str
    secret: str = field(repr=False)
    principal: Principal
    is_active: bool = True
    token: str | None = field(default=None, repr=False)  # of a session; None: a long-term key
    expires_at: float | None = None


def root(account_id: str, access_key_id: str = "") -> Principal:
    """The root of an account."""
    return Principal(
        account_id=account_id,
        arn=arns.account_root(account_id),
        kind=PrincipalKind.ROOT,
        principal_id=account_id,
        access_key_id=access_key_id,
    )


def anonymous(account_id: str) -> Principal:
    """Whoever has not signed: no policy allows them anything."""
    return Principal(account_id=account_id, arn="", kind=PrincipalKind.ANONYMOUS, principal_id="anonymous")
