"""Waiting between two attempts."""

import random
import time

_SECONDS_FIRST = 0.002
_SECONDS_MAX = 0.25


def back_off(attempt: int) -> None:
    """Sleep a random while, longer with each attempt, so that those who collided do not meet again."""
    most = min(_SECONDS_FIRST * 2**attempt, _SECONDS_MAX)
    time.sleep(random.uniform(0, most))  # noqa: S311 - not a secret
