"""Draws the chart of a comparison: one panel per workload, one bar per system. Needs matplotlib only."""

import json
import sys
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # before the import below
from matplotlib import pyplot as plt

PANELS = (
    *("get", "put", "update"),
    *("query-1", "query-100", "query-filter"),
    *("scan", "batch-get-100", "batch-write-25"),
    *("transact-write-2", "partiql", "mixed"),
)
COLORS = {
    "hashrange": "#1b6ca8",
    "hashrange-memory": "#6fb1e0",
    "hashrange-postgres": "#134a73",
    "dynamodb-local": "#d98c21",
    "dynalite": "#7a9e3f",
    "moto": "#a05195",
    "ministack": "#c8553d",
    "ceiling": "#b8b8b8",
}


def main(source: str, target: str) -> None:
    """Read the figures, write the picture."""
    with open(source, encoding="utf-8") as file:  # noqa: PTH123
        found = json.load(file)
    systems = [system for system in found["systems"] if not system["skipped"]]
    titles, rates = {}, {}
    for system in systems:
        for result in system["report"]["results"]:
            if system["name"] == "ceiling" and result["name"] != "get":
                continue  # it would dwarf everything, and says little of what is more than a look-up
            titles[result["name"]] = result["title"]
            rates[system["name"], result["name"]] = result["per_second"]
    names = [name for name in PANELS if name in titles]
    if not names:
        return
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5.2 * columns, 2.5 * rows + 0.8), squeeze=False)
    for place, axis in enumerate(axes.flat):
        if place < len(names):
            name = names[place]
            shown = [
                system for system in systems if system["name"] != "ceiling" or ("ceiling", name) in rates
            ]
            _panel(axis, titles[name], [(system, rates.get((system["name"], name))) for system in shown])
        else:
            axis.axis("off")
    figure.suptitle(f"Requests per second, {found['settings']['connections']} connections", fontsize=14)
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    figure.savefig(target, dpi=110)


def _panel(axis: Any, title: str, bars: list[tuple[dict[str, Any], float | None]]) -> None:
    most = max((rate or 0 for _, rate in bars), default=0) or 1
    for place, (system, rate) in enumerate(bars):
        axis.barh(place, rate or 0, color=COLORS.get(system["name"], "#888888"))
        label = "\N{EN DASH}" if rate is None else f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        axis.text((rate or 0) + most * 0.015, place, label, va="center", fontsize=9)
    axis.set_yticks(range(len(bars)), [system["title"] for system, _ in bars], fontsize=9)
    axis.invert_yaxis()
    axis.set_xlim(0, most * 1.18)
    axis.set_xticks([])
    axis.set_title(title, fontsize=11, loc="left")
    for side in ("top", "right", "bottom"):
        axis.spines[side].set_visible(False)
    axis.tick_params(axis="y", length=0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
