"""What the service says when it cannot use the key of a table: the key service's error, wrapped in words of its own."""

from hashrange import ids
from hashrange.core.schema import KeyState

_MODEL = "com.amazonaws.services.kms.model."


def unusable(key_arn: str, state: KeyState) -> str:
    """That a key is in a state in which it cannot be used."""
    match state:
        case "disabled":
            return _told("KMS key disabled error", "DisabledException", f"{key_arn} is disabled.")
        case "pending":
            return _told(
                "KMS validation error", "KMSInvalidStateException", f"{key_arn} is pending deletion."
            )
        case "missing":
            return missing(f"Key '{key_arn}' does not exist")
        case "denied":
            return denied(
                "The ciphertext refers to a customer master key that does not exist, does not exist in this region, "
                "or you are not allowed to access."
            )
        case "unreachable":
            # The key service's own error for what it depends on: the key is what it was.
            return _told(
                "KMS internal error",
                "DependencyTimeoutException",
                "The system timed out while trying to fulfill the request. You can retry the request.",
                status=500,
            )
        case "unfit":
            return (
                f"KMS internal error: {_MODEL}AWSKMSException: EncryptionContext is supported only when creating a "
                f"grant for a symmetric encryption KMS key. {_tail('ValidationException')}"
            )


def missing(message: str) -> str:
    """That a key or alias is not there."""
    return _told("KMS validation error", "NotFoundException", message)


def denied(message: str) -> str:
    """That the caller may not use a key."""
    return f"KMS key access denied error: {_MODEL}AWSKMSException: {message} {_tail('AccessDeniedException')}"


def foreign(caller_arn: str) -> str:
    """That a key is another account's."""
    return denied(
        f"User: {caller_arn} is not authorized to perform: kms:DescribeKey on this resource because the resource does "
        "not exist in this Region, no resource-based policies allow access, or a resource-based policy explicitly "
        "denies access"
    )


def _told(head: str, code: str, message: str, *, status: int = 400) -> str:
    return f"{head}: {_MODEL}{code}: {message} {_tail(code, status)}"


def _tail(code: str, status: int = 400) -> str:
    return f"(Service: AWSKMS; Status Code: {status}; Error Code: {code}; Request ID: {ids.unique_id()}; Proxy: null)"
