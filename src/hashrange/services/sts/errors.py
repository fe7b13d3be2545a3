"""The errors of STS, in the service's words."""

from hashrange.api.errors import ApiError
from hashrange.api.permissions.denials import AccessDenied
from hashrange.auth.policy.decision import Decision, PolicyType, Rules
from hashrange.auth.policy.statements import Asked


def denied(caller_arn: str, action: str, resource: str) -> ApiError:
    """AccessDenied; it does not tell whether the role is there."""
    return access_denied(unauthorized(caller_arn, action, resource))


def denied_by(message: str, asked: Asked, decision: Decision, rules: Rules) -> ApiError:
    """The same, decided by policies, which the audit log tells more about."""
    if decision.type is PolicyType.RESOURCE:
        decision = decision._replace(type=PolicyType.TRUST)  # which is a role's resource policy
    return AccessDenied(asked, decision, rules, code="AccessDenied", message=message, status=403)


def unauthorized(caller_arn: str, action: str, resource: str) -> str:
    """Who may not do what."""
    return f"User: {caller_arn} is not authorized to perform: {action} on resource: {resource}"


def access_denied(message: str) -> ApiError:
    """AccessDenied for another reason."""
    return ApiError("AccessDenied", message, status=403)


def malformed_policy(message: str) -> ApiError:
    """MalformedPolicyDocument."""
    return ApiError("MalformedPolicyDocument", message)


def too_large(percent: int) -> ApiError:
    """PackedPolicyTooLarge."""
    return ApiError(
        "PackedPolicyTooLarge",
        f"The total packed size of the session policies and session tags combined is too large: {percent}% of the "
        "allowed size",
    )
