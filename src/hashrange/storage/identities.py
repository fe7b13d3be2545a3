"""All identities of one snapshot, and the principals that they make."""

from itertools import chain
from typing import TypeVar

import msgspec

from hashrange.auth import managed_policies, principals
from hashrange.auth.policy import documents
from hashrange.auth.policy.documents import Kind, MalformedPolicy
from hashrange.auth.policy.policy import Policy, unusable
from hashrange.auth.principals import Principal, PrincipalKind
from hashrange.caches import BoundedCache
from hashrange.storage import identity_rows
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import AccessKey, Entity, Group, ManagedPolicy, Role, User
from hashrange.storage.session_tokens import Session
from hashrange.storage.setting_rows import Place

Address = tuple[str, str]  # account, name in lower case
_COMPILED_MAX = 4096

K = TypeVar("K")
V = TypeVar("V")
_Compiled = BoundedCache[tuple[str, Kind, str, str | None], Policy]


class Compiler:
    """Compiles documents, and remembers what became of them beyond the next change of something else."""

    def __init__(self) -> None:
        self._compiled: _Compiled = BoundedCache(_COMPILED_MAX)

    def policy(self, document: str, kind: Kind, *, name: str, arn: str | None = None) -> Policy:
        """The compiled policy; one that cannot be read any more denies everything."""
        key = document, kind, name, arn
        policy = self._compiled.get(key)
        if policy is None:
            try:
                policy = documents.parse(document, kind, name=name, arn=arn)
            except MalformedPolicy:
                policy = unusable(name)
            self._compiled.put(key, policy)
        return policy


class Identities(msgspec.Struct, frozen=True):
    """The identities."""

    generation: bytes
    users: dict[Address, User]
    groups: dict[Address, Group]
    roles: dict[Address, Role]
    policies: dict[str, ManagedPolicy]  # by ARN
    keys: dict[str, tuple[str, AccessKey]]  # by id, with the account

    def accounts(self) -> frozenset[str]:
        """The accounts that anybody is in."""
        named = (account_id for account_id, _ in chain(self.users, self.groups, self.roles))
        return frozenset(chain(named, (account_id for account_id, _ in self.keys.values())))

    def arns_by_id(self) -> dict[str, str]:
        """The ARNs of users and roles, by their unique ids."""
        owned = chain(self.users.items(), self.roles.items())
        return {entity.id: identity_rows.arn_of(account_id, entity) for (account_id, _), entity in owned}

    def of_key(self, account_id: str, key: AccessKey, compiler: Compiler) -> Principal | None:
        """Who has a long-term key; None if its user is gone."""
        if key.user is None:
            return principals.root(account_id, key.id)
        user = self.users.get((account_id, key.user))
        return None if user is None else self.of_user(account_id, user, compiler, access_key_id=key.id)

    def of_user(
        self, account_id: str, user: User, compiler: Compiler, *, access_key_id: str = ""
    ) -> Principal:
        """A user."""
        groups = [self.groups.get((account_id, name)) for name in user.groups]
        entities = [user, *(group for group in groups if group is not None)]
        return Principal(
            account_id=account_id,
            arn=identity_rows.arn_of(account_id, user),
            kind=PrincipalKind.USER,
            principal_id=user.id,
            name=user.name,
            access_key_id=access_key_id,
            tags=user.tags,
            identity=[policy for entity in entities for policy in self.policies_of(entity, compiler)],
            boundary=self._boundary(user, compiler),
        )

    def of_session(self, session: Session, compiler: Compiler) -> Principal | None:
        """Who has a session; None if what it was given for is gone or disabled."""
        if session.parent_key is not None and not self._is_active(session.parent_key):
            return None
        limits = self._session_policies(session, compiler)
        principal: Principal | None = None
        match session.kind:
            case "root":
                principal = principals.root(session.account_id)
            case "user":
                user = self.users.get((session.account_id, session.entity))
                if user is not None and user.id == session.entity_id:
                    principal = self.of_user(session.account_id, user, compiler)
            case "role":
                principal = self._of_role(session, compiler)
            case "federated":
                principal = self._of_federated(session, compiler)
        if principal is None:
            return None
        if session.kind == "federated" and limits is None:
            limits = []  # without a policy nothing is allowed but by resource policies
        return _in_session(principal, session, limits)

    def _of_role(self, session: Session, compiler: Compiler) -> Principal | None:
        role = self.roles.get((session.account_id, session.entity))
        if role is None or role.id != session.entity_id:
            return None
        return Principal(
            account_id=session.account_id,
            arn=session_arn(session.account_id, role, session.name),
            kind=PrincipalKind.ASSUMED_ROLE,
            principal_id=f"{role.id}:{session.name}",
            name=session.name,
            role_arn=identity_rows.arn_of(session.account_id, role),
            tags=role.tags,
            identity=self.policies_of(role, compiler),
            boundary=self._boundary(role, compiler),
        )

    def _of_federated(self, session: Session, compiler: Compiler) -> Principal | None:
        """Whoever a user vouches for: they may do what the user and the session's policies both allow."""
        user = self.users.get((session.account_id, session.entity))
        if user is None or user.id != session.entity_id:
            return None
        vouching = self.of_user(session.account_id, user, compiler)
        return Principal(
            account_id=session.account_id,
            arn=federated_arn(session.account_id, session.name),
            kind=PrincipalKind.FEDERATED_USER,
            principal_id=f"{session.account_id}:{session.name}",
            name=session.name,
            identity=vouching.identity,
            boundary=vouching.boundary,
        )

    def _is_active(self, key_id: str) -> bool:
        entry = self.keys.get(key_id)
        return entry is not None and entry[1].status == "Active"

    def policies_of(self, entity: Entity, compiler: Compiler) -> list[Policy]:
        """The policies of a user, a group or a role itself."""
        inline = [
            compiler.policy(document, Kind.IDENTITY, name=name) for name, document in entity.policies.items()
        ]
        return [*inline, *(self._managed(arn, Kind.IDENTITY, compiler) for arn in entity.attached)]

    def _boundary(self, entity: Entity, compiler: Compiler) -> Policy | None:
        return None if entity.boundary is None else self._managed(entity.boundary, Kind.BOUNDARY, compiler)

    def _session_policies(self, session: Session, compiler: Compiler) -> list[Policy] | None:
        if session.policy is None and not session.policy_arns:
            return None
        managed = [self._managed(arn, Kind.SESSION, compiler) for arn in session.policy_arns]
        if session.policy is None:
            return managed
        return [compiler.policy(session.policy, Kind.SESSION, name="session"), *managed]

    def _managed(self, arn: str, kind: Kind, compiler: Compiler) -> Policy:
        """A managed policy; one that is not there denies everything, for nobody knows what it denied."""
        known = managed_policies.find(arn)
        if known is not None:
            return known
        stored = self.policies.get(arn)
        if stored is None:
            return unusable(arn)
        return compiler.policy(stored.default_version().document, kind, name=stored.name, arn=arn)


