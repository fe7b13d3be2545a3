"""DynamoDB numbers: 38 significant digits, a canonical text, exact arithmetic, and bytes that sort by value."""

import re
from decimal import Context, Decimal, Inexact
from functools import lru_cache

from hashrange.core import limits
from hashrange.core.errors import Invalid, RequestInvalid, Wording

# Matches a whole number that is canonical as it is. A bound method: a function around it would cost as much again.
match_plain = re.compile(r"(?:0|-?[1-9][0-9]{0,37})\Z").match
_NUMBER = re.compile(r"[+-]?(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?\Z", re.ASCII).match

_OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
_UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
_DIGITS = "Attempting to store more than 38 significant digits in a Number"
_NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1

# 300 digits hold the exact sum of any two legal numbers, so that arithmetic never rounds.
_ARITHMETIC = Context(prec=300, Emax=999999, Emin=-999999, traps=[Inexact])
_SHORT_CHARS = 18  # integers of so few digits are added faster than decimals, and cannot exceed the limits


def canonical(text: str, *, wording: Wording = "newer") -> str:
    """The service's own text of a number: no exponent, no sign on zero, no leading or trailing zeros."""
    if match_plain(text):
        return text
    return _canonical_slow(text, wording=wording)


def _canonical_slow(text: str, *, wording: Wording) -> str:
    match = _NUMBER(text)
    if match is None:
        raise RequestInvalid(_conversion_message(text, wording=wording))
    whole, fraction, bare_fraction, exponent_text = match.groups()
    fraction = fraction or bare_fraction or ""
    exponent = int(exponent_text) if exponent_text and len(exponent_text) < 4000 else 0
    if exponent_text and (len(exponent_text) >= 4000 or abs(exponent) > _INT64_MAX):
        raise RequestInvalid(_conversion_message(text, wording=wording))
    digits = (whole or "") + fraction
    return _render("-" if text[0] == "-" else "", digits, exponent - len(fraction), wording=wording)


def _conversion_message(text: str, *, wording: Wording) -> str:
    # The newer layer keeps the colon when nothing follows it (measured).
    return _NOT_A_NUMBER if wording == "coral" and not text else f"{_NOT_A_NUMBER}: {text}"


def _render(sign: str, digits: str, exponent: int, *, wording: Wording) -> str:
    """Text of digits x 10^exponent, after the range checks in the service's order."""
    significant = digits.strip("0")
    if not significant:
        # Zero keeps its exponent for the range check: 0e126 overflows, 0e125 stores 0 (measured).
        _check_range(exponent, wording=wording)
        return "0"
    trailing = len(digits) - len(digits.rstrip("0"))
    exponent += trailing
    _check_range(exponent + len(significant) - 1, wording=wording)
    if len(significant) > limits.NUMBER_DIGITS_MAX:
        raise RequestInvalid(_DIGITS)
    return sign + _expand(significant, exponent)


def _check_range(magnitude: int, *, wording: Wording) -> None:
    if magnitude > limits.NUMBER_EXPONENT_MAX:
        # Coral's 32-bit exponent wraps around (measured on 1e2147483647).
        raise RequestInvalid(_UNDERFLOW if wording == "coral" and magnitude >= _INT32_MAX else _OVERFLOW)
    if magnitude < limits.NUMBER_EXPONENT_MIN:
        raise RequestInvalid(_UNDERFLOW)


def _expand(significant: str, exponent: int) -> str:
    if exponent >= 0:
        return significant + "0" * exponent
    point = len(significant) + exponent
    if point > 0:
        return f"{significant[:point]}.{significant[point:]}"
    return f"0.{'0' * -point}{significant}"


def to_decimal(text: str) -> Decimal:
    """The exact value of a canonical number."""
    return Decimal(text)


def compare(left: str, right: str) -> int:
    """Negative, zero or positive as left is less than, equal to or greater than right."""
    if left == right:
        return 0
    return -1 if Decimal(left) < Decimal(right) else 1


def add(left: str, right: str) -> str:
    """Exact sum of two canonical numbers; raises where the service would refuse the result."""
    if len(left) <= _SHORT_CHARS and len(right) <= _SHORT_CHARS and "." not in left and "." not in right:
        return str(int(left) + int(right))
    return _result(Decimal(left), Decimal(right))


def subtract(left: str, right: str) -> str:
    """Exact difference of two canonical numbers; raises where the service would refuse the result."""
    if len(left) <= _SHORT_CHARS and len(right) <= _SHORT_CHARS and "." not in left and "." not in right:
        return str(int(left) - int(right))
    # Plain negation would round to the 28 digits of the ambient context.
    return _result(Decimal(left), Decimal(right).copy_negate())


def _result(left: Decimal, right: Decimal) -> str:
    try:
        return canonical(format(_ARITHMETIC.add(left, right), "f"))
    except RequestInvalid as error:
        # A result with too many digits is called too large (measured).
        raise Invalid(_OVERFLOW if error.message == _DIGITS else error.message) from None


def size(text: str) -> int:
    """The size of a canonical number: a byte, one per two digits before and behind the point, one for a sign."""
    negative = text[0] == "-"
    if "." not in text:
        return 1 + negative + (len(text.rstrip("0")) - negative + 1) // 2
    whole, _, fraction = text[negative:].partition(".")
    if whole == "0":
        digits = (len(fraction.lstrip("0")) + 1) // 2
    else:
        digits = (len(whole) + 1) // 2 + (len(fraction) + 1) // 2
    return 1 + digits + negative


# What stands for two decimal digits in a key, by the byte that has these digits in hexadecimal.
_PAIRS = [high * 10 + low if high < 10 and low < 10 else 0 for high in range(16) for low in range(16)]
_POSITIVE_PAIRS = bytes(pair + 1 for pair in _PAIRS)
_NEGATIVE_PAIRS = bytes(101 - pair for pair in _PAIRS)


@lru_cache(maxsize=4096)
def encode(text: str) -> bytes:
    """Bytes that sort as the numbers do; see docs/design/002-key-bytes.md for the form and its vectors."""
    if text == "0":
        return b"\x80"
    negative = text[0] == "-"
    whole, _, fraction = text[negative:].partition(".")
    digits = whole + fraction
    stripped = digits.lstrip("0")
    # The decimal point stands `point` digits right of the first significant one.
    point = len(whole) - (len(digits) - len(stripped))
    if point % 2:
        stripped = "0" + stripped
    exponent = (point + 1) // 2
    stripped = stripped.rstrip("0")
    if len(stripped) % 2:
        stripped += "0"
    # Two digits a byte, as if they were hexadecimal: a third of the time that making a number of each pair takes.
    pairs = bytes.fromhex(stripped)
    if negative:
        return bytes((63 - exponent,)) + pairs.translate(_NEGATIVE_PAIRS) + b"\x66"
    return bytes((192 + exponent,)) + pairs.translate(_POSITIVE_PAIRS)


def decode(raw: bytes) -> str:
    """The number that `encode` made bytes of."""
    if raw == b"\x80":
        return "0"
    negative = raw[0] < 0x80
    exponent = 63 - raw[0] if negative else raw[0] - 192
    digits = "".join(
        f"{101 - byte if negative else byte - 1:02}" for byte in raw[1 : -1 if negative else None]
    )
    value = Decimal(digits).scaleb(2 * exponent - len(digits), _ARITHMETIC)
    return canonical(("-" if negative else "") + format(value, "f"))
