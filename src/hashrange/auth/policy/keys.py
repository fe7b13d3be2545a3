"""Condition keys: what a policy may ask about a request."""

from collections.abc import Mapping
from typing import Protocol

# A multivalued key is a tuple, however many values the request has; the arity belongs to the key.
KeyValue = str | tuple[str, ...]


class ConditionKeys(Protocol):
    """The condition keys of one request, computed when a policy asks for them."""

    def get(self, key: str, /) -> KeyValue | None:
        """The value of a key, by its name in lower case; None if the request has no such key."""


def keys_of(values: Mapping[str, KeyValue]) -> ConditionKeys:
    """Condition keys that are all known, in any spelling."""
    return {name.lower(): value for name, value in values.items()}
