"""Random requests, each with what it means to the plain table."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from model.plain_table import Action, Change, Invalid, Item, Predicate

PARTITIONS = ("a", "b", "c\0")
NUMBERS = ("-12", "-1.5", "0", "0.25", "3", "100")
WORDS = ("a", "ab", "b", "é")


@dataclass
class Text:
    """An expression under construction: its placeholders are numbered as they come."""

    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def name(self, attribute: str) -> str:
        self.names["#" + attribute] = attribute
        return "#" + attribute

    def value(self, value: dict[str, Any]) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def parameters(self) -> dict[str, Any]:
        """The placeholders as request members; empty ones are left out, as the service wants it."""
        found: dict[str, Any] = {}
        if self.names:
            found["ExpressionAttributeNames"] = self.names
        if self.values:
            found["ExpressionAttributeValues"] = self.values
        return found


def key(random: Random) -> Item:
    return {"pk": {"S": random.choice(PARTITIONS)}, "sk": {"N": random.choice(NUMBERS)}}


def attribute(random: Random, name: str) -> dict[str, Any]:
    """A value that the attribute may have: `g` and `l` are strings and `n` a number, for the indexes' sake."""
    if name in ("g", "l"):
        return {"S": random.choice(WORDS)}
    if name == "n":
        return {"N": random.choice(NUMBERS)}
    if name == "set":
        return {"SS": sorted(random.sample(WORDS, random.randint(1, 3)))}
    return random.choice(
        ({"S": "x"}, {"N": "1"}, {"BOOL": True}, {"L": [{"N": "1"}]}, {"M": {"k": {"S": "v"}}})
    )


OTHERS = ("g", "l", "n", "v", "set")


def item(random: Random) -> Item:
    names = random.sample(OTHERS, random.randint(0, len(OTHERS)))
    return key(random) | {name: attribute(random, name) for name in names}


def condition(random: Random, text: Text, depth: int = 2) -> tuple[str, Predicate]:
    """A condition with its meaning."""
    if depth == 0 or random.random() < 0.6:
        return _comparison(random, text)
    left, first = condition(random, text, depth - 1)
    kind = random.randrange(3)
    if kind == 0:
        return f"(NOT {left})" if left[0] == "(" else f"NOT {left}", lambda item: not first(item)
    right, second = condition(random, text, depth - 1)
    if kind == 1:
        return f"({left} AND {right})", lambda item: first(item) and second(item)
    return f"({left} OR {right})", lambda item: first(item) or second(item)


def _comparison(random: Random, text: Text) -> tuple[str, Predicate]:
    name = random.choice(OTHERS)
    shown = text.name(name)
    kind = random.randrange(5)
    if kind == 0:
        return f"attribute_exists({shown})", lambda item: name in item
    if kind == 1:
        return f"attribute_not_exists({shown})", lambda item: name not in item
    value = attribute(random, name)
    if kind == 2:
        return f"{shown} = {text.value(value)}", lambda item: item.get(name) == value
    if kind == 3:
        return f"{shown} <> {text.value(value)}", lambda item: item.get(name) != value
    bound = {"N": random.choice(NUMBERS)}
    return f"{shown} < {text.value(bound)}", lambda item: _below(item.get(name), bound)


def _below(value: dict[str, Any] | None, bound: dict[str, Any]) -> bool:
    return value is not None and "N" in value and Decimal(value["N"]) < Decimal(bound["N"])


def number(value: Decimal) -> dict[str, Any]:
    return {"N": format(value.normalize() + 0, "f")}


def update(random: Random, text: Text) -> tuple[str, Change]:
    """An update of one to three attributes with its meaning, on an item or on none (an empty one)."""
    names = random.sample(OTHERS, random.randint(1, 3))
    clauses: dict[str, list[str]] = {}
    changes: list[Callable[[Item, Item], None]] = []
    for name in names:
        section, clause, change = _action(random, text, name)
        clauses.setdefault(section, []).append(clause)
        changes.append(change)
    shown = " ".join(f"{section} {', '.join(parts)}" for section, parts in clauses.items())

    def apply(old: Item) -> Item:
        new = dict(old)
        for change in changes:
            change(old, new)
        return new

    return shown, apply


