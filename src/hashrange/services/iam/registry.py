"""The table of the operations of IAM, as api/registry.py has it for DynamoDB. It speaks the query protocol only."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from hashrange.api.protocol.operation import QueryProtocol, Service
from hashrange.api.registry import Resources, control_operations, no_resource
from hashrange.services.iam import (
    add_user_to_group,
    attach_group_policy,
    attach_role_policy,
    attach_user_policy,
    create_access_key,
    create_group,
    create_policy,
    create_policy_version,
    create_role,
    create_user,
    delete_access_key,
    delete_group,
    delete_group_policy,
    delete_policy,
    delete_policy_version,
    delete_role,
    delete_role_permissions_boundary,
    delete_role_policy,
    delete_user,
    delete_user_permissions_boundary,
    delete_user_policy,
    detach_group_policy,
    detach_role_policy,
    detach_user_policy,
    get_context_keys_for_custom_policy,
    get_context_keys_for_principal_policy,
    get_group,
    get_group_policy,
    get_policy,
    get_policy_version,
    get_role,
    get_role_policy,
    get_user,
    get_user_policy,
    list_access_keys,
    list_attached_group_policies,
    list_attached_role_policies,
    list_attached_user_policies,
    list_group_policies,
    list_groups,
    list_groups_for_user,
    list_instance_profiles_for_role,
    list_policies,
    list_policy_tags,
    list_policy_versions,
    list_role_policies,
    list_role_tags,
    list_roles,
    list_user_policies,
    list_user_tags,
    list_users,
    put_group_policy,
    put_role_permissions_boundary,
    put_role_policy,
    put_user_permissions_boundary,
    put_user_policy,
    remove_user_from_group,
    set_default_policy_version,
    simulate_custom_policy,
    simulate_principal_policy,
    tag_policy,
    tag_role,
    tag_user,
    untag_policy,
    untag_role,
    untag_user,
    update_access_key,
    update_assume_role_policy,
    update_role,
    update_user,
)


def _user(request: Any) -> Iterable[str]:
    return () if request.user_name is None else (request.user_name,)


def _group(request: Any) -> Iterable[str]:
    return (request.group_name,)


def _role(request: Any) -> Iterable[str]:
    return (request.role_name,)


def _source(request: Any) -> Iterable[str]:
    return (request.policy_source_arn,)


def _policy(request: Any) -> Iterable[str]:
    return (request.policy_arn,)


_ROWS: tuple[tuple[str, ModuleType, Resources], ...] = (
    ("AddUserToGroup", add_user_to_group, _group),
    ("AttachGroupPolicy", attach_group_policy, _group),
    ("AttachRolePolicy", attach_role_policy, _role),
    ("AttachUserPolicy", attach_user_policy, _user),
    ("CreateAccessKey", create_access_key, _user),
    ("CreateGroup", create_group, _group),
    ("CreatePolicy", create_policy, no_resource),
    ("CreatePolicyVersion", create_policy_version, _policy),
    ("CreateRole", create_role, _role),
    ("CreateUser", create_user, _user),
    ("DeleteAccessKey", delete_access_key, _user),
    ("DeleteGroup", delete_group, _group),
    ("DeleteGroupPolicy", delete_group_policy, _group),
    ("DeletePolicy", delete_policy, _policy),
    ("DeletePolicyVersion", delete_policy_version, _policy),
    ("DeleteRole", delete_role, _role),
    ("DeleteRolePermissionsBoundary", delete_role_permissions_boundary, _role),
    ("DeleteRolePolicy", delete_role_policy, _role),
    ("DeleteUser", delete_user, _user),
    ("DeleteUserPermissionsBoundary", delete_user_permissions_boundary, _user),
    ("DeleteUserPolicy", delete_user_policy, _user),
    ("DetachGroupPolicy", detach_group_policy, _group),
    ("DetachRolePolicy", detach_role_policy, _role),
    ("DetachUserPolicy", detach_user_policy, _user),
    ("GetContextKeysForCustomPolicy", get_context_keys_for_custom_policy, no_resource),
    ("GetContextKeysForPrincipalPolicy", get_context_keys_for_principal_policy, _source),
    ("GetGroup", get_group, _group),
    ("GetGroupPolicy", get_group_policy, _group),
    ("GetPolicy", get_policy, _policy),
    ("GetPolicyVersion", get_policy_version, _policy),
    ("GetRole", get_role, _role),
    ("GetRolePolicy", get_role_policy, _role),
    ("GetUser", get_user, _user),
    ("GetUserPolicy", get_user_policy, _user),
    ("ListAccessKeys", list_access_keys, _user),
    ("ListAttachedGroupPolicies", list_attached_group_policies, _group),
    ("ListAttachedRolePolicies", list_attached_role_policies, _role),
    ("ListAttachedUserPolicies", list_attached_user_policies, _user),
    ("ListGroupPolicies", list_group_policies, _group),
    ("ListGroups", list_groups, no_resource),
    ("ListGroupsForUser", list_groups_for_user, _user),
    ("ListInstanceProfilesForRole", list_instance_profiles_for_role, _role),
    ("ListPolicies", list_policies, no_resource),
    ("ListPolicyTags", list_policy_tags, _policy),
    ("ListPolicyVersions", list_policy_versions, _policy),
    ("ListRolePolicies", list_role_policies, _role),
    ("ListRoleTags", list_role_tags, _role),
    ("ListRoles", list_roles, no_resource),
    ("ListUserPolicies", list_user_policies, _user),
    ("ListUserTags", list_user_tags, _user),
    ("ListUsers", list_users, no_resource),
    ("PutGroupPolicy", put_group_policy, _group),
    ("PutRolePermissionsBoundary", put_role_permissions_boundary, _role),
    ("PutRolePolicy", put_role_policy, _role),
    ("PutUserPermissionsBoundary", put_user_permissions_boundary, _user),
    ("PutUserPolicy", put_user_policy, _user),
    ("RemoveUserFromGroup", remove_user_from_group, _group),
    ("SetDefaultPolicyVersion", set_default_policy_version, _policy),
    ("SimulateCustomPolicy", simulate_custom_policy, no_resource),
    ("SimulatePrincipalPolicy", simulate_principal_policy, _source),
    ("TagPolicy", tag_policy, _policy),
    ("TagRole", tag_role, _role),
    ("TagUser", tag_user, _user),
    ("UntagPolicy", untag_policy, _policy),
    ("UntagRole", untag_role, _role),
    ("UntagUser", untag_user, _user),
    ("UpdateAccessKey", update_access_key, _user),
    ("UpdateAssumeRolePolicy", update_assume_role_policy, _role),
    ("UpdateRole", update_role, _role),
    ("UpdateUser", update_user, _user),
)


IAM = Service(
    "iam",
    "AWSIdentityManagementV20100508.",
    "",
    control_operations("iam", _ROWS),
    "iam",
    QueryProtocol("2010-05-08", "https://iam.amazonaws.com/doc/2010-05-08/", {}),
)
