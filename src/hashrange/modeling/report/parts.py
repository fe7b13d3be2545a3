"""Parts that several sections are made of: sections, tables that scroll in their own box, chips, bars."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.modeling.report.markup import Content, Markup, cut, element, joined

COLOURS = 10  # which the style sheet has for entities
_LEGEND_MAX = 40
_NAME_CHARS_MAX = 40


def section(anchor: str, title: str, *children: Content, lead: str = "") -> Markup:
    """A section with its heading and a sentence on what it shows."""
    return element(
        "section",
        element("h2", title),
        element("p", lead, class_="lead") if lead else None,
        *children,
        id=anchor,
    )


def scrolling(*children: Content, label: str) -> Markup:
    """A box that scrolls sideways by itself. It can have the focus, so that arrow keys scroll it, too."""
    return element("div", *children, class_="scroll", tabindex=0, role="region", aria_label=label)


def table(label: str, headings: Sequence[Content], rows: Sequence[Content], *, class_: str = "") -> Markup:
    """A table in a box that scrolls; a heading that begins with `>` stands to the right, as numbers do."""
    head = element("tr", [_heading(heading) for heading in headings])
    body = element("tbody", rows)
    return scrolling(element("table", element("thead", head), body, class_=class_ or None), label=label)


def _heading(heading: Content) -> Markup:
    if isinstance(heading, str) and heading.startswith(">"):
        return element("th", heading[1:], scope="col", class_="number")
    return element("th", heading, scope="col")


def row(*cells: Content, class_: str | None = None, id_: str | None = None) -> Markup:
    """A row of cells; markup that is a cell already stays one."""
    return element("tr", [_cell(cell) for cell in cells], class_=class_, id_=id_)


def _cell(cell: Content) -> Markup:
    if isinstance(cell, Markup) and cell.startswith(("<td", "<th")):
        return cell
    return element("td", cell)


def number(*children: Content) -> Markup:
    """A cell flush right."""
    return element("td", *children, class_="number")


def chip(text: Content, kind: str, *, href: str | None = None) -> Markup:
    """A word on a coloured ground: good, bad, warn, note or plain."""
    return element("a" if href else "span", text, class_=f"chip {kind}", href=href)


def legend(colours: dict[str, str]) -> Markup:
    """The entities with their colours."""
    shown = list(colours.items())[:_LEGEND_MAX]
    chips = [element("li", cut(name, _NAME_CHARS_MAX), class_=f"entity {kind}") for name, kind in shown]
    listed = element("ul", chips, class_="legend", aria_label="Colours of entities")
    return joined(listed, cut_note(len(colours) - len(shown), "entities"))


def folded(title: Content, *children: Content, is_open: bool = False) -> Markup:
    """What can be folded away without any script."""
    return element("details", element("summary", title), *children, open=is_open)


def bar(share: float, *, kind: str = "") -> Markup:
    """A bar of a share of its width; the figure beside it says the same in words."""
    width = round(min(max(share, 0.0), 1.0) * 100, 1)
    inner = element("span", class_=f"fill {kind}".strip(), style=f"width:{width:g}%")
    return element("span", inner, class_="bar", aria_hidden="true")


def cut_note(hidden: int, what: str) -> Markup | None:
    """What is left out for the page's size."""
    if hidden <= 0:
        return None
    return element("p", f"and {hidden:,} more {what}, which this page leaves out", class_="cut")


def lines(*children: Content) -> Markup:
    """Paragraphs, one for each that is there."""
    return joined([element("p", child) for child in children if child])
