"""Item collections as tables, coloured by entity: a table's own, then the same items as each index sees them."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.modeling.report.collections import Collection, ShownItem, View
from hashrange.modeling.report.markup import Markup, element, joined
from hashrange.modeling.report.parts import cut_note, folded, legend, section, table

_LEAD = (
    "Made-up items, as they lie beside each other: rows of one partition key are one item collection, in the order "
    "of the sort key. Below each table are its indexes, with the same items as a Query of the index sees them."
)


def collection_section(views: Sequence[View], left_out: int, colours: dict[str, str]) -> Markup:
    """All views."""
    return section(
        "items",
        "Item collections",
        legend(colours),
        [_folded(view, colours) for view in views],
        cut_note(left_out, "tables and indexes"),
        lead=_LEAD,
    )


def _folded(view: View, colours: dict[str, str]) -> Markup:
    kind, name = ("Table", view.table) if view.index is None else ("Index", f"{view.table}.{view.index}")
    keys = f"{' + '.join(view.partition_names)} / {' + '.join(view.sort_names) or 'no sort key'}"
    title = [f"{kind} {name} ", element("span", f"by {keys}", _projection(view), class_="soft")]
    note = f"Never in it: {', '.join(view.absent)}." if view.absent else ""
    body = _table(view, colours) if view.collections else element("p", "No item has its key.", class_="small")
    return folded(title, body, element("p", note, class_="small") if note else None, is_open=True)


def _projection(view: View) -> str:
    return f", projects {view.projection}" if view.projection else ""


def _table(view: View, colours: dict[str, str]) -> Markup:
    headings = [
        " + ".join(view.partition_names),
        " + ".join(view.sort_names) or "item",
        "entity",
        "attributes",
    ]
    rows = [_rows(collection, colours) for collection in view.collections]
    label = f"Items of {view.index or view.table}"
    return table(label, headings, rows, class_="items")


def _rows(collection: Collection, colours: dict[str, str]) -> Markup:
    key = [element("code", text) for text in collection.partition]
    more = f"and {collection.more} more items" if collection.more else None
    first = element(
        "td",
        joined(*(joined(text, element("br")) for text in key)),
        element("span", more, class_="small") if more else None,
        class_="key",
        rowspan=len(collection.items),
    )
    rows = [element("tr", element("td", colspan=4), class_="space", aria_hidden="true")]
    for number, item in enumerate(collection.items):
        kind = colours.get(item.entity, "e0")
        cells = [first if number == 0 else None, *_cells(item)]
        rows.append(element("tr", cells, class_=kind))
    return joined(*rows)


def _cells(item: ShownItem) -> list[Markup]:
    sort = joined(*(joined(element("code", text), element("br")) for text in item.sort))
    pairs = [
        element(
            "div",
            element("dt", attribute.name, title=f"key of {attribute.key_of}" if attribute.key_of else None),
            element("dd", element("code", attribute.value)),
        )
        for attribute in item.attributes
    ]
    more = element("p", f"+ {item.more_attributes} more", class_="small") if item.more_attributes else None
    return [
        element("td", sort, class_="sort"),
        element("td", item.entity, class_="kind"),
        element("td", element("dl", pairs, class_="attributes") if pairs else None, more, class_="rest"),
    ]
