"""What a comparison has found: one entry per system, kept as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

from hashrange_bench.result import Report


@dataclass(slots=True)
class Measured:
    """One system: a report, or the reason why there is none."""

    name: str
    title: str
    version: str = ""
    settings: str = ""  # how it was started, in words
    skipped: str = ""
    start_seconds: float | None = None
    idle_memory_bytes: int | None = None
    item_disk_bytes: float | None = None  # of an item of 2.1 KB, once the server has stopped
    pace: float | None = None  # of the machine meanwhile: see `machine.pace`
    report: Report = field(default_factory=Report)

    def improve(self, again: "Measured") -> None:
        """Take over whatever went better in another round."""
        mine, other = self.report.by_name(), again.report.by_name()
        better = {
            name: found
            for name, found in other.items()
            if (found.per_second or 0) > (mine[name].per_second or 0 if name in mine else 0)
        }
        self.report.results = [better.get(found.name, found) for found in self.report.results]
        if self.start_seconds and again.start_seconds:
            self.start_seconds = min(self.start_seconds, again.start_seconds)

    def rate(self, workload: str) -> float | None:
        found = self.report.by_name().get(workload)
        return found.per_second if found else None

    def per_core(self, workload: str) -> float | None:
        """Requests per second of processor time, of the server and its children."""
        found = self.report.by_name().get(workload)
        return found.per_cpu_second if found else None


@dataclass(slots=True)
class Comparison:
    machine: dict[str, str]
    settings: dict[str, Any]
    date: str
    systems: list[Measured] = field(default_factory=list)
    workers: dict[int, float] = field(default_factory=dict)  # mixed requests per second, by processes

    def system(self, name: str) -> Measured | None:
        return next((found for found in self.systems if found.name == name and not found.skipped), None)

    def as_json(self) -> dict[str, Any]:
        systems = [{**asdict(found), "report": found.report.as_json()} for found in self.systems]
        workers = {str(count): rate for count, rate in self.workers.items()}
        return {**asdict(self), "systems": systems, "workers": workers}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "Comparison":
        systems = [
            Measured(**{**system, "report": Report.from_json(system["report"])})
            for system in found["systems"]
        ]
        workers = {int(count): rate for count, rate in found["workers"].items()}
        return cls(**{**found, "systems": systems, "workers": workers})
