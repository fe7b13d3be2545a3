"""GetAccountSummary: how many identities the account has, and how many it may have."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.core import limits
from hashrange.services.iam import account_aliases
from hashrange.services.iam.entities import GROUPS, ROLES, USERS, place, shown
from hashrange.storage.engine import Reader
from hashrange.storage.identity_rows import POLICIES, keys_of_user

_QUOTAS = {
    "UsersQuota": limits.IAM_USERS_MAX,
    "GroupsQuota": limits.IAM_GROUPS_MAX,
    "RolesQuota": limits.IAM_ROLES_MAX,
    "PoliciesQuota": limits.IAM_POLICIES_MAX,
    "GroupsPerUserQuota": limits.IAM_GROUPS_PER_USER_MAX,
    "AccessKeysPerUserQuota": limits.IAM_ACCESS_KEYS_PER_USER_MAX,
    "AttachedPoliciesPerUserQuota": limits.IAM_ATTACHED_POLICIES_MAX,
    "AttachedPoliciesPerGroupQuota": limits.IAM_ATTACHED_POLICIES_MAX,
    "AttachedPoliciesPerRoleQuota": limits.IAM_ATTACHED_POLICIES_MAX,
    "VersionsPerPolicyQuota": limits.IAM_POLICY_VERSIONS_MAX,
    "UserPolicySizeQuota": limits.IAM_USER_POLICY_CHARS_MAX,
    "GroupPolicySizeQuota": limits.IAM_GROUP_POLICY_CHARS_MAX,
    "PolicySizeQuota": limits.IAM_MANAGED_POLICY_CHARS_MAX,
    "AssumeRolePolicySizeQuota": limits.IAM_TRUST_POLICY_CHARS_MAX,
}
# What there is none of.
_NONE = (
    *("AccountMFAEnabled", "AccountPasswordPresent", "AccountSigningCertificatesPresent", "InstanceProfiles"),
    *("MFADevices", "MFADevicesInUse", "Providers", "ServerCertificates"),
)


class GetAccountSummary(Request, kw_only=True):
    """The request."""


SHAPE = Shape(GetAccountSummary)


class GetAccountSummaryOutput(Response, kw_only=True):
    """The answer."""

    summary_map: dict[str, int]


def get_account_summary(context: Context, _request: GetAccountSummary) -> Plan:
    """Counts and quotas."""
    where = place(context)

    def step(reader: Reader) -> GetAccountSummaryOutput:
        counts = {
            "Users": USERS.rows.count(reader, where),
            "Groups": GROUPS.rows.count(reader, where),
            "Roles": ROLES.rows.count(reader, where),
            "Policies": POLICIES.count(reader, where),
            "AccountAccessKeysPresent": sum(1 for _ in keys_of_user(reader, where, None)),
            "AccountAliases": 0 if account_aliases.alias_of(reader, context) is None else 1,
        }
        return GetAccountSummaryOutput(summary_map={**counts, **dict.fromkeys(_NONE, 0), **_QUOTAS})

    return shown(step)
