"""Measures the ceiling: the same requests, answered with what Hashrange answered, by nearly nothing."""

import http.client

import orjson

from hashrange_bench import sample
from hashrange_bench.endpoint import Endpoint
from hashrange_bench.load import Generator, LoadFailed, Order
from hashrange_bench.process import Meter
from hashrange_bench.result import Result
from hashrange_bench.run import Options, Requests, Say, summary
from hashrange_bench.workloads import Answer, Workload

_MIXED = {"GetItem": "growth-get", "Query": "growth-query"}
_COUNTS = {sample.PEOPLE: sample.PEOPLE_COUNT, sample.ORDERS: sample.ORDERS_COUNT, sample.LARGE: 100_000}


class CeilingRun:
    def __init__(
        self,
        endpoint: Endpoint,
        options: Options,
        *,
        generator: Generator,
        meter: Meter,
        say: Say,
        requests: Requests,
    ) -> None:
        self._endpoint = endpoint
        self._options = options
        self._generator = generator
        self._meter = meter
        self._say = say
        self._requests = requests

    def workloads(self, chosen: tuple[Workload, ...], answers: dict[str, Answer]) -> list[Result]:
        """Run the workloads whose answers are known."""
        results = []
        for workload in chosen:
            result = self._attempt(workload, answers)
            self._say(summary(result))
            results.append(result)
        return results

    def _attempt(self, workload: Workload, answers: dict[str, Answer]) -> Result:
        if workload.name not in answers:
            return Result.missing(workload, "Hashrange's answer to it is not known")
        try:
            self._teach(workload, answers)
            return self._measure(workload)
        except (LoadFailed, OSError, http.client.HTTPException) as problem:
            return Result.missing(workload, str(problem))

    def _teach(self, workload: Workload, answers: dict[str, Answer]) -> None:
        operation = next(workload.requests(_COUNTS.get(workload.table, 0)))[0]
        wanted = _MIXED if workload.name == "mixed" else {operation: workload.name}
        for operation, name in wanted.items():
            connection = http.client.HTTPConnection(self._endpoint.host, self._endpoint.port, timeout=10)
            connection.request("PUT", f"/{operation}", orjson.dumps(answers.get(name, {})))
            connection.getresponse().read()
            connection.close()

    def _measure(self, workload: Workload) -> Result:
        options = self._options
        items = 0 if workload.table in {sample.PLAIN, sample.INDEXED} else _COUNTS[workload.table]
        count = workload.count(options.seconds + options.warmup_seconds)
        path, _ = self._requests.of(workload, self._endpoint, items, count)
        if options.warmup_seconds:
            self._generator.run(Order(self._endpoint, path, 0, options.connections, options.warmup_seconds))
        self._meter.forget_peak()
        before = self._meter.cpu_seconds()
        outcome = self._generator.run(Order(self._endpoint, path, 0, options.connections, options.seconds))
        after = self._meter.cpu_seconds()
        return Result.of(
            workload,
            outcome,
            cpu=after - before if after is not None and before is not None else None,
            memory=self._meter.peak_memory_bytes(),
            note="",
        )
