"""The directory: who has which access key, kept in memory and current among all processes.

A change raises the generation in its own transaction. The process that made it reads what has changed before it
answers; the others look for the generation at intervals, and read on a thread of the engine. Nobody who looks somebody
up waits for that. Policies are compiled, and secrets opened, when they are first asked for.
"""

from collections.abc import Mapping
from functools import partial
from itertools import count
from threading import Lock
from typing import Literal, NamedTuple

from hashrange.auth import arns
from hashrange.auth.principals import Credential, Principal
from hashrange.caches import BoundedCache
from hashrange.kms.key_source import KeySource
from hashrange.kms.sealing import ACCESS_KEYS, SESSIONS, NotSealed, Seal, check_value
from hashrange.logs import Log
from hashrange.storage import identity_rows, session_tokens
from hashrange.storage.engine import Engine
from hashrange.storage.identities import Address, Compiler, Identities, changed_identities, stored_identities
from hashrange.storage.identity_rows import AccessKey, Entity
from hashrange.storage.last_uses import LastUses
from hashrange.storage.session_tokens import Session

POLL_SECONDS = 0.5  # after which other processes see at the latest that a key was taken away
_CREDENTIALS_MAX = 4096

log = Log("storage.directory")


class Seals(NamedTuple):
    """What is needed to keep secrets."""

    access_keys: Seal
    sessions: Seal
    check_value: bytes


class _State(NamedTuple):
    identities: Identities
    accounts: frozenset[str]
    arns_by_id: Mapping[str, str]  # of users and roles
    credentials: BoundedCache[tuple[str, str | None], Credential]


