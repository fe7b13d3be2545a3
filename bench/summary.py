"""A comparison told as Markdown."""

from collections.abc import Callable, Iterator

from measured import Comparison, Measured
from targets import targets

from hashrange_bench import report
from hashrange_bench.result import Result
from hashrange_bench.workloads import GROWTH, WORKLOADS

Cell = Callable[[Result], str]


def markdown(comparison: Comparison) -> str:
    """Give every table, from the most asked for to the footnotes."""
    return "\n\n".join(part for part in _parts(comparison) if part) + "\n"


def _parts(comparison: Comparison) -> Iterator[str]:
    yield _machine(comparison)
    yield "### Targets"
    yield _targets(comparison)
    yield "### Throughput (requests per second)"
    yield _by_system(comparison, lambda result: report.rate(result.per_second))
    yield "### Hashrange (durable) as a multiple of each, and as a share of the bare protocol"
    yield _ratios(comparison)
    yield "### Latency (p50 / p99, milliseconds)"
    yield _by_system(
        comparison,
        lambda result: f"{report.milliseconds(result.p50_ms)} / {report.milliseconds(result.p99_ms)}",
    )
    yield "### The server's processor time (seconds, and microseconds per request)"
    yield _by_system(
        comparison,
        lambda result: f"{report.seconds(result.cpu_seconds)} / {report.microseconds(result.cpu_us)}",
    )
    yield "### The server's peak memory during the workload (MB)"
    yield _by_system(comparison, lambda result: report.megabytes(result.peak_memory_bytes))
    yield "### Start and memory"
    yield _rest(comparison)
    yield "### Growth (p50, milliseconds)"
    yield _growth(comparison)
    yield _workers(comparison)
    yield _notes(comparison)


def _measured(comparison: Comparison) -> list[Measured]:
    return [system for system in comparison.systems if not system.skipped]


def _machine(comparison: Comparison) -> str:
    lines = [
        f"- {name.replace('_', ' ')}: {value}"
        for name, value in {**comparison.machine, **comparison.settings}.items()
    ]
    versions = ", ".join(
        f"{system.title} {system.version}" for system in comparison.systems if system.version
    )
    return "\n".join((f"Measured on {comparison.date}.", "", *lines, f"- versions: {versions}"))


def _targets(comparison: Comparison) -> str:
    words = {True: "reached", False: "**not reached**", None: "not measured"}
    rows = (
        (
            target.what,
            f"{'at most' if target.at_most else 'at least'} {target.wanted:.2f}",
            report.MISSING if target.found is None else f"{target.found:.2f}",
            words[target.reached],
        )
        for target in targets(comparison)
    )
    return report.table(("what", "wanted", "found", ""), rows)


def _by_system(comparison: Comparison, cell: Cell) -> str:
    systems = [(system, system.report.by_name()) for system in _measured(comparison)]
    rows = [
        (
            workload.title,
            *(
                cell(found[workload.name])
                if workload.name in found and found[workload.name].per_second is not None
                else report.MISSING
                for _, found in systems
            ),
        )
        for workload in WORKLOADS
        if any(workload.name in found for _, found in systems)
    ]
    return report.table(("workload", *(system.title for system, _ in systems)), rows)


def _ratios(comparison: Comparison) -> str:
    durable = comparison.system("hashrange")
    if durable is None:
        return "Hashrange itself was not measured."
    others = [system for system in _measured(comparison) if system is not durable]
    rows = []
    for name, result in durable.report.by_name().items():
        cells = (
            report.share(result.per_second, other.rate(name))
            if other.name == "ceiling"
            else report.ratio(result.per_second, other.rate(name))
            for other in others
        )
        rows.append((result.title, *cells))
    return report.table(("workload", *(other.title for other in others)), rows)


def _rest(comparison: Comparison) -> str:
    systems = _measured(comparison)
    large = [system.report for system in systems]
    rows = (
        ("cold start to first answer (s)", *(report.seconds(system.start_seconds) for system in systems)),
        ("idle memory (MB)", *(report.megabytes(system.idle_memory_bytes) for system in systems)),
        (
            "large items loaded",
            *(f"{found.large_items:,}" if found.large_items else report.MISSING for found in large),
        ),
        ("memory then (MB)", *(report.megabytes(found.large_memory_bytes) for found in large)),
        (
            "items loaded per second",
            *(
                report.rate(found.large_items / found.large_seconds if found.large_seconds else None)
                for found in large
            ),
        ),
    )
    return report.table(("", *(system.title for system in systems)), rows)


def _growth(comparison: Comparison) -> str:
    systems = [system for system in _measured(comparison) if system.report.growth]
    levels = sorted({level for system in systems for level in system.report.growth})
    rows = [
        (
            f"{workload.title}, {level:,} items",
            *(_growth_cell(system, level, place) for system in systems),
        )
        for place, workload in enumerate(GROWTH)
        for level in levels
    ]
    return report.table(("", *(system.title for system in systems)), rows) if rows else "Not measured."


def _growth_cell(system: Measured, level: int, place: int) -> str:
    results = system.report.growth.get(level)
    return report.milliseconds(results[place].p50_ms) if results else report.MISSING


def _workers(comparison: Comparison) -> str:
    if not comparison.workers:
        return ""
    rows = ((str(count), report.rate(rate)) for count, rate in comparison.workers.items())
    return "### Mixed load by number of workers\n\n" + report.table(("workers", "requests/s"), rows)


def _notes(comparison: Comparison) -> str:
    lines = [
        f"- {system.title} was left out: {system.skipped}" for system in comparison.systems if system.skipped
    ]
    loads = []
    for system in _measured(comparison):
        lines += _reasons(system)
        loads += [
            result.generator_load for result in system.report.results if result.generator_load is not None
        ]
    if loads:
        lines.append(f"- The load generator used at most {max(loads):.0%} of one core.")
    return "\n".join(("### Notes", "", *lines))


def _reasons(system: Measured) -> list[str]:
    """Tell each reason once, with the workloads it stands for."""
    titles: dict[str, list[str]] = {}
    for result in system.report.results:
        if result.note:
            titles.setdefault(result.note, []).append(result.title)
    return [f"- {system.title}: {note} ({'; '.join(names)})" for note, names in titles.items()]
