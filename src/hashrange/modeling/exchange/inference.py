"""Entities from items: kinds by the prefixes of their keys, templates by what the parts of keys have in common.

A key is cut at `#` and `|`. Items whose keys begin with the same word (`USER#…`, `ORDER#…`) are of one kind; a part
that all of them share is fixed text, another is an attribute: one of theirs that has the same value, or a new one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hashrange.modeling.exchange.guesses import WireValue, attribute_of, text_format
from hashrange.modeling.exchange.placeholders import entity_name
from hashrange.modeling.model import Attribute, Entity, KeyAttribute, Table, Template
from hashrange.modeling.reading.references import key_attributes, primary_key
from hashrange.modeling.templates import parse_template

Item = Mapping[str, WireValue]
SAMPLE_DEFAULT = 2000
SAMPLE_MAX = 10_000
_ENTITIES_MAX = 100
_PARTS_MAX = 12
_SHARED_MIN = 2  # a part that only one item has is no fixed text
_TYPE_NAMES = ("_type", "entityType", "EntityType", "entity_type", "__edb_e__", "_et", "entity", "Type")
_GENERIC = frozenset({"DATA", "DETAILS", "HEADER", "INFO", "META", "METADATA", "PROFILE", "ROOT"})
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,39}")
_CONSTANT = re.compile(r"[A-Z][A-Z_-]{1,39}")
_SHAPE = re.compile(r"\{[^{}]*\}")
_NAMEABLE = re.compile(r"[^\s:(),{}]+")  # what a template can name
_CUT = re.compile(r"([#|])")


def entities_of(table: Table, items: Sequence[Item]) -> list[Entity]:
    """The kinds of items there are, each with templates for its keys; counts are those of the sample."""
    items = items[:SAMPLE_MAX]
    groups: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    keys = primary_key(table)
    words = [_common_words(items, key) for key in keys]
    for item in items:
        groups[_signature(item, keys, words)].append(item)
    kept = sorted(groups.items(), key=lambda group: -len(group[1]))[:_ENTITIES_MAX]
    names: Counter[str] = Counter()
    named = [(_name(signature, names), members) for signature, members in kept]
    return _with_named(table, _told_apart(table, named))


def _with_named(table: Table, entities: list[Entity]) -> list[Entity]:
    """The entities, with attributes that the table names (for TTL, in projections) and no item of the sample has."""
    known = {name for entity in entities for name in (*entity.attributes, *key_attributes(table))}
    named = [Attribute(name, optional=0.99) for index in table.indexes for name in index.included]
    if table.ttl_attribute is not None:
        named.append(Attribute(table.ttl_attribute, "N", format="epoch", optional=0.99))
    missing = {attribute.name: attribute for attribute in named if attribute.name not in known}
    if not entities or not missing:
        return entities
    return [replace(entities[0], attributes={**entities[0].attributes, **missing}), *entities[1:]]


def _told_apart(table: Table, kinds: Sequence[tuple[str, list[Item]]]) -> list[Entity]:
    """The entities; kinds whose keys look the same are one, because they would overwrite each other."""
    by_shape: dict[tuple[str, ...], tuple[str, list[Item]]] = {}
    for name, items in kinds:
        templates = _entity(name, table, items).keys
        shape = tuple(
            _SHAPE.sub("{}", templates[key.name].text) for key in primary_key(table) if key.name in templates
        )
        first, members = by_shape.setdefault(shape, (name, []))
        by_shape[shape] = (first, [*members, *items])
    return [_entity(name, table, items) for name, items in by_shape.values()]


def _text(item: Item, name: str) -> str | None:
    content = item.get(name, {}).get("S")
    return content if isinstance(content, str) else None


def _common_words(items: Sequence[Item], key: KeyAttribute) -> set[str]:
    """First parts of keys that look like the name of a kind: words that stand before a separator, or in capitals."""
    words: Counter[str] = Counter()
    for item in items:
        parts = _CUT.split(_text(item, key.name) or "", 1)
        if _WORD.fullmatch(parts[0]) and (len(parts) > 1 or _CONSTANT.fullmatch(parts[0])):
            words[parts[0]] += 1
    return {word for word, _ in words.most_common(_ENTITIES_MAX)}


def _signature(item: Item, keys: Sequence[KeyAttribute], words: Sequence[set[str]]) -> tuple[str, ...]:
    kind = next((text for name in _TYPE_NAMES if (text := _text(item, name))), "")
    firsts = (_CUT.split(_text(item, key.name) or "", 1)[0] for key in keys)
    return (kind, *(first if first in common else "" for first, common in zip(firsts, words, strict=True)))


def _name(signature: tuple[str, ...], names: Counter[str]) -> str:
    """The kind's own name; else the last word of its keys that tells: ORDER in USER#…, ORDER#…."""
    kind, *words = signature
    telling = [word for word in words if word and word.upper() not in _GENERIC]
    told = kind or (telling or [word for word in words if word] or [""])[-1]
    name = entity_name(told.lower() if told.isupper() else told)
    names[name] += 1
    return name if names[name] == 1 else f"{name}{names[name]}"


