"""The page: sections between a head that lets nothing in from outside, and a foot that says how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hashrange import __version__
from hashrange.modeling.commands.output import PAGE_BEGINNING
from hashrange.modeling.report.collection_section import collection_section
from hashrange.modeling.report.cost_section import cost_section
from hashrange.modeling.report.design_section import design_section
from hashrange.modeling.report.heat_section import heat_section
from hashrange.modeling.report.markup import Content, Markup, element, joined
from hashrange.modeling.report.parts import COLOURS
from hashrange.modeling.report.pattern_section import pattern_section
from hashrange.modeling.report.proof_section import proof_section
from hashrange.modeling.report.review import Review
from hashrange.modeling.report.rule_section import rule_section
from hashrange.modeling.report.summary_section import summary

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = Path(__file__).with_name("style.css")
CONTENTS = {
    "verdict": "Verdict",
    "design": "Tables and keys",
    "items": "Item collections",
    "patterns": "Access patterns",
    "day": "A day of traffic",
    "cost": "Cost",
    "rules": "Design rules",
    "proof": "Proof",
}


def review_page(review: Review) -> str:
    """The whole review."""
    names = [entity.name for table in review.shown.tables for entity in table.entities]
    colours = {name: f"e{number % COLOURS}" for number, name in enumerate(names)}
    sections = (
        summary(review),
        design_section(review.shown, colours),
        collection_section(review.views, review.views_left_out, colours),
        pattern_section(review),
        heat_section(review.days, review.sharded_days),
        cost_section(review.priced, review.unpriced),
        rule_section(review.rules, review.silences, review.excerpts),
        proof_section(review.proof),
    )
    facts = [review.region, review.path]
    return page(review.name, sections, description=review.description, facts=facts, contents=CONTENTS)


def page(
    name: str,
    sections: Sequence[Markup],
    *,
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
        element("title", f"{name}: design review"),
        Markup(f"<style>{_STYLE.read_text('utf-8')}</style>"),
    )
    header = element(
        "header",
        element("p", "Design review", class_="kicker"),
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
