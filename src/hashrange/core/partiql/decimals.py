"""The numbers that PartiQL accepts: those of java.math.BigDecimal, whose exponent has 32 bits (measured)."""

import re
from typing import Any

from hashrange.core import numbers
from hashrange.core.errors import Invalid
from hashrange.core.limits import NESTING_LEVELS_MAX

_SCIENTIFIC = re.compile(r"[+-]?[0-9]*(?:\.([0-9]*))?[eE]([+-]?[0-9]{9,})", re.ASCII)
_SCALE_MAX = 2**31 - 1
_EXPONENT_DIGITS_MAX = len(str(_SCALE_MAX))


def check(text: str) -> None:
    """Refuse an exponent that does not fit in 32 bits, before one that is out of the service's range."""
    match = _SCIENTIFIC.fullmatch(text)
    if match is None:
        return
    fraction, exponent = match.groups()
    # Python refuses to convert thousands of digits, even if most of them are zeros.
    digits = exponent.lstrip("+-0") or "0"
    magnitude = int(digits) if len(digits) <= _EXPONENT_DIGITS_MAX else 2 * _SCALE_MAX
    scale = len(fraction or "") - (-magnitude if exponent[0] == "-" else magnitude)
    if not -_SCALE_MAX - 1 <= scale <= _SCALE_MAX:
        raise Invalid(f"The parameter cannot be converted to a numeric value: {text}")
    numbers.canonical(text)


def check_all(raw: Any, depth: int = 0) -> None:
    """Check every number in a parameter as sent, and ignore whatever else is wrong with it: others report that."""
    if not isinstance(raw, dict) or depth > NESTING_LEVELS_MAX:
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
                for member in content:
                    check_all(member, depth + 1)
            case "M", dict():
                for member in content.values():
                    check_all(member, depth + 1)
            case _:
                pass
