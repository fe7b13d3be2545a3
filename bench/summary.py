"""A comparison told as Markdown."""

from collections.abc import Callable, Iterator

from measured import Comparison, Measured
from targets import targets

from hashrange_bench import report
from hashrange_bench.result import Result
from hashrange_bench.workloads import GROWTH, WORKLOADS

Cell = Callable[[Result], str]
_PER_CORE = (
    "Per core is requests per second of processor time, of the server and its children: some systems use both cores, "
    "Hashrange's one process little more than one. It is also the figure that others on the machine move least."
)


def markdown(comparison: Comparison) -> str:
    """Give every table, from the most asked for to the footnotes."""
    return "\n\n".join(part for part in _parts(comparison) if part) + "\n"


_TOLD = ("get", "put-new", "update", "query-100", "scan", "batch-write-25", "transact-write-2")


def sentence(comparison: Comparison) -> str:
    """The few ratios that a reader asks for first."""
    durable, local = comparison.system("hashrange"), comparison.system("dynamodb-local")
    if durable is None or local is None:
        return "Not measured."
    ratios = ", ".join(
        f"{result.title} {report.ratio(result.per_second, local.rate(result.name))}"
        for result in durable.report.results
        if result.name in _TOLD and result.per_second and local.rate(result.name)
    )
    return (
        f"Measured on {comparison.date}: Hashrange's rate, durable and in one process, as a multiple of that of "
        f"DynamoDB Local {local.version}, in memory and warm: {ratios}."
    )


def _parts(comparison: Comparison) -> Iterator[str]:
    yield _machine(comparison)
    yield _systems(comparison)
    yield "### Targets"
    yield _targets(comparison)
    yield "### Requests per second, and the server's processor time for one of them in microseconds"
    yield _by_system(comparison, _rate_and_cpu)
    yield "### Hashrange (durable) as a multiple of each, by the clock / per core; as a share of the bare protocol"
    yield _PER_CORE
    yield _ratios(comparison)
    yield "### Latency (p50 / p99, milliseconds)"
    yield _by_system(
        comparison,
        lambda result: f"{report.milliseconds(result.p50_ms)} / {report.milliseconds(result.p99_ms)}",
    )
    yield "### The server's peak memory during the workload (MB)"
    yield _by_system(comparison, lambda result: report.megabytes(result.peak_memory_bytes))
    yield "### Start, memory and disk"
    yield _rest(comparison)
    yield "### Growth (p50, milliseconds)"
    yield _growth(comparison)
    yield _workers(comparison)
    yield _notes(comparison)


def _rate_and_cpu(result: Result) -> str:
    return f"{report.rate(result.per_second)} ({report.microseconds(result.cpu_us)})"


def _measured(comparison: Comparison) -> list[Measured]:
    return [system for system in comparison.systems if not system.skipped]


def _machine(comparison: Comparison) -> str:
    lines = [
        f"- {name.replace('_', ' ')}: {value}"
        for name, value in {**comparison.machine, **comparison.settings}.items()
    ]
    return "\n".join((f"Measured on {comparison.date}.", "", *lines))


def _systems(comparison: Comparison) -> str:
    """How each was run, and how long it was warmed up: a rate means nothing without."""
    rows = (
        (
            system.title,
            system.version or report.MISSING,
            system.settings or report.MISSING,
            *_warm_up(system, comparison),
            _pace(system, comparison),
        )
        for system in _measured(comparison)
    )
    return report.table(("system", "version", "settings", "warm-up (s)", "steady", "machine's pace"), rows)


def _pace(system: Measured, comparison: Comparison) -> str:
    """How fast the machine was then, as a share of how fast it ever was in this run."""
    paces = [each.pace for each in _measured(comparison) if each.pace]
    return report.MISSING if system.pace is None else f"{system.pace / max(paces):.0%}"


def _warm_up(system: Measured, comparison: Comparison) -> tuple[str, str]:
    """The seconds of all warm-ups, and how many workloads were steady after theirs."""
    results = [result for result in system.report.results if result.warmup_windows]
    if not results:
        return report.MISSING, report.MISSING
    windows = sum(result.warmup_windows for result in results)
    window_seconds = float(comparison.settings.get("warmup_seconds", 1))
    steady = sum(result.steady for result in results)
    return f"{windows * window_seconds:.0f}", f"{steady} of {len(results)}"


def _targets(comparison: Comparison) -> str:
    words = {True: "reached", False: "**not reached**", None: "not measured"}
    rows = (
        (
            target.what,
            f"{'at most' if target.at_most else 'at least'} {_figure(target.wanted)}",
            report.MISSING if target.found is None else _figure(target.found),
            report.MISSING if target.per_core is None else _figure(target.per_core),
            words[target.reached],
        )
        for target in targets(comparison)
    )
    return report.table(("what", "wanted", "found", "per core", ""), rows)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


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
    rows = (
        (result.title, *(_against(result, other) for other in others)) for result in durable.report.results
    )
    return report.table(("workload", *(other.title for other in others)), rows)


def _against(mine: Result, other: Measured) -> str:
    theirs = other.report.by_name().get(mine.name)
    if theirs is None or theirs.per_second is None:
        return report.MISSING
    if other.name == "ceiling":
        return report.share(mine.per_second, theirs.per_second)
    per_core = report.ratio(mine.per_cpu_second, theirs.per_cpu_second)
    return f"{report.ratio(mine.per_second, theirs.per_second)} / {per_core}"


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
        (
            "bytes on disk of an item of 2.1 KB",
            *(report.rate(system.item_disk_bytes) for system in systems),
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
