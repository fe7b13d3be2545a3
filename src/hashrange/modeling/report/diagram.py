"""The diagram of a table: its entities, the keys that they have there, and the patterns that go by these keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hashrange.modeling.columns import amount, rate
from hashrange.modeling.commands.show import ShownEntity, ShownKey, ShownPattern, ShownTable
from hashrange.modeling.report.markup import Markup, cut, element

ENTITIES_MAX = 20
PATTERNS_MAX = 30
WIDTH = 1000
_ENTITY, _KEY, _PATTERN = (0, 190), (330, 290), (740, 260)  # left edge and width of each column
_ENTITY_HIGH, _KEY_HIGH, _PATTERN_HIGH = 44, 62, 26
_SPACE, _SPACE_MAX = 8, 48


@dataclass(frozen=True, slots=True)
class _Column:
    """Boxes of one height, one below the other, in the middle of the picture."""

    top: float
    high: int
    space: float

    def y(self, number: int) -> float:
        return self.top + number * (self.high + self.space)

    def middle(self, number: int) -> float:
        return self.y(number) + self.high / 2


def _height(count: int, high: int, space: float = _SPACE) -> float:
    return count * (high + space) - space if count else 0.0


def _column(count: int, high: int, total: float) -> _Column:
    """Boxes in a column that has room to spare move apart, up to a point."""
    space = min((total - count * high) / max(count, 1), _SPACE_MAX) if count > 1 else 0.0
    space = max(space, _SPACE)
    return _Column((total - _height(count, high, space)) / 2, high, space)


def diagram(
    table: ShownTable, reads: Sequence[ShownPattern], writes: Sequence[ShownPattern], colours: dict[str, str]
) -> Markup:
    """The picture of one table."""
    entities = table.entities[:ENTITIES_MAX]
    patterns = [*reads, *writes][:PATTERNS_MAX]
    counts = ((len(entities), _ENTITY_HIGH), (len(table.keys), _KEY_HIGH), (len(patterns), _PATTERN_HIGH))
    heights = [_height(count, high) for count, high in counts]
    total = max(heights) + 4
    columns = [_column(count, high, total) for count, high in counts]
    title = f"Table {table.name}: entities on the left, keys in the middle, patterns on the right"
    drawn = [
        *_entity_links(entities, table.keys, columns, colours),
        *_pattern_links(patterns, len(reads), table, columns, colours),
        *(_entity(entity, columns[0].y(at), colours) for at, entity in enumerate(entities)),
        *(_key(key, table.name, columns[1].y(at)) for at, key in enumerate(table.keys)),
        *(_pattern(pattern, columns[2].y(at)) for at, pattern in enumerate(patterns)),
    ]
    return element(
        "svg",
        element("title", title),
        drawn,
        viewBox=f"0 0 {WIDTH} {total:.0f}",
        role="img",
        aria_label=title,
    )


def _names(key: ShownKey) -> list[str]:
    return [name.split(" ")[0] for name in (*key.partition, *key.sort)]


def _has(entity: ShownEntity, key: ShownKey) -> bool:
    """The key of the table is in all; that of an index in those entities that say how they make it."""
    return key.kind == "table" or all(name in entity.keys for name in _names(key))


def _curve(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    middle = (x1 + x2) / 2
    path = f"M{x1:.0f} {y1:.0f}C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    return element("path", d=path, class_=f"link {kind}")


def _entity_links(
    entities: Sequence[ShownEntity], keys: Sequence[ShownKey], columns: list[_Column], colours: dict[str, str]
) -> list[Markup]:
    return [
        _curve(
            sum(_ENTITY),
            columns[0].middle(at),
            _KEY[0],
            columns[1].middle(number),
            _stroke(entity.name, colours),
        )
        for at, entity in enumerate(entities)
        for number, key in enumerate(keys)
        if _has(entity, key)
    ]


def _pattern_links(
    patterns: Sequence[ShownPattern],
    reads: int,
    table: ShownTable,
    columns: list[_Column],
    colours: dict[str, str],
) -> list[Markup]:
    numbers = {key.name or table.name: number for number, key in enumerate(table.keys)}
    links = []
    for at, pattern in enumerate(patterns):
        number = numbers.get(pattern.key, 0)
        kind = _stroke(pattern.entities[0] if pattern.entities else "", colours)
        if at >= reads:
            kind += " write"
        links.append(_curve(sum(_KEY), columns[1].middle(number), _PATTERN[0], columns[2].middle(at), kind))
    return links


def _stroke(entity: str, colours: dict[str, str]) -> str:
    return f"k{colours.get(entity, 'e8')[1:]}"


def _box(column: tuple[int, int], y: float, high: int, kind: str) -> Markup:
    return element("rect", x=column[0] + 1, y=y, width=column[1] - 2, height=high, rx=7, class_=kind)


def _text(text: str, x: float, y: float, kind: str = "", anchor: str | None = None) -> Markup:
    return element("text", text, x=x, y=y, class_=kind or None, text_anchor=anchor)


def _entity(entity: ShownEntity, y: float, colours: dict[str, str]) -> Markup:
    left, _ = _ENTITY
    return element(
        "g",
        element("title", f"{entity.name}: {amount(entity.items)} items of {amount(entity.item_bytes)} bytes"),
        _box(_ENTITY, y, _ENTITY_HIGH, f"f{colours.get(entity.name, 'e8')[1:]}"),
        _text(cut(entity.name, 24), left + 12, y + 18, "strong"),
        _text(f"{amount(entity.items)} x {amount(entity.item_bytes)} B", left + 12, y + 35, "soft"),
    )


def _key(key: ShownKey, table: str, y: float) -> Markup:
    left, _ = _KEY
    own = key.kind == "table"
    kind = f"{key.kind} index" if not own else "table"
    if key.projection:
        kind += f", {key.projection}"
    return element(
        "g",
        element(
            "title",
            f"{key.name or table}: {' + '.join(key.partition)} / {' + '.join(key.sort) or 'no sort key'}",
        ),
        _box(_KEY, y, _KEY_HIGH, "tablebox" if own else "box"),
        _text(cut(key.name or table, 34), left + 12, y + 18, "strong"),
        _text(
            cut(f"{' + '.join(key.partition)} / {' + '.join(key.sort) or '-'}", 38), left + 12, y + 35, "mono"
        ),
        _text(cut(kind, 44), left + 12, y + 52, "soft"),
    )


def _pattern(pattern: ShownPattern, y: float) -> Markup:
    left, _ = _PATTERN
    name = pattern.name or ", ".join(pattern.entities)
    return element(
        "g",
        element("title", f"{pattern.id} {name}: {pattern.operation}, {rate(pattern.per_second)}"),
        _box(_PATTERN, y, _PATTERN_HIGH, "box"),
        _text(cut(f"{pattern.id}  {name}", 38), left + 10, y + 17),
    )
