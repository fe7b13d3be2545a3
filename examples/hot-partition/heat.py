"""Draw the evening of the laboratory, as a server of its own has it: examples/hot-partition/heat.svg.

python examples/hot-partition/heat.py
"""

import sys
from pathlib import Path
from typing import Any

from hashrange.testing import Server

FOLDER = Path(__file__).parent
COLUMN, BAR_HEIGHT, ROW, MARGIN, LEFT = 44, 110, 14, 14, 150
CEILING = 1000  # write units that a partition takes in a second
TITLES = {
    "log_by_day": "log_by_day: one key a day, and one partition has it all",
    "log_sharded": "log_sharded: ten keys a day, over all partitions",
}


def picture(results: dict[str, list[Any]]) -> str:
    """The SVG: for each table what was accepted and throttled in each second, and how much went to each key."""
    parts: list[str] = []
    y = MARGIN
    columns = max(len(seconds) for seconds in results.values())
    highest = max(_total(second) for seconds in results.values() for second in seconds)
    for table, seconds in results.items():
        parts.append(_text(MARGIN, y + 12, TITLES[table], bold=True))
        y = _bars(parts, y + 22, seconds, highest)
        y = _rows(parts, y, seconds) + 2 * MARGIN
    width = LEFT + columns * COLUMN + MARGIN
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" viewBox="0 0 {width} {y}" '
    style = 'font-family="monospace" font-size="11">'
    ground = f'<rect width="{width}" height="{y}" fill="#ffffff"/>'
    return "\n".join([head + style, ground, *parts, "</svg>", ""])


def _bars(parts: list[str], y: int, seconds: list[Any], highest: int) -> int:
    """A bar for each second: green is accepted, red is throttled; the line is what one partition takes."""
    bottom = y + BAR_HEIGHT
    scale = BAR_HEIGHT / max(highest, CEILING)
    for number, second in enumerate(seconds):
        x = LEFT + number * COLUMN
        accepted, throttled = second.accepted.total(), second.throttled.total()
        low, high = round(accepted * scale), round(throttled * scale)
        parts.append(_box(x, bottom - low, COLUMN - 6, low, "#5bb36a", f"{accepted} accepted"))
        if throttled:
            parts.append(_box(x, bottom - low - high, COLUMN - 6, high, "#d9534f", f"{throttled} throttled"))
    line = bottom - round(CEILING * scale)
    right = LEFT + len(seconds) * COLUMN
    parts.append(f'<path d="M{LEFT} {line}H{right}" stroke="#555555" stroke-dasharray="4 3"/>')
    parts.append(_text(MARGIN, line + 4, f"{CEILING} units/s"))
    throttled = sum(second.throttled.total() for second in seconds)
    parts.append(_text(MARGIN, bottom, f"throttled: {throttled}"))
    return bottom + 8


def _rows(parts: list[str], y: int, seconds: list[Any]) -> int:
    """A row for each partition key: the darker, the nearer to what a partition takes; red is throttled."""
    keys = sorted({key for second in seconds for key in second.accepted + second.throttled})
    for key in keys:
        parts.append(_text(MARGIN, y + 11, key))
        for number, second in enumerate(seconds):
            units = second.accepted[key] + second.throttled[key]
            colour = "#d9534f" if second.throttled[key] else _shade(units / CEILING)
            parts.append(_box(LEFT + number * COLUMN, y, COLUMN - 1, ROW - 1, colour, f"{units} units"))
        y += ROW
    return y


def _shade(share: float) -> str:
    """From white to orange."""
    part = min(max(share, 0.0), 1.0)
    return f"#ff{round(255 - 90 * part):02x}{round(255 - 255 * part):02x}"


def _total(second: Any) -> int:
    return int(second.accepted.total() + second.throttled.total())


def _box(x: int, y: int, width: int, height: int, colour: str, title: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"><title>{title}</title></rect>'


def _text(x: int, y: int, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}"{weight}>{text}</text>'


def main() -> None:
    """Let the evening pass on a server of its own, and draw it."""
    sys.path.append(str(FOLDER.parent))
    from run import application, make_tables  # noqa: PLC0415 - it is found only now

    laboratory = application(FOLDER.name)
    with Server() as server:
        client = laboratory.impatient(server.client())
        make_tables(client, FOLDER.name)
        results = laboratory.evening(client, lambda: server.clock.move(1))
    (FOLDER / "heat.svg").write_text(picture(results), "utf-8")


if __name__ == "__main__":
    main()
