"""Checks of the times that requests name."""

import math

from hashrange.services.cloudwatch import errors

DAY = 86_400
_EPOCH_MAX = 253_402_300_799.0  # the last second of the year 9999


def check_range(start: float, end: float) -> None:
    """Refuse a range that is none."""
    for name, moment in (("StartTime", start), ("EndTime", end)):
        if not 0 <= moment <= _EPOCH_MAX:
            raise errors.invalid_value(f"The parameter {name} is not a valid time.")
    if start >= end:
        raise errors.invalid_value("The parameter StartTime must be less than the parameter EndTime.")


def check_period(period: int) -> None:
    """Refuse a period that no metric is kept by."""
    if period % 60 and period not in {1, 5, 10, 20, 30}:
        raise errors.invalid_value("The parameter Period must be a multiple of 60.")


def points_in(start: float, end: float, period: int) -> int:
    """How many points a range may have."""
    return math.ceil((end - start) / period)
