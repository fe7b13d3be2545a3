"""ListEntitiesForPolicy: the users, groups and roles that a managed policy is attached to."""

from typing import Literal

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import policies
from hashrange.services.iam.entities import entities, place, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Arn, Marker, MaxItems, PathPrefix
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import Entity


class ListEntitiesForPolicy(Request, kw_only=True):
    """The request."""

    policy_arn: Arn
    entity_filter: Literal["User", "Role", "Group", "LocalManagedPolicy", "AWSManagedPolicy"] | None = None
    path_prefix: PathPrefix | None = None
    policy_usage_filter: Literal["PermissionsPolicy", "PermissionsBoundary"] | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListEntitiesForPolicy)


class PolicyGroup(Response, kw_only=True):
    """A group."""

    group_name: str
    group_id: str


class PolicyUser(Response, kw_only=True):
    """A user."""

    user_name: str
    user_id: str


class PolicyRole(Response, kw_only=True):
    """A role."""

    role_name: str
    role_id: str


class ListEntitiesForPolicyOutput(Response, kw_only=True):
    """The answer."""

    policy_groups: list[PolicyGroup]
    policy_users: list[PolicyUser]
    policy_roles: list[PolicyRole]
    is_truncated: bool | None = None
    marker: str | None = None


def list_entities_for_policy(context: Context, request: ListEntitiesForPolicy) -> Plan:
    """Those that have it as a policy, as a boundary, or both."""

    def step(reader: Reader) -> ListEntitiesForPolicyOutput:
        policies.find(reader, context, request.policy_arn)
        chosen = sorted(
            (f"{word}/{entity.name.lower()}", (word, entity))
            for word, entity in entities(reader, place(context))
            if _is_meant(request, word, entity)
        )
        listed, more, marker = page(chosen, marker=request.marker, max_items=request.max_items)
        return ListEntitiesForPolicyOutput(
            policy_groups=[
                PolicyGroup(group_name=e.name, group_id=e.id) for word, e in listed if word == "group"
            ],
            policy_users=[PolicyUser(user_name=e.name, user_id=e.id) for word, e in listed if word == "user"],
            policy_roles=[PolicyRole(role_name=e.name, role_id=e.id) for word, e in listed if word == "role"],
            is_truncated=more,
            marker=marker,
        )

    return shown(step)


def _is_meant(request: ListEntitiesForPolicy, word: str, entity: Entity) -> bool:
    if request.entity_filter not in {None, word.capitalize()}:
        return False
    if not entity.path.startswith(request.path_prefix or "/"):
        return False
    attached, bounds = request.policy_arn in entity.attached, request.policy_arn == entity.boundary
    match request.policy_usage_filter:
        case "PermissionsPolicy":
            return attached
        case "PermissionsBoundary":
            return bounds
        case _:
            return attached or bounds
