"""The page: sections between a head that lets nothing in from outside, and a foot that says how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hashrange import __version__
from hashrange.modeling.commands.output import PAGE_BEGINNING
from hashrange.modeling.report.markup import Content, Markup, element, joined

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = Path(__file__).with_name("style.css")


def page(
    name: str,
    sections: Sequence[Markup],
    *,
    kind: str = "Design review",
    description: str = "",
    facts: Sequence[str] = (),
    contents: Mapping[str, str] | None = None,
) -> str:
    """A page of sections, as one file."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="color-scheme", content="light dark"),
        element("title", f"{name}: {kind.lower()}"),
        Markup(f"<style>{_STYLE.read_text('utf-8')}</style>"),
    )
    header = element(
        "header",
        element("p", kind, class_="kicker"),
        element("h1", name),
        element("p", description, class_="description") if description else None,
        element("p", " · ".join(fact for fact in facts if fact), class_="facts"),
        _navigation(contents or {}),
    )
    foot = element(
        "footer", element("p", f"Made by Hashrange {__version__}. This page is one file and loads nothing.")
    )
    body = element("body", header, element("main", sections), foot)
    return PAGE_BEGINNING + joined(element("html", head, body, lang="en")) + "\n"


def _navigation(contents: Mapping[str, str]) -> Content:
    if not contents:
        return None
    links = [element("li", element("a", text, href=f"#{anchor}")) for anchor, text in contents.items()]
    return element("nav", element("ul", links), aria_label="Contents")
