"""The errors of IAM, in the service's words."""

from hashrange.api.errors import ApiError


def no_such_entity(message: str) -> ApiError:
    """NoSuchEntity."""
    return ApiError("NoSuchEntity", message, status=404)


def already_exists(message: str) -> ApiError:
    """EntityAlreadyExists."""
    return ApiError("EntityAlreadyExists", message, status=409)


def delete_conflict(message: str) -> ApiError:
    """DeleteConflict."""
    return ApiError("DeleteConflict", message, status=409)


def quota(name: str, most: int) -> ApiError:
    """LimitExceeded, with the quota's name."""
    return limit_exceeded(f"Cannot exceed quota for {name}: {most}")


def limit_exceeded(message: str) -> ApiError:
    """LimitExceeded."""
    return ApiError("LimitExceeded", message, status=409)


def malformed_policy(message: str) -> ApiError:
    """MalformedPolicyDocument."""
    return ApiError("MalformedPolicyDocument", message)


def invalid_input(message: str) -> ApiError:
    """InvalidInput."""
    return ApiError("InvalidInput", message)


def no_root_key(message: str) -> ApiError:
    """The server has nothing to seal secrets with."""
    return ApiError("ServiceFailure", message, status=500)


def conflict() -> ApiError:
    """The write kept colliding with others."""
    return ApiError(
        "ConcurrentModification",
        "The request was rejected because multiple requests ran at once.",
        status=409,
    )
