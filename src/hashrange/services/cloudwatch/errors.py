"""The errors of CloudWatch. Programs know them by the codes of the query protocol: see registry.py."""

from hashrange.api.errors import ApiError, validation


def invalid_value(message: str) -> ApiError:
    """InvalidParameterValue."""
    return ApiError("InvalidParameterValueException", message)


def invalid_combination(message: str) -> ApiError:
    """InvalidParameterCombination."""
    return ApiError("InvalidParameterCombinationException", message)


def missing(message: str) -> ApiError:
    """MissingParameter."""
    return ApiError("MissingRequiredParameterException", message)


def invalid_token() -> ApiError:
    """InvalidNextToken."""
    return ApiError("InvalidNextToken", "The next token specified is invalid.")


def no_such_alarm() -> ApiError:
    """ResourceNotFound, recorded without a message."""
    return ApiError("ResourceNotFound", "", status=404)


def no_such_resource(arn: str) -> ApiError:
    """ResourceNotFoundException, which operations on tags give."""
    return ApiError("ResourceNotFoundException", f"Unknown resource: {arn}", status=404)


def limit_exceeded(message: str) -> ApiError:
    """LimitExceeded."""
    return ApiError("LimitExceededFault", message)


def conflict() -> ApiError:
    """The write kept colliding with others."""
    return ApiError(
        "ConcurrentModificationException",
        "More than one process tried to modify a resource at the same time.",
        status=429,
    )


__all__ = [
    "conflict",
    "invalid_combination",
    "invalid_token",
    "invalid_value",
    "limit_exceeded",
    "missing",
    "no_such_alarm",
    "no_such_resource",
    "validation",
]
