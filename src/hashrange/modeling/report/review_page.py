"""The whole review as one page."""

from __future__ import annotations

from hashrange.modeling.report.collection_section import collection_section
from hashrange.modeling.report.cost_section import cost_section
from hashrange.modeling.report.design_section import design_section
from hashrange.modeling.report.heat_section import heat_section
from hashrange.modeling.report.page import page
from hashrange.modeling.report.parts import COLOURS
from hashrange.modeling.report.pattern_section import pattern_section
from hashrange.modeling.report.proof_section import proof_section
from hashrange.modeling.report.review import Review
from hashrange.modeling.report.rule_section import rule_section
from hashrange.modeling.report.summary_section import summary

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
    names_of_patterns = {pattern.id: pattern.name for pattern in (*review.shown.reads, *review.shown.writes)}
    sections = (
        summary(review),
        design_section(review.shown, colours),
        collection_section(review.views, review.views_left_out, colours),
        pattern_section(review),
        heat_section(review.days, review.sharded_days),
        cost_section(review.priced, review.unpriced, patterns=names_of_patterns),
        rule_section(review.rules, review.silences, review.excerpts),
        proof_section(review.proof),
    )
    facts = [review.region, review.path]
    return page(review.name, sections, description=review.description, facts=facts, contents=CONTENTS)
