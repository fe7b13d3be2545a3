"""Writes the results: JSON, Markdown and chart, and from there into the documentation."""

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


def paths(folder: Path) -> tuple[Path, Path, Path]:
    return folder / "results.json", folder / "results.md", folder / "results.png"


def write(comparison: Comparison, folder: Path, tools: Path) -> None:
    """Write all three; without matplotlib there is no chart."""
    figures, text, picture = paths(folder)
    write_json(comparison, folder)
    text.write_text(summary.markdown(comparison), "utf-8")
    picture.unlink(missing_ok=True)
    try:
        installing.python_package(tools / "chart", "matplotlib", "matplotlib")
    except NotInstallable as problem:
        print(f"no chart: matplotlib is not installable here: {problem}")
        return
    python = tools / "chart" / "bin" / "python"
    subprocess.run([python, _CHART, figures, picture], check=True, timeout=300)


def write_json(comparison: Comparison, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    paths(folder)[0].write_bytes(orjson.dumps(comparison.as_json(), option=orjson.OPT_INDENT_2))


def publish(folder: Path, docs: Path) -> None:
    """Put the results between their marks in docs/benchmarks.md, chart and figures beside it."""
    figures, text, picture = paths(folder)
    page = docs / "benchmarks.md"
    chart = ""
    if picture.exists():
        shutil.copyfile(picture, docs / "benchmarks.png")
        chart = "![Requests per second of every system, by workload](benchmarks.png)\n\n"
    shutil.copyfile(figures, docs / "benchmarks.json")
    page.write_text(replaced(page.read_text("utf-8"), chart + text.read_text("utf-8")), "utf-8")


def replaced(page: str, results: str) -> str:
    """Put new results in the place of the old ones."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n\n{results.strip()}\n\n{END}{after}"
