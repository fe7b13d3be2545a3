"""Writes the results: JSON, Markdown and pictures, and from there into the documentation."""

import shutil
import subprocess
from pathlib import Path

import installing
import orjson
import summary
from installing import NotInstallable
from measured import Comparison

BEGIN, END = "<!-- results -->", "<!-- end of results -->"
_CHART = Path(__file__).with_name("chart.py")
# By the name of the file: what the picture answers.
PICTURES = {
    "speed": "How fast: every workload as a multiple of DynamoDB Local's rate",
    "growth": "How it grows: median latency by the number of items",
    "durability": "What durability costs: writes in memory, on disk and on PostgreSQL",
}
SWITCHES = "switches"


def paths(folder: Path) -> tuple[Path, Path]:
    """The figures, and the text."""
    return folder / "results.json", folder / "results.md"


def write(comparison: Comparison, folder: Path, tools: Path) -> None:
    """Write all of it; without matplotlib there are no pictures."""
    write_json(comparison, folder)
    figures, text = paths(folder)
    text.write_text(summary.markdown(comparison), "utf-8")
    draw(figures, folder, tools)


def write_json(comparison: Comparison, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    paths(folder)[0].write_bytes(orjson.dumps(comparison.as_json(), option=orjson.OPT_INDENT_2))


def draw(figures: Path, folder: Path, tools: Path) -> None:
    """Have the pictures of a comparison, or of the switches, drawn into the folder."""
    try:
        installing.python_package(tools / "chart", "matplotlib", "matplotlib")
    except NotInstallable as problem:
        print(f"no pictures: matplotlib is not installable here: {problem}")
        return
    python = tools / "chart" / "bin" / "python"
    subprocess.run([python, _CHART, figures, folder], check=True, timeout=300)


def publish(folder: Path, root: Path) -> None:
    """Put the results between their marks in docs/benchmarks.md and README.md, pictures and figures beside the page."""
    figures, text = paths(folder)
    docs = root / "docs"
    shown = []
    for name, title in PICTURES.items():
        if (picture := folder / f"{name}.png").exists():
            shutil.copyfile(picture, docs / f"benchmarks-{name}.png")
            shown.append(f"![{title}](benchmarks-{name}.png)")
    shutil.copyfile(figures, docs / "benchmarks.json")
    _replace(docs / "benchmarks.md", "\n\n".join((*shown, text.read_text("utf-8"))))
    comparison = Comparison.from_json(orjson.loads(figures.read_bytes()))
    first = shown[0].replace("](", "](docs/") + "\n\n" if shown else ""
    _replace(root / "README.md", first + summary.sentence(comparison))


def publish_switches(figures: Path, page: Path, text: str, tools: Path) -> None:
    """Put the table of the switches into its page, figures and picture beside it."""
    shutil.copyfile(figures, page.with_suffix(".json"))
    draw(figures, figures.parent, tools)
    if (picture := figures.parent / f"{SWITCHES}.png").exists():
        shutil.copyfile(picture, page.with_suffix(".png"))
        text = f"![What each switch costs: share of the rate that is left]({page.stem}.png)\n\n{text}"
    _replace(page, text)


def _replace(page: Path, results: str) -> None:
    page.write_text(replaced(page.read_text("utf-8"), results), "utf-8")


def replaced(page: str, results: str) -> str:
    """Put new results in the place of the old ones."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n\n{results.strip()}\n\n{END}{after}"
