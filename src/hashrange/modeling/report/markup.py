"""Markup: HTML and SVG as nested calls, in which every text is escaped unless it is markup already.

What a model file says reaches a page only as a text or as an attribute's value, and both are escaped here and nowhere
else: no section can forget it.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from hashrange.modeling.columns import printable

TEXT_CHARS_MAX = 400  # of one text of a model: a page stays small, whatever a file says
_VOID = frozenset({"br", "col", "hr", "meta"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | int | None | Iterable["Content"]
Value = str | int | float | bool | None


def element(name: str, /, *children: Content, **attributes: Value) -> Markup:
    """An element. `class_` is the attribute class, `aria_label` is aria-label; None and False leave one out."""
    opening = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{joined(*children)}</{name}>")


def joined(*children: Content) -> Markup:
    """One behind the other."""
    return Markup("".join(map(_content, children)))


def _content(child: Content) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return escape(printable(cut(child, TEXT_CHARS_MAX)))
    if isinstance(child, int):
        return str(child)
    return "".join(map(_content, child))


def _attribute(key: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    # SVG has names with capitals, such as viewBox, and HTML has none with an underscore.
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    # A path is made of numbers, and is as long as its picture needs.
    return f' {name}="{escape(printable(text if name == "d" else cut(text, TEXT_CHARS_MAX)))}"'


def cut(text: str, chars: int) -> str:
    """A text that is too long, with an ellipsis at its end."""
    return text if len(text) <= chars else f"{text[: chars - 1]}…"
