"""The directory: who has which key, what applies to them, and how soon a change is seen."""

import secrets
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hashrange.auth.policy.decision import decide
from hashrange.auth.policy.statements import Asked
from hashrange.auth.principals import PrincipalKind
from hashrange.auth.signature.verifier import Directory as SignatureDirectory
from hashrange.kms.root_key import FILE_NAME
from hashrange.storage import identity_rows, root_key_record, session_tokens
from hashrange.storage.directory import Directory
from hashrange.storage.engine import Transaction
from hashrange.storage.errors import OpenError
from hashrange.storage.identities import changed_identities, stored_identities
from hashrange.storage.identity_rows import AccessKey, Group, ManagedPolicy, Role, User, Version
from hashrange.storage.session_tokens import Session
from hashrange.storage.sqlite import SqliteEngine
from hashrange.vaults import open_keys

ACCOUNT = "123456789012"
PLACE = identity_rows.place_of(ACCOUNT)
KEY = "AKIAIOSFODNN7EXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
TABLE = f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/t"


def allowing(action: str, effect: str = "Allow") -> str:
    return (
        '{"Version":"2012-10-17","Statement":'
        f'[{{"Effect":"{effect}","Action":"dynamodb:{action}","Resource":"*"}}]}}'
    )


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[SqliteEngine]:
    opened = SqliteEngine.open(tmp_path / "data")
    yield opened
    opened.close()


def opened(engine: SqliteEngine) -> Directory:
    return Directory(engine, open_keys("", engine)[1])


@pytest.fixture
def directory(engine: SqliteEngine) -> Directory:
    made = opened(engine)
    change(engine, lambda tx: populate(tx, made))
    made.start()
    return made


def change(engine: SqliteEngine, step: Callable[[Transaction], Any]) -> None:
    engine.write(step)


def populate(tx: Transaction, directory: Directory) -> None:
    seals = directory.seals()
    root_key_record.claim(tx, seals.check_value)
    common: dict[str, Any] = {"path": "/", "created_at": 1.0}
    arn = f"arn:aws:iam::{ACCOUNT}:policy/scan"
    user = User(
        name="Alice",
        id="AIDA1",
        groups=("staff",),
        policies={"get": allowing("GetItem")},
        tags={"team": "red"},
        **common,
    )
    identity_rows.USERS.save(tx, PLACE, "alice", user)
    identity_rows.GROUPS.save(tx, PLACE, "staff", Group(name="staff", id="AGPA1", attached=(arn,), **common))
    role = Role(name="Reader", id="AROA1", trust="{}", policies={"all": allowing("*")}, **common)
    identity_rows.ROLES.save(tx, PLACE, "reader", role)
    policy = ManagedPolicy(
        name="scan",
        path="/",
        id="ANPA1",
        created_at=1.0,
        updated_at=1.0,
        versions=(Version(1, allowing("PutItem"), 1.0), Version(2, allowing("Scan"), 1.0)),
        default=2,
        last=2,
    )
    identity_rows.POLICIES.save(tx, PLACE, "scan", policy)
    sealed = seals.access_keys.seal(SECRET.encode(), KEY.encode())
    identity_rows.ACCESS_KEYS.save(
        tx, PLACE, KEY, AccessKey(id=KEY, user="alice", created_at=1.0, sealed=sealed)
    )


def may(directory: Directory, action: str, key: str = KEY, token: str | None = None) -> bool:
    credential = directory.credential(key, token)
    assert credential is not None
    principal = credential.principal
    asked = Asked(f"dynamodb:{action}", TABLE, principal.caller(), principal.keys())
    return decide(asked, principal.rules()).allowed


def active(directory: Directory) -> bool:
    credential = directory.credential(KEY)
    assert credential is not None
    return credential.is_active


def polled(directory: Directory, is_seen: Callable[[], bool]) -> None:
    """Poll until something is seen; a read may be under way on another thread."""
    deadline = time.monotonic() + 60
    while not is_seen():
        assert time.monotonic() < deadline
        directory.poll()
        time.sleep(0.01)


def session(directory: Directory, **fields: Any) -> tuple[str, str]:
    """A session's key and token."""
    members: dict[str, Any] = {
        "access_key_id": "ASIA1",
        "secret": "s",
        "kind": "role",
        "account_id": ACCOUNT,
        "entity": "reader",
        "entity_id": "AROA1",
        "name": "me",
        "issued_at": 1.0,
        "expires_at": 2.0,
    }
    made = Session(**(members | fields))
    return made.access_key_id, session_tokens.token_of(made, directory.seals().sessions)