def session_arn(account_id: str, role: Role, name: str) -> str:
    """The ARN of a role's session, which leaves the role's path out."""
    return f"arn:aws:sts::{account_id}:assumed-role/{role.name}/{name}"


def federated_arn(account_id: str, name: str) -> str:
    """The ARN of a federated user."""
    return f"arn:aws:sts::{account_id}:federated-user/{name}"


def _in_session(principal: Principal, session: Session, limits: list[Policy] | None) -> Principal:
    return Principal(
        account_id=principal.account_id,
        arn=principal.arn,
        kind=principal.kind,
        principal_id=principal.principal_id,
        name=principal.name,
        access_key_id=session.access_key_id,
        role_arn=principal.role_arn,
        tags={**principal.tags, **session.tags},
        transitive_tags=frozenset(session.transitive_tags),
        issued_at=session.issued_at,
        expires_at=session.expires_at,
        source_identity=session.source_identity,
        context=session.condition_keys(),
        identity=principal.identity,
        boundary=principal.boundary,
        session=limits,
    )


def stored_identities(reader: Reader) -> Identities:
    """All identities in a snapshot."""
    return Identities(
        identity_rows.generation(reader),
        {(place.account_id, name): user for place, name, user in identity_rows.USERS.everywhere(reader)},
        {(place.account_id, name): group for place, name, group in identity_rows.GROUPS.everywhere(reader)},
        {(place.account_id, name): role for place, name, role in identity_rows.ROLES.everywhere(reader)},
        {
            identity_rows.arn_of(place.account_id, policy): policy
            for place, _, policy in identity_rows.POLICIES.everywhere(reader)
        },
        {key.id: (place.account_id, key) for place, _, key in identity_rows.ACCESS_KEYS.everywhere(reader)},
    )


def changed_identities(reader: Reader, known: Identities) -> Identities:
    """All identities in a snapshot, of which only those are read that have changed since they were known."""
    rows = identity_rows.changed_since(reader, known.generation)
    if rows is None:
        return stored_identities(reader)
    users, groups, roles = dict(known.users), dict(known.groups), dict(known.roles)
    policies, keys = dict(known.policies), dict(known.keys)
    for row in rows:
        if (found := identity_rows.USERS.address(row)) is not None:
            _set(users, _address(found), identity_rows.USERS.find(reader, *found))
        elif (found := identity_rows.GROUPS.address(row)) is not None:
            _set(groups, _address(found), identity_rows.GROUPS.find(reader, *found))
        elif (found := identity_rows.ROLES.address(row)) is not None:
            _set(roles, _address(found), identity_rows.ROLES.find(reader, *found))
        elif (found := identity_rows.POLICIES.address(row)) is not None:
            _set_policy(policies, *_address(found), identity_rows.POLICIES.find(reader, *found))
        elif (found := identity_rows.ACCESS_KEYS.address(row)) is not None:
            key = identity_rows.ACCESS_KEYS.find(reader, *found)
            _set(keys, found[1], None if key is None else (found[0].account_id, key))
    return Identities(identity_rows.generation(reader), users, groups, roles, policies, keys)


def _address(found: tuple[Place, str]) -> Address:
    return found[0].account_id, found[1]


def _set(known: dict[K, V], key: K, value: V | None) -> None:
    if value is None:
        known.pop(key, None)
    else:
        known[key] = value


def _set_policy(
    policies: dict[str, ManagedPolicy], account_id: str, name: str, policy: ManagedPolicy | None
) -> None:
    """A policy is found by its ARN, which has a path: one that was made anew may have another."""
    prefix = f"arn:aws:iam::{account_id}:"
    for arn, known in list(policies.items()):
        if known.name.lower() == name and arn.startswith(prefix):
            del policies[arn]
    if policy is not None:
        policies[identity_rows.arn_of(account_id, policy)] = policy
