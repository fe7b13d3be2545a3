"""Spans of time as tests write them: "1h", "200ms", 90, timedelta(days=2)."""

import re
from datetime import timedelta

from hashrange.durations import parse_duration

Span = str | float | timedelta

_MILLISECONDS = re.compile(r"([0-9]{1,9})ms")


def seconds(span: Span) -> float:
    """The seconds of a span of time; a bare number is seconds."""
    if isinstance(span, timedelta):
        return span.total_seconds()
    if not isinstance(span, str):
        return float(span)
    match = _MILLISECONDS.fullmatch(span.strip().lower())
    return int(match[1]) / 1000 if match else float(parse_duration(span))
