"""Work: what has to become of the items that are stored, entity by entity."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hashrange.modeling.diff.changes import rebuilt_tables
from hashrange.modeling.diff.likeness import is_rewritten, is_same_key
from hashrange.modeling.model import Entity, Model, Table
from hashrange.modeling.plans import AccessPath, paths, template_of
from hashrange.modeling.population import entry_share

# Written where it is; under another key of its table; or into another table.
WorkKind = Literal["update", "rekey", "move"]


@dataclass(frozen=True, slots=True)
class Work:
    """An entity whose stored items are not what the new version would write; `share` of them, and why.

    `attributes` are those that get another value.
    """

    old: Entity
    new: Entity
    kind: WorkKind
    reasons: tuple[str, ...]
    attributes: frozenset[str]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class _Rewrite:
    """An attribute that is written anew, for a share of the items."""

    attribute: str
    reason: str
    share: float


def works(old: Model, new: Model) -> tuple[Work, ...]:
    """Of all entities that both versions have."""
    rebuilt = rebuilt_tables(old, new)
    pairs = ((entity, new.entities.get(name)) for name, entity in old.entities.items())
    found = (_work(old, new, (before, after), rebuilt) for before, after in pairs if after is not None)
    return tuple(work for work in found if work is not None)


def _work(old: Model, new: Model, pair: tuple[Entity, Entity], rebuilt: dict[str, str]) -> Work | None:
    before, after = pair
    rewrites = [*_attributes(before, after), *_index_keys(old, new, before, after)]
    names = frozenset(rewrite.attribute for rewrite in rewrites)
    reasons = tuple(rewrite.reason for rewrite in rewrites)
    if before.table != after.table:
        moved = f"from {before.table} to {after.table}"
        return Work(before, after, "move", (moved, *reasons), names)
    if before.table in rebuilt:
        return Work(before, after, "move", (f"{before.table}: {rebuilt[before.table]}", *reasons), names)
    key = [part.name for part in AccessPath(new.tables[after.table]).key]
    rekeyed = [name for name in key if not is_same_key(before, after, name)]
    if rekeyed:
        texts = tuple(_key_reason(before, after, name) for name in rekeyed)
        return Work(before, after, "rekey", (*texts, *reasons), names | frozenset(rekeyed))
    if not rewrites:
        return None
    return Work(before, after, "update", reasons, names, max(rewrite.share for rewrite in rewrites))


def _attributes(before: Entity, after: Entity) -> Iterator[_Rewrite]:
    """Attributes that every item has from now on, and those with values of another form."""
    for name, attribute in after.attributes.items():
        stored = before.attributes.get(name)
        if stored is None:
            if attribute.optional == 0:
                yield _Rewrite(name, f"attribute {name} is new", 1.0)
        elif is_rewritten(stored, attribute):
            forms = f"{stored.format or stored.type} -> {attribute.format or attribute.type}"
            yield _Rewrite(name, f"attribute {name}: {forms}", 1 - stored.optional)


def _index_keys(old: Model, new: Model, before: Entity, after: Entity) -> Iterator[_Rewrite]:
    """Keys of indexes that the new table has. A key whose index goes may stay on the items; nothing reads it."""
    table = new.tables[after.table]
    own = {key.name for key in AccessPath(table).key}
    names = dict.fromkeys(key.name for path in paths(table) for key in path.key if key.name not in own)
    for name in names:
        # An attribute of the application's own that is the key, too, has been looked at as an attribute.
        if name in after.attributes or is_same_key(before, after, name):
            continue
        shares = (_share(old, before, name), _share(new, after, name))
        yield _Rewrite(name, _key_reason(before, after, name), max(shares))


def _share(model: Model, entity: Entity, name: str) -> float:
    table: Table = model.tables[entity.table]
    indexes = (path.index for path in paths(table) if any(key.name == name for key in path.key))
    return max((entry_share(model, entity, index) for index in indexes), default=0.0)


def _key_reason(before: Entity, after: Entity, name: str) -> str:
    texts = []
    for entity in (before, after):
        template = template_of(entity, name)
        text = "none" if template is None else template.text
        texts.append(f"{text} (some)" if name in entity.only_if else text)
    same = texts[0] == texts[1]
    return f"key {name} of other items, or in another form" if same else f"key {name}: {' -> '.join(texts)}"
