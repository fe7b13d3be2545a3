"""Draw the tables of a model file: a few made-up items as rows, coloured by entity, item collections together.

python examples/draw.py ecommerce    # writes examples/ecommerce/picture.svg
"""

import sys
from pathlib import Path
from xml.sax.saxutils import escape

from hashrange.modeling.data.generation import make_data
from hashrange.modeling.data.samples import Sample
from hashrange.modeling.loading import load
from hashrange.modeling.model import Index, Model, Table
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.report.collections import few_collections, few_items

FOLDER = Path(__file__).parent
COLOURS = ("#cfe8ff", "#d7f5d0", "#ffe8c2", "#f6d3ea", "#e3dcff", "#fff6b3", "#cdf1ee", "#f9d2cc")
WIDTHS = (110, 270, 330, 390)  # entity, partition key, sort key, what else is in the item
CHARACTERS = tuple(width // 7 for width in WIDTHS)
ROW, MARGIN = 20, 12


def picture(model: Model) -> str:
    """The SVG, the same each time."""
    data = make_data(model, items=120)
    colours = dict(zip(model.entities, COLOURS * 9, strict=False))
    rows: list[str] = []
    y = MARGIN
    for table in model.tables.values():
        for index in (None, *table.indexes):
            samples = few(
                [sample for sample in data.all() if sample.entity.table == table.name], table, index
            )
            title = f"table {table.name}" if index is None else f"index {index.name}"
            y = block(rows, y, title, [cells(sample, table, index) for sample in samples], colours)
    width = sum(WIDTHS) + 2 * MARGIN
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" viewBox="0 0 {width} {y}" '
    style = 'font-family="monospace" font-size="11">'
    ground = f'<rect width="{width}" height="{y}" fill="#ffffff"/>'
    return "\n".join([head + style, f"<title>{escape(model.name)}</title>", ground, *rows, "</svg>", ""])


def few(samples: list[Sample], table: Table, index: Index | None) -> list[Sample]:
    """A few item collections, with no more than two items of a kind."""
    collections = few_collections(samples, table, index)
    return [sample for members in collections for sample in few_items(members)]


def cells(sample: Sample, table: Table, index: Index | None) -> list[str]:
    """What a row shows."""
    keys = [key.name for key in AccessPath(table, index).key]
    of_all_keys = {key.name for other in (None, *table.indexes) for key in AccessPath(table, other).key}
    rest = [f"{name}={value}" for name, value in sample.stored.items() if name not in of_all_keys]
    first, *others = (f"{name} {sample.stored[name]}" for name in keys)
    return [sample.entity.name, first, " ".join(others), " ".join(rest)]


def block(rows: list[str], y: int, title: str, lines: list[list[str]], colours: dict[str, str]) -> int:
    """Draw one table or index; give where the next one begins."""
    rows.append(f'<text x="{MARGIN}" y="{y + 14}" font-weight="bold">{escape(title)}</text>')
    y += ROW
    before = ""
    for line in lines:
        if before and line[1] != before:
            y += 4  # between item collections
        before = line[1]
        rows.append(
            f'<rect x="{MARGIN}" y="{y}" width="{sum(WIDTHS)}" height="{ROW - 1}" fill="{colours[line[0]]}"/>'
        )
        x = MARGIN + 4
        for text, width, characters in zip(line, WIDTHS, CHARACTERS, strict=True):
            short = text if len(text) < characters else text[: characters - 2] + "…"
            rows.append(f'<text x="{x}" y="{y + 14}">{escape(short)}</text>')
            x += width
        y += ROW
    return y + MARGIN


def main(name: str) -> None:
    """Draw one model."""
    text = picture(load(FOLDER / name / "model.yaml"))
    (FOLDER / name / "picture.svg").write_text(text, "utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        main(each)
