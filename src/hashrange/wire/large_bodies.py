"""How many values a body may have."""

from hashrange.api import errors
from hashrange.core import json_values


def refuse_many_values(body: bytes | bytearray) -> None:
    """Raise if a body has more values than a request may have."""
    if json_values.too_many(body):
        raise errors.too_many_values()
