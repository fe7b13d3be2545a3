"""Changes: what one version of a model has, and the other has not, or has differently."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hashrange.modeling.diff.likeness import differing
from hashrange.modeling.model import Entity, Index, KeyAttribute, Model, Table

Action = Literal["added", "removed", "changed"]
Kind = Literal["table", "index", "entity", "pattern"]


@dataclass(frozen=True, slots=True)
class Change:
    """One change. What cannot be done in place takes a new table, or a new index, and `in_place` is False."""

    action: Action
    kind: Kind
    name: str
    details: tuple[str, ...] = ()
    in_place: bool = True


def rebuilt_tables(old: Model, new: Model) -> dict[str, str]:
    """Tables that have to be made anew under the name that they have, and why."""
    reasons = {}
    for name in old.tables.keys() & new.tables.keys():
        before, after = old.tables[name], new.tables[name]
        if (before.partition_key, before.sort_key) != (after.partition_key, after.sort_key):
            reasons[name] = "the key of a table cannot be changed"
        elif _local(before) != _local(after):
            reasons[name] = "local indexes are made with their table, and stay as long as it does"
    return dict(sorted(reasons.items()))


def _local(table: Table) -> dict[str, tuple[Any, ...]]:
    locals_ = (index for index in table.indexes if index.local)
    return {index.name: (index.sort_key, index.projection, set(index.included)) for index in locals_}


def changes(old: Model, new: Model) -> tuple[Change, ...]:
    """All of them, tables first."""
    return (*_tables(old, new), *_indexes(old, new), *_entities(old, new), *_patterns(old, new))


def _paired(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys((*old, *new)):
        yield name, old.get(name), new.get(name)


def _come_or_gone(kind: Kind, name: str, before: object) -> Change:
    return Change("added" if before is None else "removed", kind, name)


def _tables(old: Model, new: Model) -> Iterator[Change]:
    rebuilt = rebuilt_tables(old, new)
    for name, before, after in _paired(old.tables, new.tables):
        if before is None or after is None:
            yield _come_or_gone("table", name, before)
            continue
        members = [member for member in differing(before, after) if member != "indexes"]
        details = tuple(_detail(member, before, after) for member in members)
        if details or name in rebuilt:
            reason = (rebuilt[name],) if name in rebuilt else ()
            yield Change("changed", "table", name, (*details, *reason), name not in rebuilt)


def _indexes(old: Model, new: Model) -> Iterator[Change]:
    for table in (name for name in old.tables if name in new.tables):
        before_all = {index.name: index for index in old.tables[table].indexes}
        after_all = {index.name: index for index in new.tables[table].indexes}
        for name, before, after in _paired(before_all, after_all):
            title = f"{table}/{name}"
            if before is None or after is None:
                index: Index = after or before
                yield Change("added" if before is None else "removed", "index", title, (), not index.local)
            elif members := differing(before, after):
                details = tuple(_detail(member, before, after) for member in members)
                yield Change("changed", "index", title, details, in_place=False)


def _entities(old: Model, new: Model) -> Iterator[Change]:
    for name, before, after in _paired(old.entities, new.entities):
        if before is None or after is None:
            yield _come_or_gone("entity", name, before)
        elif details := tuple(_entity_details(before, after)):
            yield Change("changed", "entity", name, details)


def _entity_details(before: Entity, after: Entity) -> Iterator[str]:
    for member in differing(before, after):
        match member:
            case "keys":
                for name, old, new in _paired(before.keys, after.keys):
                    texts = [None if template is None else template.text for template in (old, new)]
                    if texts[0] != texts[1]:
                        yield f"key {name}: {_text(texts[0])} -> {_text(texts[1])}"
            case "attributes":
                yield from _attribute_details(before, after)
            case "only_if":
                yield "which items have the keys of sparse indexes"
            case _:
                yield _detail(member, before, after)


def _attribute_details(before: Entity, after: Entity) -> Iterator[str]:
    for name, old, new in _paired(before.attributes, after.attributes):
        if old is None or new is None:
            yield f"attribute {name} {'added' if old is None else 'removed'}"
        else:
            for member in differing(old, new):
                yield f"attribute {name}: {_detail(member, old, new)}"


def _patterns(old: Model, new: Model) -> Iterator[Change]:
    before_all = {pattern.id: pattern for pattern in old.patterns}
    after_all = {pattern.id: pattern for pattern in new.patterns}
    for name, before, after in _paired(before_all, after_all):
        if before is None or after is None:
            yield _come_or_gone("pattern", name, before)
        elif type(before) is not type(after):
            yield Change("changed", "pattern", name, ("one reads, the other writes",))
        elif members := differing(before, after):
            yield Change(
                "changed", "pattern", name, tuple(_detail(member, before, after) for member in members)
            )


def _detail(member: str, before: object, after: object) -> str:
    old, new = getattr(before, member), getattr(after, member)
    texts = _text(old), _text(new)
    title = member.replace("_", " ")
    return title if "" in texts else f"{title}: {texts[0]} -> {texts[1]}"


def _text(value: object) -> str:
    """A small value as text; empty for one that would not be read with pleasure."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case str() | int():
            return str(value)
        case float():
            return f"{value:g}"
        case KeyAttribute():
            return value.name if value.type == "S" else f"{value.name} ({value.type})"
        case tuple():
            parts = [_text(part) for part in value]
            return "" if "" in parts else ", ".join(parts) or "none"
        case _:
            return ""
