"""The table of the operations of STS, as api/registry.py has it for DynamoDB. It speaks the query protocol only."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from hashrange.api.protocol.operation import QueryProtocol, Service
from hashrange.api.registry import Resources, control_operations, no_resource
from hashrange.services.sts import (
    assume_role,
    assume_role_with_web_identity,
    get_access_key_info,
    get_caller_identity,
    get_federation_token,
    get_session_token,
)


def _role(request: Any) -> Iterable[str]:
    return (request.role_arn,)


_ROWS: tuple[tuple[str, ModuleType, Resources], ...] = (
    ("AssumeRole", assume_role, _role),
    ("AssumeRoleWithWebIdentity", assume_role_with_web_identity, _role),
    ("GetAccessKeyInfo", get_access_key_info, no_resource),
    ("GetCallerIdentity", get_caller_identity, no_resource),
    ("GetFederationToken", get_federation_token, no_resource),
    ("GetSessionToken", get_session_token, no_resource),
)

# What clients ask before they have a key to sign with.
UNSIGNED = frozenset({assume_role_with_web_identity.ACTION})

STS = Service(
    "sts",
    "AWSSecurityTokenServiceV20110615.",
    "",
    control_operations("sts", _ROWS),
    "sts",
    QueryProtocol("2011-06-15", "https://sts.amazonaws.com/doc/2011-06-15/", {}),
)
