"""Who asks, as far as permissions need to know; and where a request came from."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from hashrange.auth import arns
from hashrange.auth.policy.decision import Rules
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.keys import KeyValue

ROOT = "Account"  # as aws:PrincipalType calls the root of an account


class Principal(Protocol):
    """A user, a role's session, a federated user or an account's root."""

    @property
    def caller(self) -> Caller:
        """How a policy's Principal element may name it."""

    @property
    def policies(self) -> Rules:
        """Its own policies, its boundary and its session's; those of resources are no part of it."""

    @property
    def tags(self) -> Mapping[str, str]:
        """Its tags, overlaid by its session's."""

    @property
    def keys(self) -> Mapping[str, KeyValue]:
        """The condition keys it has always, by their names in lower case.

        aws:userid and aws:principaltype for everybody; aws:username for users only; aws:tokenissuetime and the keys
        of a web identity for sessions.
        """


class Peer(msgspec.Struct, frozen=True):
    """The other end of a connection."""

    address: str | None = None
    secure: bool = False
    user_agent: str | None = None
    referer: str | None = None


class Root(msgspec.Struct, frozen=True):
    """The root of an account, which nothing but a resource policy can stop."""

    account_id: str
    policies: Rules = Rules()
    tags: dict[str, str] = {}

    @property
    def caller(self) -> Caller:
        """How a policy names it."""
        return Caller(self.account_id, arns.account_root(self.account_id), is_root=True)

    @property
    def keys(self) -> Mapping[str, KeyValue]:
        """What is known of it."""
        return {"aws:userid": self.account_id, "aws:principaltype": ROOT}
