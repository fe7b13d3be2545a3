"""The errors of STS, in the service's words."""

from hashrange.api.errors import ApiError


def denied(caller_arn: str, action: str, resource: str) -> ApiError:
    """AccessDenied; it does not tell whether the role is there."""
    return ApiError(
        "AccessDenied",
        f"User: {caller_arn} is not authorized to perform: {action} on resource: {resource}",
        status=403,
    )


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
