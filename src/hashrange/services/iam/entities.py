"""Users, groups and roles, as operations find and change them."""

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import quote

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read, Write
from hashrange.api.results import Described
from hashrange.auth.policy import documents
from hashrange.auth.policy.documents import Kind, MalformedPolicy
from hashrange.core import limits
from hashrange.services.iam import errors
from hashrange.services.iam.structures import Tag, TagView
from hashrange.storage import identity_rows
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.identity_rows import Entity, Group, Role, User
from hashrange.storage.setting_rows import Place, SettingRows

E = TypeVar("E", bound=Entity)

_ID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_ID_CHARS = 17


@dataclass(frozen=True, slots=True)
class Family(Generic[E]):
    """One kind of entity: its rows, its words, its quotas."""

    rows: SettingRows[E]
    word: str
    id_prefix: str
    entities_max: int
    quota_name: str
    inline_chars_max: int

    @property
    def title(self) -> str:
        """The word with a capital."""
        return self.word.capitalize()

    def get(self, reader: Reader, context: Context, name: str) -> E:
        """The entity of this name, in any case; raises if there is none."""
        entity = self.rows.find(reader, place(context), name.lower())
        if entity is None:
            raise errors.no_such_entity(f"The {self.word} with name {name} cannot be found.")
        return entity

    def add(self, tx: Transaction, context: Context, entity: E) -> None:
        """Write an entity that must be new."""
        if self.rows.find(tx, place(context), entity.name.lower()) is not None:
            raise errors.already_exists(f"{self.title} with name {entity.name} already exists.")
        if self.rows.count(tx, place(context)) >= self.entities_max:
            raise errors.quota(self.quota_name, self.entities_max)
        self.save(tx, context, entity)

    def save(self, tx: Transaction, context: Context, entity: E) -> None:
        """Write an entity."""
        self.rows.save(tx, place(context), entity.name.lower(), entity)

    def remove(self, tx: Transaction, context: Context, entity: E) -> None:
        """Delete an entity that nothing belongs to any more."""
        if entity.attached:
            raise errors.delete_conflict("Cannot delete entity, must detach all policies first.")
        if entity.policies:
            raise errors.delete_conflict("Cannot delete entity, must delete policies first.")
        self.rows.remove(tx, place(context), entity.name.lower())

    def change(self, context: Context, name: str, change: Callable[[Transaction, E], E]) -> Plan:
        """A plan that changes one entity, and answers nothing."""

        def step(tx: Transaction) -> None:
            self.save(tx, context, change(tx, self.get(tx, context, name)))

        return changed(context, step)


USERS = Family(
    identity_rows.USERS,
    "user",
    "AIDA",
    limits.IAM_USERS_MAX,
    "UsersPerAccount",
    limits.IAM_USER_POLICY_CHARS_MAX,
)
GROUPS = Family(
    identity_rows.GROUPS,
    "group",
    "AGPA",
    limits.IAM_GROUPS_MAX,
    "GroupsPerAccount",
    limits.IAM_GROUP_POLICY_CHARS_MAX,
)
ROLES = Family(
    identity_rows.ROLES,
    "role",
    "AROA",
    limits.IAM_ROLES_MAX,
    "RolesPerAccount",
    limits.IAM_ROLE_POLICY_CHARS_MAX,
)


def place(context: Context) -> Place:
    """Where the caller's identities are."""
    return identity_rows.place_of(context.account_id)


def new_id(prefix: str) -> str:
    """A unique id, as the service makes them."""
    return prefix + "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_CHARS))


def now(context: Context) -> float:
    """The time, in whole seconds as IAM tells it."""
    return float(int(context.clock.now()))


def changed(context: Context, step: Callable[[Transaction], msgspec.Struct | None]) -> Plan:
    """A plan that changes identities: every process has to know, and this one before it answers."""
    directory = context.directory
    return Write(
        lambda tx: Described(step(tx)),
        after=None if directory is None else directory.refresh,
        conflict=errors.conflict,
    )


def shown(step: Callable[[Reader], msgspec.Struct]) -> Plan:
    """A plan that only reads."""
    return Read(lambda reader: Described(step(reader)))


def check_document(document: str, kind: Kind) -> None:
    """Refuse what is no policy."""
    try:
        documents.parse_new(document, kind, name="")
    except MalformedPolicy as malformed:
        raise errors.malformed_policy(str(malformed)) from None


def check_trust(document: str) -> None:
    """Refuse a trust policy that is none, or too large."""
    if size_of(document) > limits.IAM_TRUST_POLICY_CHARS_MAX:
        raise errors.quota("ACLSizePerRole", limits.IAM_TRUST_POLICY_CHARS_MAX)
    check_document(document, Kind.TRUST)


def size_of(document: str) -> int:
    """The length that counts: white space does not."""
    return len("".join(document.split()))


def told(document: str) -> str:
    """A document as answers have it."""
    return quote(document, safe="")


def tagged(tags: dict[str, str], sent: Iterable[Tag]) -> dict[str, str]:
    """Tags with those that were sent; their keys differ in more than their case."""
    after = {key.lower(): (key, value) for key, value in tags.items()}
    listed = list(sent)
    if len({tag.key.lower() for tag in listed}) != len(listed):
        raise errors.invalid_input(
            "Duplicate tag keys found. Please note that Tag keys are case insensitive."
        )
    for tag in listed:
        if tag.key.lower().startswith("aws:"):
            raise errors.invalid_input("Tag keys that begin with aws: are reserved for system use.")
        after[tag.key.lower()] = (tag.key, tag.value)
    if len(after) > limits.IAM_TAGS_MAX:
        raise errors.quota("TagsPerResource", limits.IAM_TAGS_MAX)
    return dict(after.values())


def untagged(tags: dict[str, str], keys: Iterable[str]) -> dict[str, str]:
    """Tags without some."""
    gone = {key.lower() for key in keys}
    return {key: value for key, value in tags.items() if key.lower() not in gone}


def tag_views(tags: dict[str, str]) -> list[TagView] | None:
    """Tags as answers have them."""
    return [TagView(key=key, value=value) for key, value in tags.items()] or None


def entities(reader: Reader, where: Place) -> Iterator[tuple[str, User | Group | Role]]:
    """All users, groups and roles of an account, with the word for each."""
    for _, user in identity_rows.USERS.of_region(reader, where):
        yield "user", user
    for _, group in identity_rows.GROUPS.of_region(reader, where):
        yield "group", group
    for _, role in identity_rows.ROLES.of_region(reader, where):
        yield "role", role
