"""Times as items have them: seconds since 1970, or ISO 8601 texts in UTC, which sort as the times do."""

from datetime import UTC, datetime

LAST_SECOND = 253_402_300_799  # of the year 9999, the last that four digits can say


def timestamp(seconds: float) -> str:
    """`2026-01-31T12:00:00Z`."""
    return datetime.fromtimestamp(_bounded(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def date(seconds: float) -> str:
    """`2026-01-31`."""
    return datetime.fromtimestamp(_bounded(seconds), UTC).strftime("%Y-%m-%d")


def _bounded(seconds: float) -> int:
    return int(min(max(seconds, 0), LAST_SECOND))


def like(seconds: int, value: object) -> str | int:
    """A time in the form that a value beside it has."""
    if not isinstance(value, str):
        return seconds
    return date(seconds) if len(value) == len("2026-01-31") else timestamp(seconds)