def test_a_key_has_its_secret_and_its_principal(directory: Directory) -> None:
    for_signatures: SignatureDirectory = directory
    assert for_signatures.credential(KEY, None) is directory.credential(KEY)
    credential = directory.credential(KEY)
    assert credential is not None
    assert (credential.secret, credential.is_active, credential.token) == (SECRET, True, None)
    assert SECRET not in repr(credential)
    principal = credential.principal
    assert principal.arn == f"arn:aws:iam::{ACCOUNT}:user/Alice"
    assert (principal.kind, principal.principal_id, principal.tags) == (
        PrincipalKind.USER,
        "AIDA1",
        {"team": "red"},
    )
    assert principal.keys()["aws:principaltag/team"] == "red"
    assert directory.credential("AKIANOBODY") is None
    assert directory.credential(KEY, "a token") is None


def test_own_and_groups_policies_count_in_their_default_version(directory: Directory) -> None:
    assert [may(directory, action) for action in ("GetItem", "Scan", "PutItem")] == [True, True, False]


def test_a_change_is_seen_after_refresh_or_poll_and_never_half(
    engine: SqliteEngine, directory: Directory
) -> None:
    other = opened(engine)
    other.start()
    key = engine.read(lambda reader: identity_rows.ACCESS_KEYS.find(reader, PLACE, KEY))
    assert key is not None
    off = msgspec.structs.replace(key, status="Inactive")
    change(engine, lambda tx: identity_rows.ACCESS_KEYS.save(tx, PLACE, KEY, off))
    directory.refresh()
    for seen in (directory, other):
        polled(seen, lambda seen=seen: not active(seen))
    change(engine, lambda tx: identity_rows.USERS.remove(tx, PLACE, "alice"))
    polled(other, lambda: other.credential(KEY) is None)


def test_a_policy_that_is_gone_or_damaged_denies_everything(
    engine: SqliteEngine, directory: Directory
) -> None:
    change(engine, lambda tx: identity_rows.POLICIES.remove(tx, PLACE, "scan"))
    directory.refresh()
    assert not may(directory, "GetItem")


def test_a_session_of_a_role_lives_as_long_as_the_role(engine: SqliteEngine, directory: Directory) -> None:
    key, token = session(directory)
    credential = directory.credential(key, token)
    assert credential is not None
    principal = credential.principal
    assert principal.arn == f"arn:aws:sts::{ACCOUNT}:assumed-role/Reader/me"
    assert principal.principal_arn == f"arn:aws:iam::{ACCOUNT}:role/Reader"
    assert (credential.expires_at, credential.token, principal.principal_id) == (2.0, token, "AROA1:me")
    assert may(directory, "PutItem", key, token)
    role = engine.read(lambda reader: identity_rows.ROLES.find(reader, PLACE, "reader"))
    assert role is not None
    anew = msgspec.structs.replace(role, id="AROA2")
    change(engine, lambda tx: identity_rows.ROLES.save(tx, PLACE, "reader", anew))
    directory.refresh()
    assert directory.credential(key, token) is None


def test_a_session_policy_limits_the_role(directory: Directory) -> None:
    key, token = session(directory, policy=allowing("GetItem"))
    assert may(directory, "GetItem", key, token)
    assert not may(directory, "PutItem", key, token)


def test_a_users_session_ends_with_the_key_it_was_begun_with(
    engine: SqliteEngine, directory: Directory
) -> None:
    key, token = session(directory, kind="user", entity="alice", entity_id="AIDA1", parent_key=KEY)
    assert may(directory, "GetItem", key, token)
    change(engine, lambda tx: identity_rows.ACCESS_KEYS.remove(tx, PLACE, KEY))
    directory.refresh()
    assert directory.credential(key, token) is None


def test_no_changed_or_exchanged_token_opens(directory: Directory) -> None:
    key, token = session(directory)
    other_key, other = session(directory, access_key_id="ASIA2")
    assert directory.credential(other_key, token) is None
    assert directory.credential(key, other) is None
    for place in range(len(token)):
        for letter in {"A", "B", "="} - {token[place]}:
            assert directory.credential(key, token[:place] + letter + token[place + 1 :]) is None
    for rubbish in ("", "=", "é", "AAAA", token[:-4], token + "AAAA", "A" * 100_000):
        assert directory.credential(key, rubbish) is None


def test_the_key_file_is_private_and_the_data_wants_it_back(
    engine: SqliteEngine, directory: Directory
) -> None:
    folder = engine.directory
    assert folder is not None
    path = folder / FILE_NAME
    assert path.stat().st_mode & 0o777 == 0o600
    again = opened(engine)
    again.start()
    credential = again.credential(KEY)
    assert credential is not None
    assert credential.secret == SECRET
    path.unlink()
    with pytest.raises(OpenError, match="--root-key"):
        open_keys("", engine)


