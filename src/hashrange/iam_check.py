"""`hashrange iam check`: what is wrong or suspicious in policy documents, without a server or data."""

import argparse

from hashrange import terminal
from hashrange.api.permissions.declared import NEEDS
from hashrange.auth.policy.lint import Vocabulary, findings
from hashrange.iam_operations import Unreadable, text_of

DESCRIPTION = (
    "say what is wrong or suspicious in policy documents, without a server: errors with the member they are in, "
    "actions and condition keys that no request has, statements that can never match, * on *. The status is 1 if there "
    "is anything"
)
# What operations ask for under other names than their own.
_MORE_ACTIONS = (
    *("dynamodb:ConditionCheckItem", "dynamodb:PartiQLSelect", "dynamodb:PartiQLInsert"),
    *("dynamodb:PartiQLUpdate", "dynamodb:PartiQLDelete", "kms:CreateGrant", "sts:TagSession"),
    *("sts:SetSourceIdentity", "hashrange:GetHeat", "hashrange:GetInsights", "hashrange:GetMetrics"),
    *(
        "hashrange:GetBill",
        "hashrange:InjectFaults",
        "hashrange:MoveClock",
        "kms:ReEncryptFrom",
        "kms:ReEncryptTo",
    ),
)
_ELSEWHERE = frozenset({"s3", "logs", "kinesis"})  # whose actions exports, imports and streams ask for
_AWS_KEYS = (
    *("CurrentTime", "EpochTime", "MultiFactorAuthPresent", "PrincipalAccount", "PrincipalArn"),
    *("PrincipalIsAWSService", "PrincipalType", "Referer", "RequestedRegion", "ResourceAccount"),
    *("SecureTransport", "SourceIdentity", "SourceIp", "TagKeys", "TokenIssueTime", "userid", "username"),
    *("UserAgent", "ViaAWSService", "FederatedProvider"),
)
_KEYS_BY_SERVICE = {
    "aws": _AWS_KEYS,
    "dynamodb": (
        *("Attributes", "EnclosingOperation", "FirstPartitionKeyValues", "FourthPartitionKeyValues"),
        *("FullTableScan", "LeadingKeys", "ReturnConsumedCapacity", "ReturnValues"),
        *("SecondPartitionKeyValues", "Select", "ThirdPartitionKeyValues"),
    ),
    "iam": ("PermissionsBoundary", "PolicyArn"),
    "kms": (
        *("CallerAccount", "EncryptionContextKeys", "GrantIsForAWSResource", "RequestAlias"),
        *("ResourceAliases", "ViaService"),
    ),
    "sts": ("ExternalId", "RoleSessionName", "SourceIdentity", "TransitiveTagKeys"),
}
_MULTIVALUED = (
    *("aws:tagkeys", "dynamodb:attributes", "dynamodb:leadingkeys", "sts:transitivetagkeys"),
    *("kms:encryptioncontextkeys", "kms:resourcealiases"),
    *(f"dynamodb:{number}partitionkeyvalues" for number in ("first", "second", "third", "fourth")),
)
VOCABULARY = Vocabulary(
    actions=frozenset((*NEEDS, *_MORE_ACTIONS)),
    services_in_part=_ELSEWHERE,
    keys=frozenset(
        f"{service}:{name}".lower() for service, names in _KEYS_BY_SERVICE.items() for name in names
    ),
    key_prefixes=("aws:principaltag/", "aws:requesttag/", "aws:resourcetag/", "iam:resourcetag/"),
    multivalued_keys=frozenset(_MULTIVALUED),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the action's flags."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a policy document; - for standard input")


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    status = 0
    for name in options.files:
        try:
            found = findings(text_of(name), VOCABULARY)
        except Unreadable as problem:
            terminal.complain(str(problem))
            status = 1
            continue
        for finding in found:
            terminal.show(f"{name}: {finding}")
        status = 1 if found else status
    return status
