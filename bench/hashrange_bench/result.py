"""Results: one per workload, the growth series, and the report of a whole run."""

from dataclasses import asdict, dataclass, field
from typing import Any

from hashrange_bench.load import Outcome
from hashrange_bench.warming import Warmth
from hashrange_bench.workloads import Workload


@dataclass(frozen=True, slots=True)
class Result:
    """What a workload gave; without a throughput it could not be run, and the note says why."""

    name: str
    group: int
    title: str
    per_second: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    requests: int = 0
    errors: int = 0
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    generator_load: float | None = None  # of one core
    warmup_windows: int = 0
    steady: bool = False  # whether the last of them differed by less than 5 %
    note: str = ""

    @property
    def cpu_us(self) -> float | None:
        """The server's processor time for one request, in microseconds."""
        return self.cpu_seconds / self.requests * 1e6 if self.cpu_seconds and self.requests else None

    @property
    def per_cpu_second(self) -> float | None:
        """Requests per second of the server's processor time: its rate on one core that it has to itself."""
        return self.requests / self.cpu_seconds if self.cpu_seconds and self.requests else None

    @classmethod
    def missing(cls, workload: Workload, reason: str) -> "Result":
        return cls(workload.name, workload.group, workload.title, note=" ".join(reason.split())[:200])

    @classmethod
    def of(
        cls,
        workload: Workload,
        outcome: Outcome,
        *,
        cpu: float | None,
        memory: int | None,
        note: str,
        warmth: Warmth | None = None,
    ) -> "Result":
        return cls(
            name=workload.name,
            group=workload.group,
            title=workload.title,
            per_second=outcome.per_second,
            p50_ms=outcome.p50_ms,
            p99_ms=outcome.p99_ms,
            requests=outcome.requests,
            errors=outcome.refused + outcome.broken,
            cpu_seconds=cpu,
            peak_memory_bytes=memory,
            generator_load=outcome.generator_cpu_seconds / outcome.seconds if outcome.seconds else None,
            note=note,
            warmup_windows=warmth.windows if warmth else 0,
            steady=warmth.steady if warmth else False,
        )


@dataclass(slots=True)
class Report:
    """Everything one run against one endpoint has found."""

    results: list[Result] = field(default_factory=list)
    growth: dict[int, list[Result]] = field(default_factory=dict)  # by the number of items
    large_items: int = 0
    large_seconds: float = 0.0
    large_memory_bytes: int | None = None

    def by_name(self) -> dict[str, Result]:
        return {result.name: result for result in self.results}

    def as_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "growth": [
                {"items": items, "results": [asdict(result) for result in results]}
                for items, results in self.growth.items()
            ],
        }

    @classmethod
    def from_json(cls, figures: dict[str, Any]) -> "Report":
        return cls(
            results=[Result(**result) for result in figures["results"]],
            growth={
                level["items"]: [Result(**result) for result in level["results"]]
                for level in figures["growth"]
            },
            large_items=figures["large_items"],
            large_seconds=figures["large_seconds"],
            large_memory_bytes=figures["large_memory_bytes"],
        )
