"""Items as sent, brought into canonical form and measured: by the compiled helper, where it was built.

The helper (`_plain.c`) takes items in which nothing is unusual, and makes their JSON on the way. All else, and
everything where there is no helper, is judged by `values`.
"""

from collections.abc import Callable
from typing import Any

from hashrange.core import values
from hashrange.core.errors import Wording
from hashrange.core.values import Item

Helper = Callable[[Any], tuple[bytes, int] | None]

helper: Helper | None
try:
    from hashrange.core._plain import canonical as helper
except ImportError:
    helper = None


def canonical(raw: Any, *, wording: Wording = "newer") -> tuple[Item, int, bytes | None]:
    """Check every attribute of a map as sent and make it canonical in place: the item, its size, maybe its JSON."""
    if helper is not None:
        plain = helper(raw)
        if plain is not None:
            return raw, plain[1], plain[0]
    item, size = values.canonical_sized(raw, wording=wording)
    return item, size, None


def measured(item: Item) -> tuple[int, bytes | None]:
    """The size of a canonical item, or of some of its attributes, and maybe its JSON."""
    return measured_or_none(item) or (values.attributes_size(item), None)


def measured_or_none(item: Item) -> tuple[int, bytes] | None:
    """Both, if the helper gives them: it leaves items to Python in which something is unusual."""
    plain = None if helper is None else helper(item)
    return None if plain is None else (plain[1], plain[0])
