"""`hashrange model report`: one page with everything about a model, which loads nothing and lets nothing in."""

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hashrange.cli import main
from hashrange.modeling.check.finding import Finding
from hashrange.modeling.commands import report
from hashrange.modeling.commands.new import starter
from hashrange.modeling.commands.output import PAGE_BEGINNING
from hashrange.modeling.loading import load
from hashrange.modeling.model import Place
from hashrange.modeling.report import collections, heat_section, pattern_section, rule_section
from hashrange.modeling.report.heat_picture import level
from hashrange.modeling.report.markup import TEXT_CHARS_MAX, element
from hashrange.modeling.report.review import Review, review
from hashrange.modeling.report.review_page import CONTENTS, review_page
from reviewed_models import HOSTILE, HOT

PAGE_BYTES_MAX = 2_000_000
VOID = {"br", "meta"}
KNOWN = {
    *(
        "a",
        "body",
        "br",
        "code",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "footer",
        "g",
        "h1",
        "h2",
        "h3",
        "h4",
        "head",
    ),
    *(
        "header",
        "html",
        "li",
        "main",
        "meta",
        "nav",
        "ol",
        "p",
        "path",
        "rect",
        "section",
        "span",
        "strong",
        "style",
    ),
    *("summary", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "ul"),
}


class Outline(HTMLParser):
    """The elements of a page with their attributes, and its texts; every end belongs to the last beginning."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.style = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            self.style += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)

    def values(self, name: str) -> Iterator[str]:
        for _, attributes in self.elements:
            if name in attributes:
                yield attributes[name]


def options(**changed: object) -> argparse.Namespace:
    flags = {
        "strict": False,
        "seed": 1,
        "items": 150,
        "mode": None,
        "region": None,
        "months": 2,
        "prices": None,
    }
    return argparse.Namespace(**{**flags, "shards": [], **changed})


@pytest.fixture(scope="module")
def hot(tmp_path_factory: pytest.TempPathFactory) -> Review:
    path = tmp_path_factory.mktemp("report") / "feed.yaml"
    path.write_text(HOT, "utf-8")
    return review(load(path), options())


@pytest.fixture(scope="module")
def outline(hot: Review) -> Outline:
    return Outline(review_page(hot))


def test_a_page_loads_nothing_and_runs_nothing(outline: Outline) -> None:
    names = {name for name, _ in outline.elements}
    assert names <= KNOWN
    attributes = {name for _, attributes in outline.elements for name in attributes}
    assert not {name for name in attributes if name.startswith("on")}
    assert attributes.isdisjoint({"src", "srcset", "xlink:href", "action", "data", "poster", "background"})
    assert not re.search(r"url\(|@import|expression\(", outline.style + " ".join(outline.values("style")))
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in set(outline.values("content"))


def test_links_stay_on_the_page(outline: Outline) -> None:
    anchors = set(outline.values("id"))
    links = set(outline.values("href"))
    assert {link[0] for link in links} == {"#"}
    assert {link[1:] for link in links} <= anchors
    assert len(anchors) == len(list(outline.values("id")))


def test_what_a_model_says_is_text_and_never_markup(hot: Review, outline: Outline) -> None:
    """Names, descriptions, values and the reasons of silences are shown as they are written."""
    assert "<script" not in review_page(hot)
    for text in (f"feed {HOSTILE}", "onerror=alert(2)", "alert(4)</script>", '"><script>alert(5)</script>'):
        assert text in outline.text


def test_a_page_shows_every_section_entity_index_pattern_and_finding(hot: Review, outline: Outline) -> None:
    assert set(CONTENTS) <= set(outline.values("id"))
    wanted = {"Topic", "Post", "Index feed.by_day ", "Index feed.sparse ", "A1", "A2", "W1"}
    wanted |= {finding.code for finding in hot.rules.findings if finding.subject in {"A1", "A2", "W1"}}
    assert wanted <= set(outline.texts)
    for finding in hot.rules.findings:
        assert finding.message in outline.text
        assert finding.remedy in outline.text
    assert "Posts by text" in outline.texts
    assert ": A2, line 34" in outline.texts


def test_a_verdict_says_what_is_wrong(hot: Review, outline: Outline) -> None:
    assert (hot.proof.holds, hot.rules_failed, hot.passed) == (False, True, False)
    assert [day.title for day in hot.throttled] == ["feed", "feed.by_day"]
    for words in (
        "Not proved",
        "What to look at first",
        "2 of 3 patterns",
        "rolling hot partition",
        "by_day cannot keep up",
    ):
        assert words in outline.text


def test_pictures_have_a_title_and_a_label(outline: Outline) -> None:
    pictures = [attributes for name, attributes in outline.elements if name == "svg"]
    assert len(pictures) >= 6
    assert all(picture["role"] == "img" and len(picture["aria-label"]) > 20 for picture in pictures)


def test_item_collections_are_shown_as_table_and_index_have_them(hot: Review) -> None:
    views = {view.index: view for view in hot.views}
    mixed = [{item.entity for item in one.items} for one in views[None].collections]
    assert {"Topic", "Post"} in mixed
    by_day = views["by_day"]
    assert by_day.absent == ("Topic",)
    items = [item for one in by_day.collections for item in one.items]
    assert {attribute.name for item in items for attribute in item.attributes} == {"PK", "SK"}
    for one in by_day.collections:
        assert [item.sort for item in one.items] == sorted(item.sort for item in one.items)
    assert all(
        "body" in {attribute.name for attribute in item.attributes}
        for one in views["sparse"].collections
        for item in one.items
    )


def test_shards_are_shown_beside_what_is_throttled_without_them(hot: Review, outline: Outline) -> None:
    (after,) = hot.sharded_days
    before = hot.throttled[1]
    assert before.shards == after.shards == 2
    assert after.writes.throttled_share < before.writes.throttled_share / 5
    assert f"With {after.shards} shards" in outline.text
    hottest = max(row.uses[40] for row in before.writes.heat.rows)
    assert (hottest > 1, level(hottest)) == (True, 7)
    assert "h7" in set(outline.values("class"))


def test_colours_begin_above_their_bounds() -> None:
    assert [level(use) for use in (0, 0.01, 0.02, 0.3, 0.76, 1.0, 1.01)] == [0, 0, 1, 4, 6, 6, 7]


def many(finding: Finding, count: int) -> tuple[Finding, ...]:
    return tuple(
        replace(finding, subject="A1", message="m" * 5000, place=Place(at, 1)) for at in range(count)
    )


def test_a_page_of_a_large_model_stays_small_and_says_what_it_leaves_out(hot: Review) -> None:
    """Two thousand patterns, five hundred entities and tables with names as long as a file allows."""
    shown, long = hot.shown, "n" * 20_000
    read = replace(shown.reads[0], name=long, conditions=long)
    table = replace(
        shown.tables[0],
        entities=tuple(replace(shown.tables[0].entities[0], name=f"{long}{at}") for at in range(500)),
    )
    large = replace(
        hot,
        description=long,
        shown=replace(shown, reads=(read,) * 1000, writes=(shown.writes[0],) * 1000, tables=(table,) * 50),
        rules=replace(hot.rules, findings=many(hot.rules.findings[0], 1000)),
        proof=replace(hot.proof, reads=(hot.proof.reads[1],) * 1000, failures=(long,) * 1000),
        days=hot.days * 100,
        views=hot.views[:1] * collections.VIEWS_MAX,
        views_left_out=84,
        silences=hot.silences * 1000,
    )
    html = review_page(large)
    assert len(html.encode()) < PAGE_BYTES_MAX
    for hidden, what in (
        (2000 - pattern_section.PATTERNS_MAX, "patterns"),
        (1000 - rule_section.FINDINGS_MAX, "findings"),
        (100 * len(hot.days) - heat_section.PLACES_MAX, "tables and indexes, all of them cooler"),
        (84, "tables and indexes"),
    ):
        assert f"and {hidden:,} more {what}, which this page leaves out" in html


def test_markup_escapes_texts_and_values_and_cuts_long_ones() -> None:
    assert element("p", "<b>", title='"><i>') == '<p title="&quot;&gt;&lt;i&gt;">&lt;b&gt;</p>'
    assert element("p", element("b", "x"), None, ["y", 3]) == "<p><b>x</b>y3</p>"
    assert element("p", "\u202ex\x00") == "<p>\ufffdx\ufffd</p>"
    assert len(element("p", "x" * 10**6)) == len("<p></p>") + TEXT_CHARS_MAX
    assert element("br", hidden=True, class_=None, lang=False) == "<br hidden>"


def test_a_region_without_prices_leaves_out_the_costs_and_nothing_else(hot: Review) -> None:
    unpriced = Outline(
        review_page(replace(hot, priced=None, unpriced="there are no prices for the region `moon`"))
    )
    assert "there are no prices for the region `moon`" in unpriced.text
    assert "A day of traffic" in unpriced.text


def test_the_command_writes_a_page_over_its_own_and_over_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, written = tmp_path / "shop.yaml", tmp_path / "shop.html"
    path.write_text(starter(), "utf-8")
    words = ["model", "report", str(path), "--items", "60", "--months", "1", "--html", str(written)]
    written.write_text("mine", "utf-8")
    assert main(words) == 2
    assert written.read_text("utf-8") == "mine"
    assert "is there already and is no such page" in capsys.readouterr().err
    written.write_text(PAGE_BEGINNING + "old", "utf-8")
    assert main([*words, "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["proof"]["failures"] == []
    assert f"wrote {written}" in told.err
    assert "Proved" in Outline(written.read_text("utf-8")).texts


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("check", "HR405 note"),
        ("price", "Reads and writes, if they were paid"),
        ("load", "A day of traffic"),
        ("prove", "Proof of reads"),
        ("diff", "Items to write anew"),
    ],
)
def test_single_commands_write_pages_of_their_own(command: str, words: str, tmp_path: Path) -> None:
    old, new, written = tmp_path / "old.yaml", tmp_path / "new.yaml", tmp_path / "page.html"
    old.write_text(starter(), "utf-8")
    new.write_text(starter().replace("PRODUCT#{sku}", "P#{sku}"), "utf-8")
    files = [str(old), str(new)] if command == "diff" else [str(old)]
    flags = ["--items", "40"] if command == "prove" else []
    main(["model", command, *files, *flags, "--html", str(written)])
    page = Outline(written.read_text("utf-8"))
    assert words.lower() in (page.text + " ".join(page.values("aria-label"))).lower()
    assert {name for name, _ in page.elements} <= KNOWN


def test_the_text_is_a_verdict(hot: Review) -> None:
    text = report.render(hot)
    assert report.status(hot) == 1
    assert "2 of 3 patterns, FAILS" in text
    assert "throttled: feed, feed.by_day" in text


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out_from_every_ground(outline: Outline, scheme: int) -> None:
    """By the contrast that accessibility guidelines ask for, 4.5; in the pictures, too."""
    light, dark = re.findall(r":root \{(.*?)\}", outline.style, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", (light, dark)[scheme]))
    pairs = [
        (ink, ground)
        for ink in ("ink", "soft")
        for ground in ("card", "ground", *(f"e{at}" for at in range(10)))
    ]
    pairs += [(f"{name}-ink", name) for name in ("good", "bad", "warn", "note", "plain")]
    pairs += [("soft", "plain"), ("ink", "plain"), ("link", "card"), ("link", "ground")]
    for ink, ground in pairs:
        low, high = sorted((luminance(colours[ink]), luminance(colours[ground])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


def test_the_text_gives_no_orders_to_the_terminal(hot: Review) -> None:
    assert report.render(replace(hot, name="\x1b[2Jshop")).startswith("�[2Jshop, ")
