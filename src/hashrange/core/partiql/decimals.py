"""The numbers that PartiQL accepts: those of java.math.BigDecimal, whose exponent has 32 bits (measured)."""

import contextlib
import re
from collections.abc import Collection
from typing import Any

from hashrange.core import numbers
from hashrange.core.errors import Invalid
from hashrange.core.limits import NESTING_LEVELS_MAX

_SCIENTIFIC = re.compile(r"[+-]?[0-9]*(?:\.([0-9]*))?[eE]([+-]?[0-9]{9,})", re.ASCII)
_INT_MAX = 2**31 - 1
_INT_DIGITS_MAX = len(str(_INT_MAX))


def converts(text: str) -> bool:
    """Whether exponent and scale fit in 32 bits; what is no number at all is for others to tell."""
    match = _SCIENTIFIC.fullmatch(text)
    if match is None:
        return True
    fraction, exponent = match.groups()
    # Python refuses to convert thousands of digits, even if most of them are zeros.
    digits = exponent.lstrip("+-0") or "0"
    if len(digits) > _INT_DIGITS_MAX:
        return False
    power = -int(digits) if exponent[0] == "-" else int(digits)
    return power <= _INT_MAX and len(fraction or "") - power <= _INT_MAX


def check(text: str) -> None:
    """Refuse an exponent that does not fit in 32 bits, before one that is out of the service's range."""
    if not converts(text):
        raise Invalid(f"The parameter cannot be converted to a numeric value: {text}")
    numbers.canonical(text, wording="coral")


def check_all(raw: Any) -> None:
    """Check the numbers in a parameter as sent, up to where it nests too deep: the first fault is reported (recorded).

    Whatever else is wrong with the parameter others report.
    """
    with contextlib.suppress(_TooDeepError):
        _check_below(raw, 0)


class _TooDeepError(Exception):
    """From here on nothing is looked at."""


def _check_below(raw: Any, depth: int) -> None:
    if not isinstance(raw, dict):
        return
    for kind, content in raw.items():
        match kind, content:
            case "N", str():
                check(content)
            case "NS", list():
                for member in content:
                    if isinstance(member, str):
                        check(member)
            case "L", list():
                _check_members(content, depth + 1)
            case "M", dict():
                _check_members(content.values(), depth + 1)
            case _:
                pass


def _check_members(members: Collection[Any], depth: int) -> None:
    if members and depth > NESTING_LEVELS_MAX:
        raise _TooDeepError
    for member in members:
        _check_below(member, depth)
