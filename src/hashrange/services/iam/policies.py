"""Managed policies: the account's own, and those that every account has."""

from collections import Counter
from collections.abc import Iterator

from hashrange.api.context import Context
from hashrange.auth import managed_policies
from hashrange.auth.policy.documents import Kind
from hashrange.core import limits
from hashrange.services.iam import attachments, errors
from hashrange.services.iam.entities import check_document, entities, place, size_of
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.identity_rows import POLICIES, ManagedPolicy, Version, arn_of

_AWS = "aws"
_EPOCH = 1_422_748_800.0  # 2015-02-01, when the service got managed policies


def check(document: str) -> None:
    """Refuse what is no policy, or too large."""
    if size_of(document) > limits.IAM_MANAGED_POLICY_CHARS_MAX:
        raise errors.quota("PolicySize", limits.IAM_MANAGED_POLICY_CHARS_MAX)
    check_document(document, Kind.IDENTITY)


def find(reader: Reader, context: Context, arn: str) -> tuple[str, ManagedPolicy]:
    """A policy, and the account it belongs to."""
    if arn in managed_policies.DOCUMENTS:
        return _AWS, _built_in(arn)
    return context.account_id, attachments.managed(reader, context, arn)


def listed(reader: Reader, context: Context, scope: str) -> Iterator[tuple[str, str, ManagedPolicy]]:
    """ARN, account and policy of all, in the order of their ARNs."""
    every = list[tuple[str, str, ManagedPolicy]]()
    if scope != "AWS":
        for _, policy in POLICIES.of_region(reader, place(context)):
            every.append((arn_of(context.account_id, policy), context.account_id, policy))
    if scope != "Local":
        every.extend((arn, _AWS, _built_in(arn)) for arn in managed_policies.DOCUMENTS)
    return iter(sorted(every, key=lambda row: row[0]))


def uses(reader: Reader, context: Context) -> tuple[Counter[str], Counter[str]]:
    """How many entities have each policy, as a policy and as a boundary."""
    attached, bounding = Counter[str](), Counter[str]()
    for _, entity in entities(reader, place(context)):
        attached.update(entity.attached)
        if entity.boundary is not None:
            bounding[entity.boundary] += 1
    return attached, bounding


def version(policy: ManagedPolicy, arn: str, version_id: str) -> Version:
    """The version of this id."""
    for candidate in policy.versions:
        if candidate.id == version_id:
            return candidate
    raise errors.no_such_entity(f"Policy {arn} version {version_id} does not exist or is not attachable.")


def save(tx: Transaction, context: Context, policy: ManagedPolicy) -> None:
    """Write a policy."""
    POLICIES.save(tx, place(context), policy.name.lower(), policy)


def _built_in(arn: str) -> ManagedPolicy:
    name = arn.rpartition("/")[2]
    return ManagedPolicy(
        name=name,
        path="/",
        id=f"ANPA{name.upper()[:17]}",
        created_at=_EPOCH,
        updated_at=_EPOCH,
        versions=(Version(1, managed_policies.DOCUMENTS[arn], _EPOCH),),
        default=1,
        last=1,
    )
