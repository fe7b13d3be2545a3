"""The design: each table with its keys, what lies in it, and who goes by which key."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.modeling.columns import amount
from hashrange.modeling.commands.show import Shown, ShownEntity, ShownTable
from hashrange.modeling.report import diagram
from hashrange.modeling.report.figures import size
from hashrange.modeling.report.markup import Content, Markup, element
from hashrange.modeling.report.parts import chip, cut_note, legend, number, row, scrolling, section, table

TABLES_MAX = 8
ENTITIES_MAX = 60
_KEYS_MAX = 10
_LEAD = (
    "Entities on the left lie in the keys that they are linked to; patterns on the right go by them, writes with "
    "dashed lines. The colours of entities are the same on the whole page."
)


def design_section(shown: Shown, colours: dict[str, str]) -> Markup:
    """One diagram and one list of entities for each table."""
    return section(
        "design",
        "Tables, keys and entities",
        legend(colours),
        [_table(one, shown, colours) for one in shown.tables[:TABLES_MAX]],
        cut_note(len(shown.tables) - TABLES_MAX, "tables"),
        lead=_LEAD,
    )


def _table(one: ShownTable, shown: Shown, colours: dict[str, str]) -> Markup:
    names = {key.name for key in one.keys if key.name}
    own = {entity.name for entity in one.entities}
    reads = [
        pattern
        for pattern in shown.reads
        if pattern.key == one.name or (pattern.key in names and own & set(pattern.entities))
    ]
    writes = [pattern for pattern in shown.writes if own & set(pattern.entities)]
    picture = diagram.diagram(one, reads, writes, colours)
    hidden = len(reads) + len(writes) - diagram.PATTERNS_MAX
    return element(
        "div",
        element("h3", f"Table {one.name} ", [chip(feature, "plain") for feature in one.features]),
        scrolling(element("div", picture, class_="picture"), label=f"Diagram of {one.name}"),
        cut_note(hidden, "patterns in the picture"),
        _entities(one, colours),
    )


def _entities(one: ShownTable, colours: dict[str, str]) -> Content:
    keys = dict.fromkeys(name.split(" ")[0] for key in one.keys for name in (*key.partition, *key.sort))
    names = list(keys)[:_KEYS_MAX]
    headings = ("entity", ">items", ">item size", ">together", *names)
    rows = [_entity_row(entity, names, colours) for entity in one.entities[:ENTITIES_MAX]]
    return [
        table(f"Entities of {one.name}", headings, rows),
        cut_note(len(one.entities) - ENTITIES_MAX, "entities"),
        cut_note(len(keys) - len(names), "key attributes"),
    ]


def _entity_row(entity: ShownEntity, names: Sequence[str], colours: dict[str, str]) -> Markup:
    return row(
        element("td", element("span", entity.name, class_=f"entity {colours.get(entity.name, 'e8')}")),
        number(amount(entity.items)),
        number(size(entity.item_bytes)),
        number(size(entity.items * entity.item_bytes)),
        *(_template(entity, name) for name in names),
    )


def _template(entity: ShownEntity, name: str) -> Markup:
    text = entity.keys.get(name)
    if text is None:
        return element("td", "-")
    sometimes = element("span", " not always", class_="small") if name in entity.conditional else None
    return element("td", element("code", text), sometimes)
