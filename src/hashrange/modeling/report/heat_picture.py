"""A day of a table or index as a picture: units per second above, and below how hot each partition is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from hashrange.modeling.columns import amount
from hashrange.modeling.load.day import Bin, SideDay
from hashrange.modeling.load.heat_map import SLOTS, HeatRow
from hashrange.modeling.report.figures import percent
from hashrange.modeling.report.markup import Markup, element

WIDTH = 960
_LEFT, _RIGHT = 92, 12
_CHART, _GAP, _AXIS = 84, 10, 22
_ROW = 14
_SLOT = (WIDTH - _LEFT - _RIGHT) / SLOTS
_JOINED = 3  # bins of the chart that are drawn as one
# The share of a partition's ceiling at which the next colour begins; the last is more than a partition gives.
LEVELS = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 1.0)
_LIMIT_SHOWN = 3.0  # a limit further above the peak would leave a flat line below it


def level(use: float) -> int:
    """The number of a colour."""
    return sum(use > bound for bound in LEVELS)


def heat_picture(side: SideDay, title: str) -> Markup:
    """The picture, with a sentence for those who do not see it."""
    rows = side.heat.rows
    height = 14 + _CHART + _GAP + len(rows) * _ROW + _AXIS
    sentence = (
        f"{title}: {amount(side.peak)} units a second at most, at {side.peak_time}; "
        f"the hottest partition is at {percent(side.hottest)} of its ceiling"
    )
    top = 14 + _CHART + _GAP
    return element(
        "svg",
        element("title", sentence),
        _chart(side),
        [_row(row, top + at * _ROW) for at, row in enumerate(rows)],
        _axis(height),
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_label=sentence,
    )


def _chart(side: SideDay) -> list[Markup]:
    joined_bins = [side.bins[at : at + _JOINED] for at in range(0, len(side.bins), _JOINED)]
    asked = [max(one.consumed + one.throttled for one in bins) for bins in joined_bins]
    served = [max(one.consumed for one in bins) for bins in joined_bins]
    most = max(*asked, side.peak, 1e-9)
    limit = min(one.limit for one in side.bins)
    shows_limit = limit <= most * _LIMIT_SHOWN
    scale = max(most, max(one.limit for one in side.bins) if shows_limit else 0.0)
    parts = [
        _area(asked, scale, "throttled") if _throttles(side.bins) else None,
        _area(served, scale, "area"),
        _limit_line([max(one.limit for one in bins) for bins in joined_bins], scale) if shows_limit else None,
    ]
    labels = [
        _label("units/s", 22, "soft"),
        _label(f"{amount(scale)}", 38, "soft"),
        _label("0", 14 + _CHART, "soft"),
    ]
    base = element("path", d=f"M{_LEFT} {14 + _CHART}H{WIDTH - _RIGHT}", class_="axis")
    return [part for part in parts if part is not None] + labels + [base]


def _throttles(bins: Sequence[Bin]) -> bool:
    return any(one.throttled for one in bins)


def _label(text: str, y: float, kind: str) -> Markup:
    return element("text", text, x=_LEFT - 8, y=y, text_anchor="end", class_=kind)


def _points(values: Sequence[float], scale: float) -> str:
    step = (WIDTH - _LEFT - _RIGHT) / max(len(values), 1)
    points = [
        (_LEFT + at * step, 14 + _CHART * (1 - min(value / scale, 1.0))) for at, value in enumerate(values)
    ]
    points.append((WIDTH - _RIGHT, points[-1][1]))
    return "L".join(f"{x:.0f} {y:.1f}" for x, y in points)


def _area(values: Sequence[float], scale: float, kind: str) -> Markup:
    foot = 14 + _CHART
    return element("path", d=f"M{_LEFT} {foot}L{_points(values, scale)}V{foot}Z", class_=kind)


def _limit_line(values: Sequence[float], scale: float) -> Markup:
    return element("path", d=f"M{_points(values, scale)}", class_="limit")


def _row(row: HeatRow, y: float) -> Markup:
    """One partition; cells of one colour that touch are one rectangle."""
    hottest = max(row.uses)
    time = row.uses.index(hottest) / 2
    sentence = f"partition {row.partition}: {percent(hottest)} at {int(time):02}:{'30' if time % 1 else '00'}"
    cells = []
    at = 0
    for shade, uses in groupby(map(level, row.uses)):
        count = len(list(uses))
        cells.append(
            element(
                "rect",
                x=round(_LEFT + at * _SLOT, 1),
                y=y,
                width=round(count * _SLOT, 1),
                height=_ROW - 2,
                class_=f"h{shade}",
            )
        )
        at += count
    return element(
        "g", element("title", sentence), _label(f"partition {row.partition}", y + 10, "soft"), cells
    )


def _axis(height: float) -> list[Markup]:
    return [
        element(
            "text",
            f"{hour:02}:00",
            x=_LEFT + hour * 2 * _SLOT,
            y=height - 6,
            text_anchor="start" if hour == 0 else "end" if hour == 24 else "middle",
            class_="soft",
        )
        for hour in range(0, 25, 3)
    ]


def heat_legend() -> Markup:
    """What the colours mean."""
    bounds = ["0", *(f"{bound:.0%}" for bound in LEVELS)]
    texts = [f"{low} to {high}" for low, high in pairwise(bounds)] + ["more than 100%"]
    step = (WIDTH - _LEFT - _RIGHT) / len(texts)
    parts = []
    for at, text in enumerate(texts):
        x = _LEFT + at * step
        parts.append(element("rect", x=x, y=4, width=14, height=12, class_=f"h{at}"))
        parts.append(element("text", text, x=x + 19, y=14, class_="soft"))
    title = "Colours: how much of a partition's ceiling is asked for"
    return element(
        "svg",
        element("title", title),
        _label("use of ceiling", 14, "soft"),
        parts,
        viewBox=f"0 0 {WIDTH} 22",
        role="img",
        aria_label=title,
    )
