"""Draws the pictures of a comparison, one per question. Needs matplotlib only.

    python bench/chart.py results.json FOLDER        # of compare.py, or of switches.py

They are drawn on a light ground of their own, so that they can be read on a dark page as well.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # before the import below
from matplotlib import pyplot as plt

PEER = "dynamodb-local"
WRITES = ("put-new", "put", "put-2-gsi", "update", "delete", "batch-write-25", "transact-write-2")
OURS = ("hashrange", "hashrange-memory", "hashrange-postgres")
# Told apart by their lightness too, for those who see no colours.
COLORS = {
    "hashrange": "#1b6ca8",
    "hashrange-memory": "#8cc4ea",
    "hashrange-postgres": "#0b2f4d",
    "dynamodb-local": "#d98c21",
    "dynoxide": "#b5301f",
    "dynalite": "#7a9e3f",
    "moto": "#a05195",
    "ministack": "#6b6b6b",
}
MARKERS = {"hashrange": "D", "dynoxide": "^", "dynalite": "o", "moto": "v", "ministack": "s"}
_GROUND = "#fbfbfa"

Systems = Mapping[str, dict[str, Any]]


def main(source: str, target: str) -> None:
    """Read the figures of a comparison or of the switches; draw what they have something to say on."""
    figures = json.loads(Path(source).read_text("utf-8"))
    folder = Path(target)
    if "systems" not in figures:
        draw(folder / "switches.png", kept, figures["results"])
        return
    systems = {system["name"]: system for system in figures["systems"] if not system["skipped"]}
    for name, picture in {"speed": speed, "growth": growth, "durability": durability}.items():
        draw(folder / f"{name}.png", picture, systems)


def draw(path: Path, picture: Callable[[Any], Any | None], figures: Any) -> None:
    """Save a picture; where there is nothing to draw, an older one goes."""
    path.unlink(missing_ok=True)
    figure = picture(figures)
    if figure is not None:
        figure.savefig(path, dpi=110, facecolor=_GROUND)
        plt.close(figure)


def rates(system: Mapping[str, Any]) -> dict[str, float]:
    """Requests per second by workload, where there are any."""
    results = system["report"]["results"]
    return {result["name"]: result["per_second"] for result in results if result["per_second"]}


def speed(systems: Systems) -> Any | None:
    """How fast: every workload as a multiple of DynamoDB Local's rate."""
    if PEER not in systems or "hashrange" not in systems:
        return None
    theirs = rates(systems[PEER])
    titles = {result["name"]: result["title"] for result in systems["hashrange"]["report"]["results"]}
    names = [name for name in titles if name in theirs]
    figure, axis = _page(len(names), "How fast: rate as a multiple of DynamoDB Local's (both warm)")
    axis.axvline(1, color=COLORS[PEER], linewidth=2, label=f"DynamoDB Local {systems[PEER]['version']}")
    for name, marker in MARKERS.items():
        if name in systems:
            own = rates(systems[name])
            points = [(own[at] / theirs[at], place) for place, at in enumerate(names) if at in own]
            axis.scatter(
                *zip(*points, strict=True),
                color=COLORS[name],
                marker=marker,
                s=60,
                label=systems[name]["title"],
                zorder=3,
            )
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}\N{MULTIPLICATION SIGN}")
    _rows(axis, [titles[name] for name in names])
    axis.grid(axis="x", which="both", color="#e2e2e0")
    return figure


def growth(systems: Systems) -> Any | None:
    """How it grows: the median latency by the number of items."""
    levels = systems.get("hashrange", {"report": {"growth": []}})["report"]["growth"]
    if len(levels) < 2:
        return None
    figure, axis = plt.subplots(figsize=(8.5, 4.2))
    figure.suptitle("How it grows: median latency under load, Hashrange (durable)", x=0.02, ha="left")
    for place, first in enumerate(levels[0]["results"]):
        points = [(level["items"], level["results"][place]["p50_ms"]) for level in levels]
        shown = [(items, ms) for items, ms in points if ms is not None]
        if shown:
            axis.plot(*zip(*shown, strict=True), marker="o", linewidth=2, label=first["title"])
    axis.set_xscale("log")
    axis.set_ylim(bottom=0)
    axis.set_xlabel("items in the table")
    axis.set_ylabel("p50, milliseconds")
    axis.legend(frameon=False)
    axis.grid(color="#e2e2e0")
    return _finished(figure, axis)


def durability(systems: Systems) -> Any | None:
    """What durability costs: writes of Hashrange in memory, on disk and on PostgreSQL."""
    ours = [name for name in OURS if name in systems]
    if "hashrange" not in ours or len(ours) < 2:
        return None
    by_name = {name: rates(systems[name]) for name in ours}
    titles = {result["name"]: result["title"] for result in systems["hashrange"]["report"]["results"]}
    names = [name for name in WRITES if name in by_name["hashrange"]]
    figure, axis = _page(len(names) * 2, "What durability costs: writes per second")
    height = 0.8 / len(ours)
    for at, name in enumerate(ours):
        places = [place + (at - (len(ours) - 1) / 2) * height for place in range(len(names))]
        values = [by_name[name].get(workload, 0) for workload in names]
        bars = axis.barh(places, values, height, color=COLORS[name], label=systems[name]["title"])
        axis.bar_label(bars, [f"{value:,.0f}" for value in values], padding=3, fontsize=8)
    _rows(axis, [titles[name] for name in names])
    axis.set_xticks([])
    return figure


def kept(results: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> Any | None:
    """What each switch costs: the share of the rate that is left, by processor time."""
    by_workload = {name: by_side for name, by_side in results.items() if len(by_side) > 1}
    if not by_workload:
        return None
    sides = list(next(iter(by_workload.values())))[1:]
    figure, axis = _page(len(sides), "What each switch costs: share of the rate that is left, per core")
    for marker, (name, by_side) in zip("Dos^v", by_workload.items(), strict=False):
        points = [(by_side[side]["kept by processor time"], place) for place, side in enumerate(sides)]
        shown = [(share, place) for share, place in points if share is not None]
        axis.scatter(*zip(*shown, strict=True), marker=marker, s=60, label=name, zorder=3)
    axis.axvline(1, color="#444444", linewidth=1)
    axis.set_xlim(left=0)
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    _rows(axis, sides)
    axis.grid(axis="x", color="#e2e2e0")
    return figure


def _page(rows: int, title: str) -> tuple[Any, Any]:
    figure, axis = plt.subplots(figsize=(10, 1.6 + 0.3 * rows), layout="constrained")
    figure.suptitle(title, x=0.02, ha="left")
    return _finished(figure, axis), axis


def _finished(figure: Any, axis: Any) -> Any:
    axis.set_facecolor(_GROUND)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    return figure


def _rows(axis: Any, titles: Sequence[str]) -> None:
    axis.set_yticks(range(len(titles)), titles)
    axis.invert_yaxis()
    axis.tick_params(axis="y", length=0)
    axis.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=4, fontsize=9)


if __name__ == "__main__":
    main(*sys.argv[1:])
