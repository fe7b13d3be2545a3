"""Sentences that begin alike in many errors of the table operations."""

from hashrange.api import errors
from hashrange.api.errors import ApiError


def invalid(rule: str) -> ApiError:
    """ValidationException about parameters that do not go together."""
    return errors.validation(f"One or more parameter values were invalid: {rule}")


def busy(reason: str) -> ApiError:
    """ResourceInUseException: something else is under way."""
    return errors.in_use(f"Attempt to change a resource which is still in use: {reason}")


def over_limit(rule: str) -> ApiError:
    """LimitExceededException in its usual form."""
    return errors.limit_exceeded(f"Subscriber limit exceeded: {rule}")
