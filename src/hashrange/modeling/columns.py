"""Text in aligned columns, for terminals."""

from collections.abc import Sequence

_CELL_CHARS_MAX = 60


def columns(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Lines with two spaces between columns; a cell that is too long is cut, but for the last of its row."""
    shown = [
        [_cut(cell) if at < len(row) - 1 else printable(cell) for at, cell in enumerate(row)] for row in rows
    ]
    count = max(map(len, shown), default=0)
    widths = [max((len(row[at]) for row in shown if at < len(row)), default=0) for at in range(count)]
    return [
        (indent + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False))).rstrip()
        for row in shown
    ]


def _cut(cell: str) -> str:
    cell = printable(cell)
    return cell if len(cell) <= _CELL_CHARS_MAX else f"{cell[: _CELL_CHARS_MAX - 1]}…"


def printable(text: str) -> str:
    """A file says whatever it likes: none of it may be an order to the terminal."""
    return "".join(char if char.isprintable() else "�" for char in text)


def amount(value: float) -> str:
    """A number for people: 950, 20 k, 1.5 M."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            scaled = value / (1e3 if unit == "k" else size)
            return f"{scaled:.3g} {unit}"
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


def rate(per_second: float) -> str:
    """Requests per second, or per hour where that is below one in a hundred."""
    if per_second >= 0.01 or per_second == 0:
        return f"{amount(per_second)}/s"
    return f"{amount(per_second * 3600)}/h"
