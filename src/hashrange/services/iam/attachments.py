"""Policies of users, groups and roles: inline ones, and managed ones that are attached."""

import re

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.auth.policy.documents import Kind
from hashrange.core import limits
from hashrange.services.iam import errors
from hashrange.services.iam.entities import E, Family, check_document, place, size_of
from hashrange.services.iam.views import is_built_in
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.identity_rows import POLICIES, Entity, ManagedPolicy

_ARN = re.compile(r"arn:aws:iam::([0-9]{12}):policy(/|/[!-~]+/)([A-Za-z0-9_+=,.@-]{1,128})")


def put_inline(context: Context, family: Family[E], name: str, policy_name: str, document: str) -> Plan:
    """A plan that gives an entity an inline policy, or another document for one that it has."""
    check_document(document, Kind.IDENTITY)

    def change(_tx: Transaction, entity: E) -> E:
        policies = entity.policies | {policy_name: document}
        most = family.inline_chars_max
        if sum(map(size_of, policies.values())) > most:
            raise errors.limit_exceeded(
                f"Maximum policy size of {most} bytes exceeded for {family.word} {entity.name}"
            )
        return msgspec.structs.replace(entity, policies=policies)

    return family.change(context, name, change)


def inline(family: Family[E], entity: Entity, policy_name: str) -> str:
    """The document of an inline policy."""
    document = entity.policies.get(policy_name)
    if document is None:
        raise errors.no_such_entity(f"The {family.word} policy with name {policy_name} cannot be found.")
    return document


def delete_inline(context: Context, family: Family[E], name: str, policy_name: str) -> Plan:
    """A plan that takes an inline policy away."""

    def change(_tx: Transaction, entity: E) -> E:
        inline(family, entity, policy_name)
        left = {kept: document for kept, document in entity.policies.items() if kept != policy_name}
        return msgspec.structs.replace(entity, policies=left)

    return family.change(context, name, change)


def attach(context: Context, family: Family[E], name: str, arn: str) -> Plan:
    """A plan that attaches a managed policy; once is enough."""

    def change(tx: Transaction, entity: E) -> E:
        check_attachable(tx, context, arn)
        if arn in entity.attached:
            return entity
        if len(entity.attached) >= limits.IAM_ATTACHED_POLICIES_MAX:
            raise errors.quota(f"PoliciesPer{family.title}", limits.IAM_ATTACHED_POLICIES_MAX)
        return msgspec.structs.replace(entity, attached=(*entity.attached, arn))

    return family.change(context, name, change)


def detach(context: Context, family: Family[E], name: str, arn: str) -> Plan:
    """A plan that detaches a managed policy."""

    def change(_tx: Transaction, entity: E) -> E:
        if arn not in entity.attached:
            raise errors.no_such_entity(f"Policy {arn} was not found.")
        left = tuple(other for other in entity.attached if other != arn)
        return msgspec.structs.replace(entity, attached=left)

    return family.change(context, name, change)


def bound(context: Context, family: Family[E], name: str, arn: str | None) -> Plan:
    """A plan that sets the permissions boundary, or takes it away."""

    def change(tx: Transaction, entity: E) -> E:
        if arn is not None:
            check_attachable(tx, context, arn)
        elif entity.boundary is None:
            raise errors.no_such_entity(f"{family.title} {entity.name} does not have a permissions boundary.")
        return msgspec.structs.replace(entity, boundary=arn)

    return family.change(context, name, change)


def check_attachable(reader: Reader, context: Context, arn: str) -> None:
    """Refuse the ARN of a policy that is not there."""
    if not is_built_in(arn) and _stored(reader, context, arn) is None:
        raise errors.no_such_entity(f"Policy {arn} does not exist or is not attachable.")


def managed(reader: Reader, context: Context, arn: str) -> ManagedPolicy:
    """The caller's own managed policy of this ARN."""
    policy = _stored(reader, context, arn)
    if policy is None:
        raise errors.no_such_entity(f"Policy {arn} was not found.")
    return policy


def _stored(reader: Reader, context: Context, arn: str) -> ManagedPolicy | None:
    match = _ARN.fullmatch(arn)
    if match is None:
        raise errors.invalid_input(f"ARN {arn} is not valid.")
    account_id, path, name = match.groups()
    if account_id != context.account_id:
        return None
    policy = POLICIES.find(reader, place(context), name.lower())
    return policy if policy is not None and (policy.path, policy.name) == (path, name) else None
