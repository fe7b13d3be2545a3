"""A table as a plain dictionary: what the server is compared with."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Item = dict[str, dict[str, Any]]
Key = tuple[str, str]
Predicate = Callable[[Item], bool]
Change = Callable[[Item], Item]


class Failed(Exception):
    """The condition does not hold."""


class Invalid(Exception):
    """The update cannot be applied to this item."""


@dataclass(frozen=True)
class PlainIndex:
    """Which attributes an index is keyed by, and what it carries (None: everything)."""

    hash: tuple[str, ...]
    range: tuple[str, ...] = ()
    carries: frozenset[str] | None = None


@dataclass(frozen=True)
class Action:
    """One write: a whole item, a change of the old one, or None to delete; or only a check."""

    key: Item
    condition: Predicate
    change: Change | None = None
    checks_only: bool = False


@dataclass
class PlainTable:
    """Items by their primary key."""

    indexes: dict[str, PlainIndex]
    items: dict[Key, Item] = field(default_factory=dict)

    def result(self, action: Action) -> Item | None:
        """What an action would leave behind."""
        old = self.items.get(place(action.key))
        if not action.condition(old or {}):
            raise Failed
        if action.checks_only:
            return old
        return None if action.change is None else action.change(old or {})

    def store(self, action: Action, new: Item | None) -> None:
        """Put a result in its place."""
        if new is None:
            self.items.pop(place(action.key), None)
        else:
            self.items[place(action.key)] = new

    def run(self, action: Action) -> tuple[Item | None, Item | None]:
        """Do one write; gives the images before and after."""
        old = self.items.get(place(action.key))
        new = self.result(action)
        self.store(action, new)
        return old, new

    def run_all(self, actions: Iterable[Action]) -> list[str]:
        """Do all writes or none; gives the code of each that stands in the way."""
        actions = list(actions)
        results, codes = [], []
        for action in actions:
            try:
                results.append(self.result(action))
                codes.append("None")
            except Failed:
                codes.append("ConditionalCheckFailed")
            except Invalid:
                codes.append("ValidationError")
        if set(codes) <= {"None"}:
            for action, new in zip(actions, results, strict=True):
                self.store(action, new)
        return codes

    def entries(self, name: str) -> list[Item]:
        """The entries of an index, in no particular order."""
        index = self.indexes[name]
        found = [item for item in self.items.values() if all(key in item for key in index.hash + index.range)]
        return [carried(index, item) for item in found]


def carried(index: PlainIndex, item: Item) -> Item:
    """The part of an item that an index carries."""
    if index.carries is None:
        return item
    names = index.carries | {"pk", "sk", *index.hash, *index.range}
    return {name: value for name, value in item.items() if name in names}


def place(item: Item) -> Key:
    """Where an item is kept."""
    return item["pk"]["S"], item["sk"]["N"]


def rank(value: dict[str, Any]) -> Any:
    """What a key value is ordered by."""
    return Decimal(value["N"]) if "N" in value else value["S"].encode()