def _action(random: Random, text: Text, name: str) -> tuple[str, str, Callable[[Item, Item], None]]:
    shown = text.name(name)
    choice = random.random()
    if choice < 0.25:
        return "REMOVE", shown, lambda _, new: _drop(new, name)
    if name == "n" and choice < 0.75:
        amount = Decimal(random.choice(NUMBERS))
        if choice < 0.5:
            return (
                "ADD",
                f"{shown} {text.value(number(amount))}",
                lambda old, new: _add(old, new, name, amount),
            )
        clause = f"{shown} = {shown} - {text.value(number(amount))}"
        return "SET", clause, lambda old, new: _subtract(old, new, name, amount)
    if name == "set" and choice < 0.75:
        members = attribute(random, name)
        section = "ADD" if choice < 0.5 else "DELETE"
        return (
            section,
            f"{shown} {text.value(members)}",
            lambda old, new: _members(section, old, new, name, members),
        )
    value = attribute(random, name)
    if choice < 0.85:
        clause = f"{shown} = if_not_exists({shown}, {text.value(value)})"
        return "SET", clause, lambda old, new: _set(new, name, old.get(name, value))
    return "SET", f"{shown} = {text.value(value)}", lambda _, new: _set(new, name, value)


def _drop(new: Item, name: str) -> None:
    new.pop(name, None)


def _set(new: Item, name: str, value: dict[str, Any]) -> None:
    new[name] = value


def _add(old: Item, new: Item, name: str, amount: Decimal) -> None:
    new[name] = number(Decimal(old[name]["N"]) + amount if name in old else amount)


def _subtract(old: Item, new: Item, name: str, amount: Decimal) -> None:
    if name not in old:
        raise Invalid
    new[name] = number(Decimal(old[name]["N"]) - amount)


def _members(section: str, old: Item, new: Item, name: str, members: dict[str, Any]) -> None:
    held, given = set(old.get(name, {"SS": []})["SS"]), set(members["SS"])
    left = held | given if section == "ADD" else held - given
    if left:
        new[name] = {"SS": sorted(left, key=str.encode)}
    else:
        _drop(new, name)


def always(_: Item) -> bool:
    return True


def put(random: Random) -> tuple[dict[str, Any], Action]:
    new = item(random)
    request: dict[str, Any] = {"Item": new}
    return request, Action(new, _conditioned(random, request, Text()), lambda _: new)


def delete(random: Random) -> tuple[dict[str, Any], Action]:
    request: dict[str, Any] = {"Key": key(random)}
    return request, Action(request["Key"], _conditioned(random, request, Text()))


def change(random: Random) -> tuple[dict[str, Any], Action]:
    text = Text()
    request: dict[str, Any] = {"Key": key(random)}
    request["UpdateExpression"], apply = update(random, text)
    removes_only = set(request["UpdateExpression"].split()) & {"SET", "ADD"} == set()

    def made(old: Item) -> Item | None:
        # Removing from an item that does not exist makes none.
        return None if not old and removes_only else apply(old or request["Key"])

    return request, Action(request["Key"], _conditioned(random, request, text), made)  # type: ignore[arg-type]


def check(random: Random) -> tuple[dict[str, Any], Action]:
    text = Text()
    request: dict[str, Any] = {"Key": key(random)}
    request["ConditionExpression"], holds = condition(random, text)
    request |= text.parameters()
    return request, Action(request["Key"], holds, checks_only=True)


def _conditioned(random: Random, request: dict[str, Any], text: Text) -> Predicate:
    holds: Predicate = always
    if random.random() < 0.4:
        request["ConditionExpression"], holds = condition(random, text)
    request |= text.parameters()
    return holds
