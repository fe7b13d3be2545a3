"""Who asked, as events say it."""

import time
from typing import Any

from hashrange.auth.principals import Principal, PrincipalKind

_TYPES = {
    PrincipalKind.ROOT: "Root",
    PrincipalKind.USER: "IAMUser",
    PrincipalKind.ASSUMED_ROLE: "AssumedRole",
    PrincipalKind.FEDERATED_USER: "FederatedUser",
    PrincipalKind.ANONYMOUS: "WebIdentityUser",
}


def identity_of(principal: Principal, access_key: str) -> dict[str, Any]:
    """The element userIdentity of whoever has signed with an access key."""
    if principal.kind is PrincipalKind.ANONYMOUS:
        return {"type": _TYPES[principal.kind]}
    identity: dict[str, Any] = {
        "type": _TYPES[principal.kind],
        "principalId": principal.principal_id,
        "arn": principal.arn,
        "accountId": principal.account_id,
        "accessKeyId": access_key,
    }
    if principal.kind is PrincipalKind.USER:
        identity["userName"] = principal.name
    if principal.issued_at is not None:
        identity["sessionContext"] = _session(principal, principal.issued_at)
    return identity


def _session(principal: Principal, issued_at: float) -> dict[str, Any]:
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(issued_at))
    session: dict[str, Any] = {"attributes": {"creationDate": created, "mfaAuthenticated": "false"}}
    if principal.role_arn is not None:
        session["sessionIssuer"] = {
            "type": "Role",
            "principalId": principal.principal_id.partition(":")[0],
            "arn": principal.role_arn,
            "accountId": principal.account_id,
            "userName": principal.role_arn.rpartition("/")[2],
        }
    provider = principal.context.get("aws:federatedprovider")
    if provider is not None:
        claims = {key: value for key, value in principal.context.items() if key != "aws:federatedprovider"}
        session["webIdFederationData"] = {"federatedProvider": provider, "attributes": claims}
    if principal.source_identity is not None:
        session["sourceIdentity"] = principal.source_identity
    return session
