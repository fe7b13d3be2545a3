"""Whom a trust policy names: noted by their ids, for whoever gets an old name later is somebody else."""

import json
from collections.abc import Mapping

import msgspec

from hashrange.api.context import Context
from hashrange.auth import arns
from hashrange.auth.policy import documents
from hashrange.auth.policy.documents import Kind
from hashrange.services.iam import errors
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import ROLES, USERS, Entity, Role, arn_of, place_of


def named_ids(reader: Reader, context: Context, document: str) -> dict[str, str]:
    """The ids of the users and roles that a trust policy names, by ARN; refuses those that there are not."""
    policy = documents.parse(document, Kind.TRUST, name="trust")
    names = {
        name
        for statement in policy.statements
        if statement.grantees is not None
        for name in statement.grantees.arns
    }
    ids = {}
    for name in sorted(names):
        entity = _entity(reader, name)
        if entity is not None:
            ids[name] = entity.id
        elif context.principal is not None and ":federated-user/" not in name:
            raise errors.malformed_policy(f'Invalid principal in policy: "AWS":"{name}"')
    return ids


def shown(context: Context, role: Role) -> Role:
    """The role with a trust policy in which everybody has the name of today; who is gone is shown by the id."""
    directory = context.directory
    if directory is None or not directory.is_open:
        return role
    today = {name: directory.arn_of_id(one) or one for name, one in role.trusted.items() if _is_entity(name)}
    renamed = {name: now for name, now in today.items() if name != now}
    return msgspec.structs.replace(role, trust=_renamed(role.trust, renamed)) if renamed else role


def _is_entity(name: str) -> bool:
    return ":assumed-role/" not in name


def _renamed(document: str, names: Mapping[str, str]) -> str:
    content = json.loads(document)
    statements = content["Statement"]
    for statement in statements if isinstance(statements, list) else [statements]:
        for element in ("Principal", "NotPrincipal"):
            named = statement.get(element)
            listed = named.get("AWS") if isinstance(named, dict) else None
            if isinstance(listed, str):
                named["AWS"] = names.get(listed, listed)
            elif isinstance(listed, list):
                named["AWS"] = [names.get(name, name) for name in listed]
    return json.dumps(content, separators=(",", ":"))


def _entity(reader: Reader, text: str) -> Entity | None:
    """The user or role that an ARN means; of a session's its role."""
    arn = arns.parsed(text)
    if arn is None:
        return None
    kind, _, rest = arn.resource.partition("/")
    place = place_of(arn.account_id)
    if kind == "assumed-role":
        return ROLES.find(reader, place, rest.partition("/")[0].lower())
    name = rest.rpartition("/")[2].lower()
    entity: Entity | None = None
    if kind == "user":
        entity = USERS.find(reader, place, name)
    elif kind == "role":
        entity = ROLES.find(reader, place, name)
    return entity if entity is not None and arn_of(arn.account_id, entity) == text else None
