"""The workloads: sample data of the right size, requests that make sense, answers that are checked."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from hashrange.core.items import item_size
from hashrange_bench import sample, workloads
from hashrange_bench.endpoint import Endpoint
from hashrange_bench.load import Order, Outcome
from hashrange_bench.process import Meter
from hashrange_bench.run import Options, Requests, Run
from hashrange_bench.workloads import GROWTH, WORKLOADS, Workload
from hashrange_bench.zipf import Zipf
from serving import Serving


@pytest.mark.parametrize("make", [sample.person, sample.order, sample.large])
@pytest.mark.parametrize("number", [0, 7, 99, 9_999, 899_999])
def test_an_item_has_400_bytes(make: Callable[[int], str], number: int) -> None:
    assert item_size(json.loads(make(number))) == sample.ITEM_BYTES


def test_batches_hold_every_item_once() -> None:
    bodies = [json.loads(body) for _, body in sample.batches(sample.ORDERS, 30, 90)]
    sizes = [len(body["RequestItems"][sample.ORDERS]) for body in bodies]
    keys = {
        (put["PutRequest"]["Item"]["pk"]["S"], put["PutRequest"]["Item"]["sk"]["S"])
        for body in bodies
        for put in body["RequestItems"][sample.ORDERS]
    }
    assert sizes == [25, 25, 10]
    assert len(keys) == 60


@pytest.mark.parametrize("workload", [*WORKLOADS, *GROWTH], ids=lambda workload: workload.name)
def test_requests_are_json_for_the_workloads_table(workload: Workload) -> None:
    for _, body in itertools.islice(workload.requests(1_000), 20):
        json.loads(body)
        assert workload.table in body


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_a_workload_is_the_same_every_time(workload: Workload) -> None:
    first, second = (list(itertools.islice(workload.requests(1_000), 5)) for _ in range(2))
    assert first == second


def test_transactions_under_way_share_no_item_and_no_token() -> None:
    by_name = {workload.name: workload for workload in WORKLOADS}
    tokens: list[str] = []
    for name in ("transact-write-2", "transact-write-25"):
        requests = [json.loads(body) for _, body in itertools.islice(by_name[name].requests(10_000), 16)]
        tokens += [request["ClientRequestToken"] for request in requests]
        keys = [
            action["Update"]["Key"]["pk"]["S"] if "Update" in action else action["Put"]["Item"]["pk"]["S"]
            for request in requests
            for action in request["TransactItems"]
        ]
        assert len(set(keys)) == len(keys)
    assert len(set(tokens)) == len(tokens)


def test_the_mixed_load_is_80_15_5() -> None:
    mixed = next(workload for workload in WORKLOADS if workload.name == "mixed")
    operations = Counter(operation for operation, _ in itertools.islice(mixed.requests(1_000), 10_000))
    assert operations["GetItem"] == pytest.approx(8_000, abs=200)
    assert operations["PutItem"] == pytest.approx(1_500, abs=150)
    assert operations["Query"] == pytest.approx(500, abs=100)


def test_zipf_asks_for_few_keys_often() -> None:
    drawn = Counter(itertools.islice(Zipf(10_000, random.Random(1)), 20_000))
    assert all(0 <= number < 10_000 for number in drawn)
    top = sum(count for _, count in drawn.most_common(100))
    assert top > 20_000 * 0.4
    assert len(drawn) > 3_000


def test_consuming_workloads_have_requests_for_the_whole_time() -> None:
    by_name = {workload.name: workload for workload in WORKLOADS}
    assert by_name["put-new"].count(4) == 4 * by_name["put-new"].rate_max
    assert by_name["get"].count(4) == by_name["get"].count(400)


def test_workloads_are_chosen_by_name() -> None:
    assert workloads.chosen([]) == WORKLOADS
    assert [workload.name for workload in workloads.chosen(["mixed", "get"])] == ["get", "mixed"]


class NoLoad:
    """A load generator that sends nothing."""

    name = "none"

    def run(self, order: Order) -> Outcome:
        assert order.requests.stat().st_size > 0
        return Outcome(100, 1.0, 0, 0, 1.0, 2.0, 0.1)


class FewRequests(Requests):
    """Makes no more requests than are looked at: a run asks each workload's first itself, and `NoLoad` sends none."""

    def of(self, workload: Workload, endpoint: Endpoint, items: int, count: int) -> tuple[Path, int]:
        return super().of(workload, endpoint, items, min(count, 50))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_hashrange_answers_every_workload_as_it_should(server: Serving, tmp_path: Path) -> None:
    options = Options(tmp_path, seconds=0.01, warmup_seconds=0, large_items=1_000, growth_to=3)
    lines: list[str] = []
    run = Run(
        Endpoint.parse(server.endpoint),
        options,
        generator=NoLoad(),
        meter=Meter(None),
        say=lines.append,
        requests=FewRequests(tmp_path),
    )
    try:
        run.everything(WORKLOADS, growth=True)
    finally:
        run.close()
    refused = {result.name: result.note for result in run.report.results if result.per_second is None}
    assert refused == {}
    assert len(run.report.results) == len(WORKLOADS)
    assert list(run.report.growth) == [1_000]
    assert run.report.large_items == 1_000
    assert all(lines)
