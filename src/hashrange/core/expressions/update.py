"""Updates, and how to apply one: check all paths, compute all values, then make a changed copy of the item."""

from collections.abc import Iterable
from typing import assert_never

import msgspec

from hashrange.core.errors import Invalid
from hashrange.core.expressions import resolved
from hashrange.core.expressions.document_paths import step
from hashrange.core.expressions.evaluate_update import Result, addition, deletion, source
from hashrange.core.expressions.mentions import Mentions, action_paths, assigned_paths, mentions
from hashrange.core.expressions.statement_charge import Charge, charge
from hashrange.core.limits import ITEM_BYTES_MAX
from hashrange.core.values import Item, Value, size

# One branch per path part; where the path of an action ends, the position of its result among all results.
Tree = dict[str | int, "int | Tree"]


class UpdatePlan(msgspec.Struct, frozen=True):
    """Everything about an update that the values do not change: the result of each action, and its place."""

    actions: tuple[resolved.Action, ...]
    paths: tuple[resolved.Path, ...]
    mentions: Mentions
    targets: tuple[str, ...]
    removes_only: bool
    charge: Charge
    results: tuple[Result, ...]
    copies: int  # of values that the item has already; small expressions make large items of them
    whole: tuple[tuple[str, int], ...]
    trees: tuple[tuple[str, Tree], ...]


class Update(msgspec.Struct, frozen=True):
    """An update and the values it needs; made by `Binder.update` or `build.update`."""

    plan: UpdatePlan
    values: resolved.Values

    @property
    def actions(self) -> tuple[resolved.Action, ...]:
        """Its actions, for whose Parameters `values` has the values."""
        return self.plan.actions

    @property
    def attributes(self) -> frozenset[str]:
        """Top-level names of the attributes that it mentions, written or read."""
        return self.plan.mentions.attributes

    @property
    def nested(self) -> frozenset[str]:
        """Those of them into which it has paths, with . or []."""
        return self.plan.mentions.nested

    @property
    def targets(self) -> tuple[str, ...]:
        """Top-level names of the attributes that it writes or removes, in its own order."""
        return self.plan.targets

    @property
    def removes_only(self) -> bool:
        """Whether it only removes: it then makes no item where there is none."""
        return self.plan.removes_only


class Applied(msgspec.Struct, frozen=True):
    """What an update made of an item."""

    item: Item
    paths: tuple[resolved.Path, ...]


def update_charge(update: Update) -> int:
    """The bytes that the expression itself counts against the item size limit."""
    return update.plan.charge.total(update.values)


def plan_update(actions: tuple[resolved.Action, ...]) -> UpdatePlan:
    """Compile actions whose paths neither overlap nor conflict."""
    tree: Tree = {}
    for at, action in enumerate(actions):
        _plant(tree, action.path.parts, at)
    return UpdatePlan(
        actions=actions,
        paths=tuple(action.path for action in actions),
        mentions=mentions(path for action in actions for path in action_paths(action)),
        targets=tuple(map(str, tree)),
        removes_only=all(isinstance(action, resolved.Remove | resolved.Delete) for action in actions),
        charge=charge(actions),
        results=tuple(_result(action) for action in actions),
        copies=sum(_copies(action) for action in actions),
        whole=tuple((str(name), below) for name, below in tree.items() if isinstance(below, int)),
        trees=tuple((str(name), below) for name, below in tree.items() if not isinstance(below, int)),
    )


def _plant(tree: Tree, parts: Iterable[str | int], at: int) -> None:
    *branches, leaf = parts
    for part in branches:
        below = tree.setdefault(part, {})
        if isinstance(below, int):
            raise ValueError("resolving must have refused overlapping paths")  # noqa: TRY004
        tree = below
    tree[leaf] = at


def _copies(action: resolved.Action) -> int:
    return len(assigned_paths(action.value)) if isinstance(action, resolved.Set) else 0


def _result(action: resolved.Action) -> Result:
    match action:
        case resolved.Set(_, value):
            return source(value)
        case resolved.Remove():
            return lambda _item, _values: None
        case resolved.Add():
            return addition(action)
        case resolved.Delete():
            return deletion(action)
        case _:
            assert_never(action)


def apply_update(update: Update, item: Item) -> Applied:
    """The item after the update; an empty item stands for one that does not exist."""
    plan, values = update.plan, update.values
    if not item and plan.removes_only:
        # Removing a nested path is no error where there is no item, but is one where the item lacks the path.
        return Applied(item, plan.paths)
    for name, tree in plan.trees:
        _check(item.get(name), tree)
    if plan.copies > 1:
        results = _limited_results(plan, item, values)
    else:
        results = [result(item, values) for result in plan.results]
    changed = dict(item)
    for name, at in plan.whole:
        _put(changed, name, results[at])
    for name, tree in plan.trees:
        changed[name] = _rebuild(item[name], tree, results)
    return Applied(changed, plan.paths)


def _limited_results(plan: UpdatePlan, item: Item, values: resolved.Values) -> list[Value | None]:
    """All results, unless they alone are larger than an item may be: 4 KB of text can copy a list 500 times."""
    results: list[Value | None] = []
    total = 0
    for result in plan.results:
        value = result(item, values)
        results.append(value)
        if value is not None:
            total += size(value)
            if total > ITEM_BYTES_MAX:
                raise update_too_large()
    return results


def update_too_large() -> Invalid:
    """The item would be larger than an item may be."""
    return Invalid("Item size to update has exceeded the maximum allowed size")


def _check(value: Value | None, tree: Tree) -> None:
    """Every path must lead through maps and lists that are there."""
    kind = "L" if isinstance(next(iter(tree)), int) else "M"
    if value is None or kind not in value:
        raise Invalid("The document path provided in the update expression is invalid for update")
    for part, below in tree.items():
        if not isinstance(below, int):
            _check(step(value, part), below)


def _put(entries: dict[str, Value], name: str, value: Value | None) -> None:
    if value is None:
        entries.pop(name, None)
    else:
        entries[name] = value


def _rebuild(value: Value, tree: Tree, results: list[Value | None]) -> Value:
    """A copy of a map or list with the results put in their places."""
    if "L" in value:
        return {"L": _rebuild_list(value["L"], tree, results)}
    entries = dict(value["M"])
    for name, below in tree.items():
        new = results[below] if isinstance(below, int) else _rebuild(entries[str(name)], below, results)
        _put(entries, str(name), new)
    return {"M": entries}


def _rebuild_list(elements: list[Value], tree: Tree, results: list[Value | None]) -> list[Value]:
    """Indexes mean the old positions; those beyond the end append, lowest first."""
    changed: list[Value | None] = list(elements)
    for index in sorted(part for part in tree if isinstance(part, int)):
        below = tree[index]
        new = results[below] if isinstance(below, int) else _rebuild(elements[index], below, results)
        if index < len(elements):
            changed[index] = new
        else:
            changed.append(new)
    return [element for element in changed if element is not None]
