"""How two values compare: same type or not at all; numbers by value, strings and binaries by their bytes."""

from base64 import b64decode

from hashrange.core import numbers
from hashrange.core.values import Value


def compare(left: Value, right: Value) -> int | None:
    """Negative, zero or positive; None where the service has no order between these two."""
    ((kind, low),) = left.items()
    high = right.get(kind)
    if high is None:
        return None
    if kind == "S":
        # Code points sort as their UTF-8 bytes do.
        return int(low > high) - int(low < high)
    if kind == "N":
        return numbers.compare(low, high)
    if kind == "B":
        low_bytes, high_bytes = b64decode(low), b64decode(high)
        return int(low_bytes > high_bytes) - int(low_bytes < high_bytes)
    return None
