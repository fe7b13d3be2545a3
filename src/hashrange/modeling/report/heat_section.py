"""A day of traffic: a heat map for each table and index, the hottest keys, and what shards would change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hashrange.modeling.columns import amount
from hashrange.modeling.load.day import BackPressure, KeyDay, PlaceDay, SideDay
from hashrange.modeling.report.figures import counted, percent
from hashrange.modeling.report.heat_picture import heat_legend, heat_picture
from hashrange.modeling.report.markup import Content, Markup, element
from hashrange.modeling.report.parts import bar, chip, cut_note, number, row, scrolling, section, table

PLACES_MAX = 12
_LEAD = (
    "The patterns with their rates, curves and key distributions, for a day, against the partitions, token buckets, "
    "splits and auto scaling of DynamoDB as the server itself models them. Each row is a partition, each cell half an "
    "hour: its colour is the share of 3,000 read or 1,000 write units per second that is asked for."
)


def heat_section(days: Sequence[PlaceDay], sharded: Sequence[PlaceDay] = ()) -> Markup:
    """The hottest places first."""
    ordered = sorted(days, key=lambda day: (not day.throttles, -_hottest(day)))
    with_shards = {day.title: day for day in sharded}
    return section(
        "day",
        "A day of traffic",
        scrolling(element("div", heat_legend(), class_="picture"), label="Colours") if days else None,
        [_place(day, with_shards.get(day.title)) for day in ordered[:PLACES_MAX]],
        element("p", "No pattern has a rate.") if not days else None,
        cut_note(len(days) - PLACES_MAX, "tables and indexes, all of them cooler"),
        lead=_LEAD,
    )


def _hottest(day: PlaceDay) -> float:
    return max(day.reads.hottest, day.writes.hottest)


def _place(day: PlaceDay, sharded: PlaceDay | None) -> Markup:
    begin, end = day.partitions
    count = counted(begin, "partition") if begin == end else f"{begin} partitions, {end} at the end"
    kind = "bad" if day.throttles else "good" if day.kind == "fine" else "warn"
    return element(
        "div",
        element("h3", f"{'Table' if day.index is None else 'Index'} {day.title} ", chip(day.kind, kind)),
        element(
            "p",
            f"{day.verdict} {count}.",
            element("strong", " What helps: ") if day.remedy else None,
            day.remedy,
        ),
        [
            _side(day, side, word)
            for side, word in ((day.reads, "Reads"), (day.writes, "Writes"))
            if side.peak
        ],
        [element("p", chip("back-pressure", "bad"), _pressure(day, one)) for one in day.back_pressure],
        _keys(day.hottest_keys),
        list(_shards(day, sharded)),
        class_="place",
    )


def _side(day: PlaceDay, side: SideDay, word: str) -> Markup:
    title = f"{word} of {day.title}"
    note = f"and {counted(side.heat.cooler, 'cooler partition')}" if side.heat.cooler else None
    return element(
        "div",
        element("h4", word),
        element("p", _facts(side), class_="small"),
        scrolling(element("div", heat_picture(side, title), class_="picture"), label=title),
        element("p", note, class_="cut") if note else None,
    )


def _facts(side: SideDay) -> str:
    limit = next((one.limit for one in reversed(side.bins) if one.time <= side.peak_time), 0.0)
    text = f"Peak {amount(side.peak)} units/s at {side.peak_time}, of {amount(limit)}; "
    text += f"hottest partition {percent(side.hottest)}; "
    if not side.throttled_share:
        return text + "nothing throttled."
    worst = amount(side.throttled_peak)
    return f"{text}{percent(side.throttled_share)} of all units throttled (red), {worst}/s at worst."


def _pressure(day: PlaceDay, one: BackPressure) -> str:
    share, worst = percent(one.refused_share), amount(one.worst)
    text = f"{one.index} cannot keep up: {day.table} refuses {share} of its own writes for it, "
    return text + f"{worst} units/s at worst (at {one.worst_time})."


def _keys(keys: Sequence[KeyDay]) -> Markup | None:
    if not keys:
        return None
    most = max(1.0, *(key.use for key in keys))
    rows = [
        row(
            element("td", element("code", key.key), class_="wide"),
            "writes" if key.write else "reads",
            number(f"{amount(key.units)}/s"),
            element(
                "td", bar(key.use / most, kind="bad" if key.use > 1 else "warn" if key.use > 0.5 else "")
            ),
            number(percent(key.use)),
            number(percent(key.share)),
        )
        for key in keys
    ]
    headings = ("key", "", ">units", "of a partition's ceiling", ">use", ">of all traffic")
    return element(
        "div", element("h4", "Hottest keys, at their peaks"), table("Hottest keys", headings, rows)
    )


def _shards(day: PlaceDay, sharded: PlaceDay | None) -> Iterator[Content]:
    if day.shards is None:
        return
    yield element("h4", f"With {day.shards} shards")
    yield element(
        "p",
        f"{day.shards} is the smallest number of shards that carries the peak: a suffix with so many values on the "
        "partition key. It has no room to spare; take some more.",
    )
    if sharded is None:
        return
    before, after = (max(one.reads.throttled_share, one.writes.throttled_share) for one in (day, sharded))
    yield element(
        "p", f"Over the whole day {percent(after)} would be throttled, instead of {percent(before)}."
    )
    hot_writes = day.writes.throttled_share >= day.reads.throttled_share
    yield _side(sharded, sharded.writes if hot_writes else sharded.reads, "Writes" if hot_writes else "Reads")
