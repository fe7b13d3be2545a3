"""A run told as Markdown: one table of the workloads, one of the growth."""

from collections.abc import Iterable, Sequence

from hashrange_bench.result import Report, Result

MISSING = "\N{EN DASH}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Give a Markdown table: words to the left, numbers to the right."""
    cells = [list(head), *(list(row) for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = (
        [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        for row in (cells[0], rule, *cells[1:])
    )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def rate(value: float | None) -> str:
    """Say a number of requests per second."""
    if value is None:
        return MISSING
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def milliseconds(value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def microseconds(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.0f}"


def megabytes(value: int | None) -> str:
    return MISSING if value is None else f"{value / 1e6:,.0f}"


def seconds(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"


def ratio(mine: float | None, other: float | None) -> str:
    """Say how many times the other's rate mine is."""
    if mine is None or not other:
        return MISSING
    times = mine / other
    return f"{times:,.0f}\N{MULTIPLICATION SIGN}" if times >= 10 else f"{times:.2f}\N{MULTIPLICATION SIGN}"


def share(mine: float | None, whole: float | None) -> str:
    return MISSING if mine is None or not whole else f"{mine / whole:.0%}"


def workloads(report: Report) -> str:
    """Give the table of the workloads, and below it why some were not run."""
    head = ("workload", "requests/s", "p50 ms", "p99 ms", "errors", "CPU s", "CPU µs/request", "peak MB")
    text = table(head, map(_row, report.results))
    notes = [f"- {result.title}: {result.note}" for result in report.results if result.note]
    return "\n".join((text, "", *notes, "")) if notes else text + "\n"


def _row(result: Result) -> tuple[str, ...]:
    return (
        result.title,
        rate(result.per_second),
        milliseconds(result.p50_ms),
        milliseconds(result.p99_ms),
        MISSING if result.per_second is None else f"{result.errors:,}",
        seconds(result.cpu_seconds),
        microseconds(result.cpu_us),
        megabytes(result.peak_memory_bytes),
    )


def growth(report: Report) -> str:
    """Give the table of the median latencies as the table grows."""
    titles = [result.title for result in next(iter(report.growth.values()), [])]
    rows = (
        (f"{items:,}", *(milliseconds(result.p50_ms) for result in results))
        for items, results in report.growth.items()
    )
    return table(("items", *(f"{title} p50 ms" for title in titles)), rows) + "\n"