def _entity(name: str, table: Table, items: Sequence[Item]) -> Entity:
    keys = key_attributes(table)
    own = {attribute for item in items for attribute in item} - keys.keys()
    attributes = {
        attribute: attribute_of(
            attribute, [item[attribute] for item in items if attribute in item], len(items)
        )
        for attribute in sorted(own)[:400]
    }
    templates: dict[str, Template] = {}
    for key in keys.values():
        having = [item for item in items if key.name in item]
        if len(having) * 2 < len(items) or not having:  # most items lack it: they are not in that index
            continue
        if key.type == "S":
            templates[key.name] = _template(key.name, having, attributes)
        else:
            attributes[key.name] = attribute_of(key.name, [item[key.name] for item in having], len(having))
            templates[key.name] = parse_template(f"{{{key.name}}}")
    return Entity(name, table.name, _whole(templates, table), attributes, float(len(items)))


def _whole(templates: dict[str, Template], table: Table) -> dict[str, Template]:
    """Without templates for a part of an index's key only, which would say that the entity is not in it."""
    own = {key.name for key in primary_key(table)}
    for index in table.indexes:
        names = [key.name for key in (*index.partition_key, *index.sort_key)]
        if not all(name in templates for name in names):
            for name in set(names) - own:
                templates.pop(name, None)
    return templates


def _template(key: str, items: Sequence[Item], attributes: dict[str, Attribute]) -> Template:
    """The template of a key attribute; attributes that it needs and items lack are added."""
    splits = [_CUT.split(_text(item, key) or "") for item in items]
    parts = min(max(map(len, splits)), 2 * _PARTS_MAX - 1)
    if min(map(len, splits)) != parts:
        parts = 1 if min(map(len, splits)) == 1 else 3
    if parts == 1 and len({"".join(split) for split in splits}) > 1:
        return parse_template(f"{{{_own(key, items, attributes)}}}")
    pieces = list(_pieces(splits, parts, key, items, attributes))
    return parse_template("".join(pieces) or f"{{{key}}}")


def _own(key: str, items: Sequence[Item], attributes: dict[str, Attribute]) -> str:
    """The attribute that a key without separators is: another with the same values, or itself."""
    name = _same([_text(item, key) or "" for item in items], items, attributes)
    if name is None:
        attributes[key] = attribute_of(key, [item[key] for item in items], len(items))
    return name or key


def _pieces(
    splits: Sequence[list[str]], parts: int, key: str, items: Sequence[Item], attributes: dict[str, Attribute]
) -> Iterator[str]:
    fixed = ""
    for at in range(parts):
        texts = ["".join(split[at:]) if at == parts - 1 else split[at] for split in splits]
        if at % 2:
            yield texts[0]
            continue
        shared = len(set(texts)) == 1
        if shared and (len(texts) >= _SHARED_MIN or _WORD.fullmatch(texts[0])):
            fixed = texts[0]
            yield fixed.replace("{", "{{").replace("}", "}}")
        else:
            yield f"{{{_attribute(texts, fixed, key, items, attributes)}}}"


def _attribute(
    texts: Sequence[str], fixed: str, key: str, items: Sequence[Item], attributes: dict[str, Attribute]
) -> str:
    """The attribute that has these values; a new one is called after the fixed text before it."""
    same = _same(texts, items, attributes)
    if same is not None:
        return same
    words = re.sub(r"[^a-z0-9]+", "_", fixed.lower()).strip("_")
    form = text_format(texts)
    suffix = {"timestamp": "at", "date": "on", "email": "email"}.get(form or "", "id")
    name = f"{words}_{suffix}" if words else f"{key.lower()}_{suffix}"
    while name in attributes:
        name += "_2"
    attributes[name] = attribute_of(name, [{"S": text} for text in texts], len(texts))
    return name


def _same(texts: Sequence[str], items: Sequence[Item], attributes: Mapping[str, Attribute]) -> str | None:
    """The attribute that has these texts as its values."""
    for name in attributes:
        values = (item.get(name, {}) for item in items)
        if _NAMEABLE.fullmatch(name) and all(
            value.get("S", value.get("N")) == text for value, text in zip(values, texts, strict=True)
        ):
            return name
    return None
