"""Spans of time as people write them: 90, 90s, 15m, 36h, 2d, 1d12h."""

import re

_UNIT_SECONDS = {"w": 7 * 24 * 3600, "d": 24 * 3600, "h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(
    r"(?:([0-9]{1,9})w)?(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?"
)
_RULE = "must be a time such as 90s, 15m, 36h, 2d or 1d12h"


def parse_duration(text: str) -> int:
    """The seconds of a span of time; a bare number is seconds."""
    written = text.strip().lower()
    if re.fullmatch("[0-9]{1,12}", written):
        return int(written)
    match = _DURATION.fullmatch(written)
    if match is None or not written:
        raise ValueError(_RULE)
    return sum(
        int(number) * seconds
        for number, seconds in zip(match.groups(), _UNIT_SECONDS.values(), strict=True)
        if number is not None
    )


def shown_duration(seconds: int) -> str:
    """A span of time as `parse_duration` reads it."""
    parts = []
    for unit, unit_seconds in _UNIT_SECONDS.items():
        count, seconds = divmod(seconds, unit_seconds)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