class Directory:
    """Finds credentials by their access keys."""

    def __init__(self, engine: Engine, source: KeySource) -> None:
        self._engine = engine
        self._source = source
        self._seals: Seals | None = None
        self._compiler = Compiler()
        self._state: _State | None = None  # None: nobody needs it
        self._lock = Lock()
        self._tickets = count(1)
        self._accepted = 0
        self._is_polling = False
        self.last_uses = LastUses(engine)

    def start(self) -> None:
        """Read all identities, and keep them current from now on. Waits for the engine."""
        self._replace(next(self._tickets), self._engine.read(stored_identities))

    def credential(self, access_key: str, token: str | None = None, /) -> Credential | None:
        """The credential of an access key, or of a session's key with its token; None if nobody has it."""
        state = self._state
        if state is None:
            return None
        known = state.credentials.get((access_key, token))
        if known is not None:
            return known
        made = (
            self._of_key(state.identities, access_key)
            if token is None
            else self._of_token(state, access_key, token)
        )
        if made is not None:
            state.credentials.put((access_key, token), made)
        return made

    def user(self, account_id: str, name: str) -> Principal | None:
        """A user as a principal, whatever keys they have."""
        if self._state is None:
            return None
        identities = self._state.identities
        user = identities.users.get((account_id, name.lower()))
        return None if user is None else identities.of_user(account_id, user, self._compiler)

    def entity(self, account_id: str, kind: Literal["user", "group", "role"], name: str) -> Entity | None:
        """A user, a group or a role, by a name in any case; None if there is none, or nobody needs to know."""
        if self._state is None:
            return None
        identities = self._state.identities
        places: dict[str, Mapping[Address, Entity]] = {
            "user": identities.users,
            "group": identities.groups,
            "role": identities.roles,
        }
        return places[kind].get((account_id, name.lower()))

    def owner_of_key(self, account_id: str, access_key: str) -> str | None:
        """The user of an account who has a key, by the name in lower case; None if nobody has, or it is the root's."""
        entry = None if self._state is None else self._state.identities.keys.get(access_key)
        return None if entry is None or entry[0] != account_id else entry[1].user

    def has_principal(self, name: str) -> bool:
        """Whether a policy may name it: a user, a role or its session, or an account, that there is.

        Where signatures are not verified nobody is known, and anybody may be named.
        """
        state, named = self._state, arns.parsed(name)
        if state is None:
            return True
        if named is None:
            return name in state.arns_by_id
        if named.account_id not in state.accounts:
            return False
        kind, _, path = named.resource.partition("/")
        match kind:
            case "user" | "role":
                return self.unique_id(name) is not None
            case "assumed-role":
                role = self.entity(named.account_id, "role", path.partition("/")[0])
                return role is not None and role.name == path.partition("/")[0]
            case _:  # an account's root, or a federated user, who is kept nowhere
                return True

    def unique_id(self, arn: str) -> str | None:
        """The id of the user or role that has an ARN now; another one of that name will have another id."""
        named = arns.parsed(arn)
        if named is None:
            return None
        kind, _, path = named.resource.partition("/")
        match kind:
            case "user" | "role":
                entity = self.entity(named.account_id, kind, path.rpartition("/")[2])
            case _:
                return None
        if entity is None or identity_rows.arn_of(named.account_id, entity) != arn:
            return None
        return entity.id

    @property
    def is_open(self) -> bool:
        """Whether anybody is known: where signatures are not verified, nobody is."""
        return self._state is not None

    def arn_of_id(self, unique_id: str) -> str | None:
        """The ARN of a user or role; None if there is none of this id any more."""
        return None if self._state is None else self._state.arns_by_id.get(unique_id)

    def seals(self) -> Seals:
        """What seals secrets; raises `RootKeyInvalid` if there is no root key, and none can be made."""
        if self._seals is None:
            key = self._source.needed()
            self._seals = Seals(Seal(key, ACCESS_KEYS), Seal(key, SESSIONS), check_value(key))
        return self._seals

    def refresh(self) -> None:
        """Read what a committed change of this process has changed. Waits for the engine, but for a few rows only."""
        state = self._state
        if state is not None:
            ticket = next(self._tickets)
            self._replace(ticket, self._engine.read(partial(changed_identities, known=state.identities)))

    def poll(self) -> None:
        """Read what another process has changed, if it has; to be called at intervals. Never waits."""
        if self._state is None or self._is_polling:
            return
        self._is_polling = True
        current = self._state.identities.generation
        self._engine.submit_read(
            identity_rows.generation,
            lambda stored, error: self._polled(current, stored, error),
            reads=identity_rows.GENERATION_READS,
        )

    def _polled(self, current: bytes, stored: bytes | None, error: BaseException | None) -> None:
        state = self._state
        if error is not None or stored is None or stored == current or state is None:
            self._is_polling = False
            if error is not None:
                log.warning("identities.unread", error=error)
            return
        ticket = next(self._tickets)
        self._engine.submit_read(
            partial(changed_identities, known=state.identities),
            lambda identities, problem: self._reloaded(ticket, identities, problem),
        )

    def _reloaded(self, ticket: int, identities: Identities | None, error: BaseException | None) -> None:
        self._is_polling = False
        if identities is None:
            log.warning("identities.unread", error=error)
        else:
            self._replace(ticket, identities)

    def _replace(self, ticket: int, identities: Identities) -> None:
        """Take over what was read, unless what was asked for later is here already."""
        with self._lock:
            if ticket > self._accepted:
                self._accepted = ticket
                accounts, by_id = identities.accounts(), identities.arns_by_id()
                self._state = _State(identities, accounts, by_id, BoundedCache(_CREDENTIALS_MAX))

    def _of_key(self, identities: Identities, access_key: str) -> Credential | None:
        entry = identities.keys.get(access_key)
        if entry is None:
            return None
        account_id, key = entry
        principal = identities.of_key(account_id, key, self._compiler)
        secret = self._secret(key)
        if principal is None or secret is None:
            return None
        return Credential(
            access_key_id=key.id, secret=secret, principal=principal, is_active=key.status == "Active"
        )

    def _secret(self, key: AccessKey) -> str | None:
        try:
            return self.seals().access_keys.open(key.sealed, key.id.encode()).decode()
        except NotSealed:
            log.error("access-key.unreadable", access_key=key.id)
            return None

    def _of_token(self, state: _State, access_key: str, token: str) -> Credential | None:
        session = session_tokens.session_of(access_key, token, self.seals().sessions)
        principal = None if session is None else self.principal_of(session, state.identities)
        if session is None or principal is None:
            return None
        return Credential(
            access_key_id=access_key,
            secret=session.secret,
            principal=principal,
            token=token,
            expires_at=session.expires_at,
        )

    def principal_of(self, session: Session, identities: Identities) -> Principal | None:
        """Who has a session."""
        return identities.of_session(session, self._compiler)
