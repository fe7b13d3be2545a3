"""Identities as answers describe them."""

from hashrange.auth import managed_policies
from hashrange.services.iam.entities import tag_views, told
from hashrange.services.iam.structures import (
    AccessKeyMetadata,
    AttachedPermissionsBoundary,
    AttachedPolicy,
    GroupView,
    PolicyVersionView,
    PolicyView,
    RoleLastUsed,
    RoleView,
    UserView,
)
from hashrange.storage.identity_rows import (
    AccessKey,
    Entity,
    Group,
    ManagedPolicy,
    Role,
    User,
    Version,
    arn_of,
)
from hashrange.storage.last_uses import LastUse


def user_view(account_id: str, user: User, *, whole: bool = True) -> UserView:
    """A user; lists leave out boundary and tags."""
    return UserView(
        path=user.path,
        user_name=user.name,
        user_id=user.id,
        arn=arn_of(account_id, user),
        create_date=user.created_at,
        permissions_boundary=_boundary(user) if whole else None,
        tags=tag_views(user.tags) if whole else None,
    )


def group_view(account_id: str, group: Group) -> GroupView:
    """A group."""
    return GroupView(
        path=group.path,
        group_name=group.name,
        group_id=group.id,
        arn=arn_of(account_id, group),
        create_date=group.created_at,
    )


def role_view(account_id: str, role: Role, *, whole: bool = True, used: LastUse | None = None) -> RoleView:
    """A role; lists leave out boundary, tags and the last use."""
    last_used = RoleLastUsed()
    if used is not None:
        last_used = RoleLastUsed(last_used_date=used.at, region=used.region)
    return RoleView(
        path=role.path,
        role_name=role.name,
        role_id=role.id,
        arn=arn_of(account_id, role),
        create_date=role.created_at,
        assume_role_policy_document=told(role.trust),
        description=role.description,
        max_session_duration=role.max_session_seconds,
        permissions_boundary=_boundary(role) if whole else None,
        tags=tag_views(role.tags) if whole else None,
        role_last_used=last_used if whole else None,
    )


def policy_view(
    account_id: str, policy: ManagedPolicy, *, attached: int, bounding: int, whole: bool = True
) -> PolicyView:
    """A managed policy, with how many entities have it, as a policy and as a boundary."""
    return PolicyView(
        policy_name=policy.name,
        policy_id=policy.id,
        arn=arn_of(account_id, policy),
        path=policy.path,
        default_version_id=policy.default_version().id,
        attachment_count=attached,
        permissions_boundary_usage_count=bounding,
        is_attachable=True,
        description=policy.description if whole else None,
        create_date=policy.created_at,
        update_date=policy.updated_at,
        tags=tag_views(policy.tags) if whole else None,
    )


def version_view(policy: ManagedPolicy, version: Version, *, document: bool = True) -> PolicyVersionView:
    """A version of a policy."""
    return PolicyVersionView(
        document=told(version.document) if document else None,
        version_id=version.id,
        is_default_version=version.number == policy.default,
        create_date=version.created_at,
    )


def key_view(key: AccessKey, user_name: str | None) -> AccessKeyMetadata:
    """An access key without its secret."""
    return AccessKeyMetadata(
        user_name=user_name, access_key_id=key.id, status=key.status, create_date=key.created_at
    )


def attached_view(arn: str) -> AttachedPolicy:
    """A managed policy by its ARN."""
    return AttachedPolicy(policy_name=arn.rpartition("/")[2], policy_arn=arn)


def path_of(arn: str) -> str:
    """The path in the ARN of a policy."""
    return arn.partition(":policy")[2].rpartition("/")[0] + "/"


def is_built_in(arn: str) -> bool:
    """Whether a policy is one that every account has."""
    return arn in managed_policies.DOCUMENTS


def _boundary(entity: Entity) -> AttachedPermissionsBoundary | None:
    if entity.boundary is None:
        return None
    return AttachedPermissionsBoundary(permissions_boundary_arn=entity.boundary)
