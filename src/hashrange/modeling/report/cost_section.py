"""Costs as bars: what for, by table, index, entity and pattern; the ways to pay; the months to come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hashrange.modeling.price.money import shown
from hashrange.modeling.price.pricing import Cost, MonthCost, Priced, TableModes
from hashrange.modeling.report.figures import percent
from hashrange.modeling.report.markup import Markup, element
from hashrange.modeling.report.parts import bar, chip, cut_note, number, row, scrolling, section, table

ROWS_MAX = 25
_BY_PATTERN = "By pattern"
TABLES_MAX = 40
_WIDTH, _HEIGHT, _LEFT, _FOOT = 560, 150, 8, 24
_MODE_HEADINGS = ("table", ">on-demand", ">provisioned", ">auto-scaled", "cheapest", ">in use", ">refused")


def cost_section(
    cost: Priced | None, unpriced: str = "", *, patterns: Mapping[str, str] | None = None
) -> Markup:
    """The whole bill; or why there is none. `patterns` has the names of patterns by their ids."""
    if cost is None:
        return section("cost", "Cost", element("p", unpriced))
    lead = (
        f"{shown(cost.total)} {cost.currency} a month of {cost.month_hours} hours in {cost.region}, "
        f"by prices of {cost.prices_of}."
    )
    groups = (
        ("What for", cost.kinds),
        ("By entity", cost.entities),
        ("By table", cost.tables if len(cost.tables) > 1 else ()),
        ("By index", cost.indexes),
        (_BY_PATTERN, cost.patterns),
    )
    return section(
        "cost",
        "Cost",
        element(
            "div", [_bars(title, costs, patterns or {}) for title, costs in groups if costs], class_="columns"
        ),
        _modes(cost),
        _months(cost.months, cost.currency),
        [element("p", f"Note: {note}", class_="small") for note in cost.notes[:ROWS_MAX]],
        lead=lead,
    )


def _bars(title: str, costs: Sequence[Cost], names: Mapping[str, str]) -> Markup:
    most = max((cost.share for cost in costs), default=0.0)
    rows = [
        row(
            element(
                "td", cost.name, " ", names.get(cost.name) if title == _BY_PATTERN else None, class_="name"
            ),
            element("td", bar(cost.share / most if most else 0.0), class_="drawn"),
            number(shown(cost.monthly)),
            number(percent(cost.share)),
        )
        for cost in costs[:ROWS_MAX]
    ]
    drawn = scrolling(element("table", element("tbody", rows), class_="bars"), label=title)
    return element("div", element("h3", title), drawn, cut_note(len(costs) - ROWS_MAX, "smaller ones"))


def _modes(cost: Priced) -> Markup:
    most = max((mode.monthly for mode in cost.modes), default=0)
    least = min((mode.monthly for mode in cost.modes), default=0)
    rows = [
        row(
            element("td", mode.mode, class_="name"),
            element(
                "td",
                bar(
                    float(mode.monthly / most) if most else 0.0, kind="good" if mode.monthly == least else ""
                ),
                class_="drawn",
            ),
            number(shown(mode.monthly)),
            element("td", mode.note, class_="small"),
        )
        for mode in cost.modes
    ]
    even = cost.break_even
    words = (
        f"Provisioned capacity costs less where more than {percent(even.reads)} of it is in use for reads, "
        f"{percent(even.writes)} for writes. In use and refused: of auto scaled capacity, over a simulated day."
    )
    return element(
        "div",
        element("h3", "Reads and writes, if they were paid"),
        scrolling(element("table", element("tbody", rows), class_="bars"), label="Ways to pay"),
        table(
            "Ways to pay by table", _MODE_HEADINGS, [_table_row(one) for one in cost.table_modes[:TABLES_MAX]]
        ),
        cut_note(len(cost.table_modes) - TABLES_MAX, "tables"),
        [_crossover(one) for one in cost.table_modes[:TABLES_MAX]],
        element("p", words, class_="small"),
    )


def _table_row(modes: TableModes) -> Markup:
    now = modes.cheapest == modes.mode
    return row(
        modes.table,
        number(shown(modes.on_demand)),
        number(shown(modes.provisioned)),
        number(shown(modes.auto_scaled)),
        element(
            "td", chip(modes.cheapest, "good" if now else "warn"), "as now" if now else f"now {modes.mode}"
        ),
        number(percent(modes.utilisation)),
        number(percent(modes.refused_share)),
    )


def _crossover(modes: TableModes) -> Markup | None:
    if modes.changes_at is None:
        return None
    text = f"{modes.table}: on-demand is the cheapest below {modes.changes_at:.3g} times this traffic."
    return element("p", text, class_="small")


def _months(months: Sequence[MonthCost], currency: str) -> Markup | None:
    """Columns from now to the last month."""
    if len({month.monthly for month in months}) < 2:
        return None
    last = months[-1]
    title = f"From {shown(months[0].monthly)} now to {shown(last.monthly)} {currency} in {last.month} months"
    most = max(month.monthly for month in months)
    step = (_WIDTH - 2 * _LEFT) / len(months)
    high = _HEIGHT - _FOOT - 20
    drawn = []
    for at, month in enumerate(months):
        tall = float(month.monthly / most) * high if most else 0.0
        x = _LEFT + at * step
        drawn.append(
            element(
                "rect",
                element("title", f"in {month.month} months: {shown(month.monthly)} {currency}"),
                x=x + step * 0.12,
                y=_HEIGHT - _FOOT - tall,
                width=step * 0.76,
                height=max(tall, 0.5),
                class_="column",
            )
        )
        if at in (0, len(months) - 1) or (at % 3 == 0 and len(months) <= 40):
            middle = x + step / 2
            drawn.append(
                element("text", month.month, x=middle, y=_HEIGHT - 8, text_anchor="middle", class_="soft")
            )
    svg = element(
        "svg", element("title", title), drawn, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=title
    )
    picture = element("div", svg, class_="picture small")
    return element(
        "div",
        element("h3", "The coming months"),
        element("p", f"{title}, with the growth of items and rates."),
        scrolling(picture, label="Cost by month"),
    )
