"""What the operations of IAM and STS ask for: their own action on the user, group, role or policy that is named."""

from collections.abc import Iterable
from typing import Any, Literal, cast

from hashrange.api.context import Context
from hashrange.api.permissions import targets
from hashrange.api.permissions.needs import Need
from hashrange.api.permissions.settings import Needs, anywhere, nothing
from hashrange.auth import arns
from hashrange.auth.policy.keys import KeyValue
from hashrange.storage.identity_rows import Entity, arn_of

Kind = Literal["user", "group", "role"]


def _arn(context: Context, resource: str) -> str:
    return f"arn:aws:iam::{context.account_id}:{resource}"


def _stored(context: Context, kind: Kind, name: str) -> Entity | None:
    return None if context.directory is None else context.directory.entity(context.account_id, kind, name)


def _on_entity(kind: Kind, action: str) -> Needs:
    """An action on what is there by the request's name, which is spelt as it is kept, with its path."""
    member = f"{kind}_name"

    def needs(context: Context, request: Any) -> Iterable[Need]:
        name = getattr(request, member)
        if name is None:  # a user's own
            return (Need(action, context.caller().principal_arn, _keys(request, None)),)
        entity = _stored(context, kind, name)
        arn = _arn(context, f"{kind}/{name}") if entity is None else arn_of(context.account_id, entity)
        needed = [Need(action, arn, _keys(request, entity))]
        renamed, moved = getattr(request, "new_user_name", None), getattr(request, "new_path", None)
        if renamed is not None or moved is not None:
            path = moved or (entity.path if entity is not None else "/")
            needed.append(Need(action, _arn(context, f"{kind}{path}{renamed or name}"), needed[0].keys))
        return needed

    return needs


def _new_entity(kind: Kind, action: str) -> Needs:
    """The action on what is to be made; tags that it gets need the action for tags too."""

    def needs(context: Context, request: Any) -> Iterable[Need]:
        name = getattr(request, f"{kind}_name")
        arn = _arn(context, f"{kind}{request.path or '/'}{name}")
        keys = _keys(request, None)
        yield Need(action, arn, keys)
        if getattr(request, "tags", None):
            yield Need(f"iam:Tag{kind.capitalize()}", arn, keys)

    return needs


def _new_policy(context: Context, request: Any) -> Iterable[Need]:
    arn = _arn(context, f"policy{request.path or '/'}{request.policy_name}")
    keys = _keys(request, None)
    yield Need("iam:CreatePolicy", arn, keys)
    if request.tags:
        yield Need("iam:TagPolicy", arn, keys)


def _on_policy(action: str) -> Needs:
    return lambda _context, request: (Need(action, targets.spelt(request.policy_arn), _keys(request, None)),)


def _on_source(action: str) -> Needs:
    """An action on the user, group or role whose ARN a simulation names; a session stands for its role."""

    def needs(context: Context, request: Any) -> Iterable[Need]:
        parts = arns.parsed(request.policy_source_arn)
        kind, _, rest = ("", "", "") if parts is None else parts.resource.partition("/")
        name = rest.partition("/")[0] if kind == "assumed-role" else rest.rpartition("/")[2]
        entity = None
        if kind in {"user", "group", "role", "assumed-role"} and name:
            entity = _stored(context, cast("Kind", kind.removeprefix("assumed-")), name)
        arn = (
            targets.spelt(request.policy_source_arn) if entity is None else arn_of(context.account_id, entity)
        )
        return (Need(action, arn, _keys(request, entity)),)

    return needs


def _listing(kind: str, action: str) -> Needs:
    return lambda context, request: (Need(action, _arn(context, f"{kind}{request.path_prefix or '/'}")),)


def _keys(request: Any, entity: Entity | None) -> dict[str, KeyValue]:
    """The condition keys: the policy that is attached, the boundary, and the tags that are there and that are sent."""
    keys: dict[str, KeyValue] = {}
    boundary = getattr(request, "permissions_boundary", None)
    if boundary is None and entity is not None:
        boundary = entity.boundary
    policy = getattr(request, "policy_arn", None)
    if boundary is not None:
        keys["iam:permissionsboundary"] = boundary
    if policy is not None:
        keys["iam:policyarn"] = targets.spelt(policy)
    sent = getattr(request, "tags", None) or ()
    names = tuple(tag.key for tag in sent) + tuple(getattr(request, "tag_keys", None) or ())
    if names:
        keys["aws:tagkeys"] = names
    for tag in sent:
        keys[f"aws:requesttag/{tag.key}".lower()] = tag.value
    for name, value in {} if entity is None else entity.tags.items():
        keys[f"aws:resourcetag/{name}".lower()] = keys[f"iam:resourcetag/{name}".lower()] = value
    return keys


def _rows(kind: Kind, *names: str) -> dict[str, Needs]:
    return {name: _on_entity(kind, f"iam:{name}") for name in names}


