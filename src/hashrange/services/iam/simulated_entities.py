"""Users, groups and roles as callers of simulated requests, with the policies that they have now."""

from typing import NamedTuple

import msgspec

from hashrange.api.context import Context
from hashrange.auth import arns, managed_policies
from hashrange.auth.policy import documents
from hashrange.auth.policy.documents import Kind, MalformedPolicy
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.policy import Policy, unusable
from hashrange.auth.principals import Principal, PrincipalKind
from hashrange.services.iam import errors
from hashrange.services.iam.entities import GROUPS, ROLES, USERS, place
from hashrange.services.iam.simulation import Simulated, Source
from hashrange.storage.engine import Reader
from hashrange.storage.identities import Compiler, Identities, session_arn
from hashrange.storage.identity_rows import POLICIES, Group, Role, User, arn_of

_SESSION = "simulated"
_NOBODY = Identities(b"", {}, {}, {}, {}, {})


class _Named(NamedTuple):
    kind: str
    name: str


def entity(reader: Reader, context: Context, arn: str) -> Simulated:
    """Whoever an ARN names, with their policies, those of their groups, and their boundary."""
    kind, name = _named(context, arn)
    if kind == "user":
        return _user(reader, context, USERS.get(reader, context, name))
    if kind == "role":
        return _role(reader, context, ROLES.get(reader, context, name))
    group = GROUPS.get(reader, context, name)
    caller = Caller(context.account_id, arn_of(context.account_id, group))
    return Simulated(caller=caller, identity=_sources(reader, context, group))


def _named(context: Context, arn: str) -> _Named:
    parts = arns.parsed(arn)
    if parts is None or parts.service not in {"iam", "sts"}:
        raise errors.invalid_input(f"Invalid ARN: {arn}")
    kind, _, rest = parts.resource.partition("/")
    if kind == "assumed-role":
        kind, rest = "role", rest.partition("/")[0]
    if kind not in {"user", "group", "role"} or not rest:
        raise errors.invalid_input(f"{arn} is neither a user nor a group nor a role")
    if parts.account_id != context.account_id:
        raise errors.no_such_entity(f"{arn} cannot be found.")
    return _Named(kind, rest.rpartition("/")[2])


def _user(reader: Reader, context: Context, user: User) -> Simulated:
    groups = [GROUPS.rows.find(reader, place(context), name) for name in user.groups]
    entities: list[User | Group] = [user, *(group for group in groups if group is not None)]
    bare = msgspec.structs.replace(user, policies={}, attached=(), groups=(), boundary=None)
    principal = _NOBODY.of_user(context.account_id, bare, Compiler())
    identity = [source for one in entities for source in _sources(reader, context, one)]
    known = _simulated(principal, identity, _boundary(reader, context, user))
    return msgspec.structs.replace(known, has_all_tags=True)


def _role(reader: Reader, context: Context, role: Role) -> Simulated:
    arn = arn_of(context.account_id, role)
    principal = Principal(
        account_id=context.account_id,
        arn=session_arn(context.account_id, role, _SESSION),
        kind=PrincipalKind.ASSUMED_ROLE,
        principal_id=f"{role.id}:{_SESSION}",
        name=_SESSION,
        role_arn=arn,
        tags=role.tags,
    )
    return _simulated(principal, _sources(reader, context, role), _boundary(reader, context, role))


def _simulated(principal: Principal, identity: list[Source], boundary: Source | None) -> Simulated:
    return Simulated(caller=principal.caller(), keys=principal.keys(), identity=identity, boundary=boundary)


def _sources(reader: Reader, context: Context, one: User | Group | Role) -> list[Source]:
    """The policies of a user, a group or a role, named as the service's results name them."""
    word = {User: "user", Group: "group", Role: "role"}[type(one)]
    inline = [
        Source(_compiled(document, Kind.IDENTITY, name), f"{word}_{one.name}_{name}", word)
        for name, document in one.policies.items()
    ]
    return [*inline, *(_managed(reader, context, arn, Kind.IDENTITY) for arn in one.attached)]


def _boundary(reader: Reader, context: Context, one: User | Role) -> Source | None:
    return None if one.boundary is None else _managed(reader, context, one.boundary, Kind.BOUNDARY)


def _managed(reader: Reader, context: Context, arn: str, kind: Kind) -> Source:
    name = arn.rpartition("/")[2]
    built_in = managed_policies.find(arn)
    if built_in is not None:
        return Source(built_in, name, "aws-managed")
    stored = POLICIES.find(reader, place(context), name.lower())
    if stored is None:
        return Source(unusable(arn), name, "user-managed")
    return Source(_compiled(stored.default_version().document, kind, stored.name), name, "user-managed")


def _compiled(document: str, kind: Kind, name: str) -> Policy:
    try:
        return documents.parse(document, kind, name=name)
    except MalformedPolicy:
        return unusable(name)