def test_no_secret_is_in_the_files(engine: SqliteEngine, directory: Directory) -> None:
    folder = engine.directory
    assert folder is not None
    assert directory.credential(KEY) is not None
    for path in folder.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes()


class Counting:
    """An engine whose reads count what they look at."""

    def __init__(self, engine: SqliteEngine) -> None:
        self.engine = engine
        self.gets = self.scans = 0

    def read(self, step: Callable[[Any], Any], **options: Any) -> Any:
        return self.engine.read(lambda reader: step(self._counted(reader)), **options)

    def submit_read(self, step: Callable[[Any], Any], done: Any, **options: Any) -> None:
        self.engine.submit_read(lambda reader: step(self._counted(reader)), done, **options)

    def _counted(self, reader: Any) -> Any:
        def get(key: bytes) -> Any:
            self.gets += 1
            return reader.get(key)

        def scan(*arguments: Any, **options: Any) -> Any:
            self.scans += 1
            return reader.scan(*arguments, **options)

        return SimpleNamespace(get=get, scan=scan)


def test_a_change_among_5000_users_is_read_alone(engine: SqliteEngine, directory: Directory) -> None:
    """So a refresh, which the loop waits for, is short however many there are; nobody who looks up waits at all."""

    def many(tx: Transaction) -> None:
        for number in range(5000):
            user = User(name=f"u{number}", id=f"AIDA{number}", path="/", created_at=1.0)
            identity_rows.USERS.save(tx, PLACE, user.name, user)

    change(engine, many)
    counting: Any = Counting(engine)
    own, other = (Directory(counting, open_keys("", engine)[1]) for _ in range(2))
    for one in (own, other):
        one.start()
        assert one.user(ACCOUNT, "u4999") is not None
    assert counting.scans == 10
    counting.gets = counting.scans = 0
    bob = User(name="Bob", id="AIDABOB", path="/", created_at=1.0)
    change(engine, lambda tx: identity_rows.USERS.save(tx, PLACE, "bob", bob))
    change(engine, lambda tx: identity_rows.USERS.remove(tx, PLACE, "u1"))
    own.refresh()
    polled(other, lambda: other.user(ACCOUNT, "bob") is not None)
    for one in (own, other):
        assert one.user(ACCOUNT, "Bob") is not None
        assert one.user(ACCOUNT, "u1") is None
        assert one.user(ACCOUNT, "u2") is not None
    assert counting.scans == 0
    assert counting.gets < 100


def test_whoever_missed_too_many_changes_reads_everything(engine: SqliteEngine, directory: Directory) -> None:
    for number in range(70):
        user = User(name=f"u{number}", id=f"AIDA{number}", path="/", created_at=1.0)
        change(engine, lambda tx, user=user: identity_rows.USERS.save(tx, PLACE, user.name, user))
    directory.refresh()
    assert all(directory.user(ACCOUNT, f"u{number}") is not None for number in range(70))
    assert active(directory)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.booleans(), st.sampled_from("ugrpk")), max_size=30))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_following_changes_and_reading_everything_are_the_same(
    engine: SqliteEngine, changes: list[tuple[str, bool, str]]
) -> None:
    followed = engine.read(stored_identities)
    for name, is_saved, kind in changes:
        change(engine, lambda tx, one=(name, is_saved, kind): _random_change(tx, *one))
        if name == "a":
            followed = engine.read(partial(changed_identities, known=followed))
    followed = engine.read(partial(changed_identities, known=followed))
    assert followed == engine.read(stored_identities)


def _random_change(tx: Transaction, name: str, is_saved: bool, kind: str) -> None:
    path = secrets.choice(("/", "/x/"))
    common: dict[str, Any] = {
        "name": name.upper(),
        "path": path,
        "id": secrets.token_hex(8),
        "created_at": 1.0,
    }
    made: dict[str, tuple[Any, Any]] = {
        "u": (identity_rows.USERS, lambda: User(**common)),
        "g": (identity_rows.GROUPS, lambda: Group(**common)),
        "r": (identity_rows.ROLES, lambda: Role(trust="{}", **common)),
        "p": (
            identity_rows.POLICIES,
            lambda: ManagedPolicy(updated_at=1.0, versions=(), default=1, last=1, **common),
        ),
        "k": (
            identity_rows.ACCESS_KEYS,
            lambda: AccessKey(id=name, user=None, created_at=1.0, sealed=secrets.token_bytes(4)),
        ),
    }
    rows, make = made[kind]
    if is_saved:
        rows.save(tx, PLACE, name, make())
    else:
        rows.remove(tx, PLACE, name)
