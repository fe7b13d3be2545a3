"""Who asks, as far as permissions need to know; and where a request came from."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from hashrange.auth import arns
from hashrange.auth.policy.decision import Rules
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.policy.policy import Policy


class Principal(Protocol):
    """A user, a role's session, a federated user or an account's root."""

    @property
    def account_id(self) -> str:
        """The account it belongs to."""

    @property
    def issued_at(self) -> float | None:
        """Since when its session lasts; None: it has a long-term key."""

    def caller(self) -> Caller:
        """How a policy's Principal element may name it."""

    def keys(self) -> Mapping[str, KeyValue]:
        """The condition keys that say who asks, by their names in lower case."""

    def rules(self, resource: Policy | None = None, owner: str | None = None) -> Rules:
        """What decides about a request, with the policy of the resource and the account that owns it."""


class Peer(msgspec.Struct, frozen=True):
    """The other end of a connection."""

    address: str | None = None
    secure: bool = False
    user_agent: str | None = None
    referer: str | None = None


class Root(msgspec.Struct, frozen=True):
    """The root of an account, which nothing but a resource policy can stop."""

    account_id: str
    issued_at: float | None = None

    def caller(self) -> Caller:
        """How a policy names it."""
        return Caller(self.account_id, arns.account_root(self.account_id), is_root=True)

    def keys(self) -> Mapping[str, KeyValue]:
        """What is known of it."""
        return {
            "aws:principalaccount": self.account_id,
            "aws:principalarn": arns.account_root(self.account_id),
            "aws:principaltype": "Account",
            "aws:userid": self.account_id,
        }

    def rules(self, resource: Policy | None = None, owner: str | None = None) -> Rules:
        """It has no policies of its own."""
        return Rules(resource=resource, owner=owner)