_USERS = (
    *(
        "AttachUserPolicy",
        "CreateAccessKey",
        "DeleteAccessKey",
        "DeleteUser",
        "DeleteUserPermissionsBoundary",
    ),
    *("DeleteUserPolicy", "DetachUserPolicy", "GetUser", "GetUserPolicy", "ListAccessKeys"),
    *("ListAttachedUserPolicies", "ListGroupsForUser", "ListUserPolicies", "ListUserTags"),
    *("DeleteLoginProfile", "GetLoginProfile", "ListMFADevices", "ListSSHPublicKeys"),
    *("ListServiceSpecificCredentials", "ListSigningCertificates"),
    *("PutUserPermissionsBoundary", "PutUserPolicy", "TagUser", "UntagUser", "UpdateAccessKey", "UpdateUser"),
)
_GROUPS = (
    *(
        "AddUserToGroup",
        "AttachGroupPolicy",
        "DeleteGroup",
        "DeleteGroupPolicy",
        "DetachGroupPolicy",
        "GetGroup",
    ),
    *("GetGroupPolicy", "ListAttachedGroupPolicies", "ListGroupPolicies", "PutGroupPolicy"),
    "RemoveUserFromGroup",
)
_ROLES = (
    *(
        "AttachRolePolicy",
        "DeleteRole",
        "DeleteRolePermissionsBoundary",
        "DeleteRolePolicy",
        "DetachRolePolicy",
    ),
    *(
        "GetRole",
        "GetRolePolicy",
        "ListAttachedRolePolicies",
        "ListInstanceProfilesForRole",
        "ListRolePolicies",
    ),
    *("ListRoleTags", "PutRolePermissionsBoundary", "PutRolePolicy", "TagRole", "UntagRole"),
    *("UpdateAssumeRolePolicy", "UpdateRole", "UpdateRoleDescription"),
)
_POLICIES = (
    *("CreatePolicyVersion", "DeletePolicy", "DeletePolicyVersion", "GetPolicy", "GetPolicyVersion"),
    "ListEntitiesForPolicy",
    *("ListPolicyTags", "ListPolicyVersions", "SetDefaultPolicyVersion", "TagPolicy", "UntagPolicy"),
)

_ANYWHERE = (
    *("CreateAccountAlias", "DeleteAccountAlias", "GetAccountSummary", "ListAccountAliases"),
    "ListVirtualMFADevices",
)


def _key_owner(context: Context, request: Any) -> Iterable[Need]:
    """The permission is about the user who has the key; nobody is told whether there is such a key."""
    directory = context.directory
    name = None if directory is None else directory.owner_of_key(context.account_id, request.access_key_id)
    entity = None if name is None else _stored(context, "user", name)
    arn = "*" if entity is None else arn_of(context.account_id, entity)
    return (Need("iam:GetAccessKeyLastUsed", arn),)


def _federation(context: Context, request: Any) -> Iterable[Need]:
    """Tags of a session say who it is, so that giving them is a permission of its own, as for roles."""
    arn = f"arn:aws:sts::{context.account_id}:federated-user/{request.name}"
    keys = _keys(request, None)
    yield Need("sts:GetFederationToken", arn, keys)
    if request.tags:
        yield Need("sts:TagSession", arn, keys)


IAM: dict[str, Needs] = {
    **_rows("user", *_USERS),
    **_rows("group", *_GROUPS),
    **_rows("role", *_ROLES),
    **{name: _on_policy(f"iam:{name}") for name in _POLICIES},
    "CreateUser": _new_entity("user", "iam:CreateUser"),
    "CreateGroup": _new_entity("group", "iam:CreateGroup"),
    "CreateRole": _new_entity("role", "iam:CreateRole"),
    "CreatePolicy": _new_policy,
    **{name: anywhere(f"iam:{name}") for name in _ANYWHERE},
    "GetAccessKeyLastUsed": _key_owner,
    "GetContextKeysForCustomPolicy": anywhere("iam:GetContextKeysForCustomPolicy"),
    "GetContextKeysForPrincipalPolicy": _on_source("iam:GetContextKeysForPrincipalPolicy"),
    "SimulateCustomPolicy": anywhere("iam:SimulateCustomPolicy"),
    "SimulatePrincipalPolicy": _on_source("iam:SimulatePrincipalPolicy"),
    "ListUsers": _listing("user", "iam:ListUsers"),
    "ListGroups": _listing("group", "iam:ListGroups"),
    "ListRoles": _listing("role", "iam:ListRoles"),
    "ListPolicies": _listing("policy", "iam:ListPolicies"),
}
STS: dict[str, Needs] = {
    # The role's trust policy and the caller's own decide together: see services/sts/trust.py.
    "AssumeRole": nothing,
    "AssumeRoleWithWebIdentity": nothing,
    "GetAccessKeyInfo": anywhere("sts:GetAccessKeyInfo"),
    "GetCallerIdentity": nothing,
    "GetFederationToken": _federation,
    "GetSessionToken": nothing,
}
