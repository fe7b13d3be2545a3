"""How many values a body may have, counted before anything is made of them.

A value takes 100 bytes of memory and more, and a microsecond, however little room it takes in JSON, let alone in JSON
that came compressed. And one object or list is made by one call of a decoder, during which all others wait. The
limits are above what the largest item can have: 400,000 elements, each of which is two values of JSON, an object and
the string in it, or 142,000 attributes, which need different names.
"""

from hashrange.api import errors
from hashrange.core.json_values import VALUES_MAX, marks, outside_strings

CONTROL_VALUES_MAX = 50_000  # of a request about tables, which has some thousands at most
MEMBERS_MAX = 160_000  # of all objects, beyond the first of each
ELEMENTS_MAX = 450_000  # of all lists, beyond the first of each
_SPACE = b" \t\r\n"


def refuse_many_values(body: bytes | bytearray, *, control: bool = False) -> None:
    """Raise if a body has more values than a request may have."""
    values_max = CONTROL_VALUES_MAX if control else VALUES_MAX
    # Text has these characters too: only where there are many of them is it worth looking which are text.
    if marks(body) <= min(values_max, MEMBERS_MAX, ELEMENTS_MAX):
        return
    values = members = commas = 0
    last = b""
    for piece in outside_strings(body):
        bare = piece.translate(None, _SPACE)
        values += marks(bare)
        commas += bare.count(b",")
        # An object has a colon for every member, and an empty one has none.
        empty = (last + bare).count(b"{}")
        members += bare.count(b":") - bare.count(b"{") + empty
        last = bare[-1:] or last
        # Asked for every piece: what comes after a syntax error cannot make up for what came before it.
        if values > values_max or members > MEMBERS_MAX or commas - members > ELEMENTS_MAX:
            raise errors.too_many_values()
