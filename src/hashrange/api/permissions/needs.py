"""A need: one action on one resource, with the condition keys that the request gives it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from hashrange.auth.policy.keys import ConditionKeys, KeyValue
from hashrange.core.errors import Refused
from hashrange.core.schema import Table
from hashrange.core.values import Malformed

# Where in a key the values of each condition key stand: an index may have up to four hash attributes.
_POSITIONS = {
    "dynamodb:leadingkeys": 0,
    "dynamodb:firstpartitionkeyvalues": 0,
    "dynamodb:secondpartitionkeyvalues": 1,
    "dynamodb:thirdpartitionkeyvalues": 2,
    "dynamodb:fourthpartitionkeyvalues": 3,
}
PARTITION_KEYS = frozenset(_POSITIONS)  # condition keys whose values are those of keys of items
_ATTRIBUTES = "dynamodb:attributes"
REQUEST_TAG = "aws:requesttag/"
RESOURCE_TAG = "aws:resourcetag/"

# The partitions that a request addresses: the texts of their hash attributes. None: it addresses none in particular.
Partitions = Sequence[tuple[str, ...]] | None


class Undetermined(Exception):
    """A policy asks for something about the request that cannot be told: the request is then denied."""


NO_KEYS: ConditionKeys = {}


def tag_named(tags: Iterable[tuple[str, str]], name: str) -> str | None:
    """The value of a tag, by its key in lower case: in conditions the keys of tags have no case.

    A table may have two whose keys differ in nothing else. Whose it is then, cannot be told.
    """
    values = {value for key, value in tags if key.lower() == name}
    if len(values) > 1:
        raise Undetermined(name)
    return values.pop() if values else None


class TagKeys:
    """The condition keys of a request that gives tags; what it makes new has them already."""

    __slots__ = ("_prefixes", "_tags")

    def __init__(self, tags: Iterable[tuple[str, str]], *, new: bool = False) -> None:
        self._tags = tuple(tags)
        self._prefixes = (REQUEST_TAG, RESOURCE_TAG) if new else (REQUEST_TAG,)

    def get(self, key: str, /) -> KeyValue | None:
        """The value of a key."""
        if key == "aws:tagkeys":
            return tuple(name for name, _ in self._tags)
        prefix, _, name = key.partition("/")
        return tag_named(self._tags, name) if f"{prefix}/" in self._prefixes else None


class ItemKeys:
    """The condition keys of a request for items. What has to be parsed or looked up is so when a policy asks for it."""

    __slots__ = ("_attributes", "_known", "_lazy", "_partitions")

    def __init__(
        self,
        known: Mapping[str, str] | Callable[[], Mapping[str, str]],
        *,
        partitions: Callable[[], Partitions] | None = None,
        attributes: Callable[[], Iterable[str]] | None = None,
        lazy: Mapping[str, Callable[[], KeyValue | None]] | None = None,
    ) -> None:
        """Without `partitions` or `attributes` the action has no such key."""
        self._known = known
        self._partitions = partitions
        self._attributes = attributes
        self._lazy = lazy

    def get(self, key: str, /) -> KeyValue | None:
        """The value of a key."""
        try:
            return self._computed(key)
        except (Refused, Malformed):
            # The request will be refused for what is wrong with it, but nobody is told more of it than they may know.
            raise Undetermined(key) from None

    def _computed(self, key: str) -> KeyValue | None:
        position = _POSITIONS.get(key)
        if position is not None:
            return None if self._partitions is None else _at(self._partitions(), position)
        if key == _ATTRIBUTES and self._attributes is not None:
            return tuple(sorted(set(self._attributes())))
        if self._lazy is not None and key in self._lazy:
            return self._lazy[key]()
        known = self._known
        return (known() if callable(known) else known).get(key)


def _at(partitions: Partitions, position: int) -> tuple[str, ...] | None:
    if partitions is None:
        return None
    if len(partitions) == 1:
        return partitions[0][position : position + 1] or None
    if any(len(texts) <= position for texts in partitions):
        return None
    return tuple(dict.fromkeys(texts[position] for texts in partitions))


class Need(msgspec.Struct, frozen=True):
    """One permission that a request needs."""

    action: str
    resource: str
    keys: ConditionKeys = NO_KEYS
    account_id: str | None = None  # the owner of the resource; None: the caller
    table: Table | None = None  # whose tags and policies count
    policy: str | None = None  # which of the table's policies: see core/schema.py; None: none
    crosses: bool = False  # whether the resource's owner may let other accounts do it
