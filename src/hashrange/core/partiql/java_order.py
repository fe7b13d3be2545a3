"""The order in which the service prints sets of names: that of a Java hash set."""

from collections.abc import Iterable

_SLOTS_LEAST = 16
_LOAD = 0.75


def hash_set_order(names: Iterable[str], *, sized: bool = False) -> list[str]:
    """The distinct names, in the order in which java.util.HashSet iterates over them.

    A set may have been `sized` for as many names as it was then given.
    """
    distinct = list(dict.fromkeys(names))
    slots = 1 << (len(distinct) - 1).bit_length() if sized and distinct else _SLOTS_LEAST
    while len(distinct) > slots * _LOAD:
        slots *= 2
    return sorted(distinct, key=lambda name: _spread(name) & (slots - 1))


def _spread(name: str) -> int:
    code = 0
    units = name.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        code = (code * 31 + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    return code ^ (code >> 16)
