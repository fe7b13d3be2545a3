"""Heavy hitters: the true top keys are found, and no estimate is off by more than its bound."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from hashrange.capacity import heavy_hitters
from hashrange.capacity.heavy_hitters import COUNTERS_MAX, KEYS_BYTES_MAX, Summary


def new() -> Summary:
    return Summary(counts={}, hashes=[])


def zipf(keys: int, count: int, seed: int, exponent: float = 1.1) -> list[bytes]:
    weights = [1 / (rank + 1) ** exponent for rank in range(keys)]
    chosen = random.Random(seed).choices(range(keys), weights, k=count)
    return [b"key%d" % number for number in chosen]


def check_bounds(summary: Summary, truth: Counter[bytes]) -> None:
    for key, weight in truth.items():
        count = summary.counts.get(key, 0.0)
        assert count <= weight + 1e-6
        assert weight <= count + summary.error + 1e-6


def test_the_true_top_ten_of_a_zipf_load_are_found() -> None:
    load = zipf(100_000, 200_000, seed=1)
    summary, truth = new(), Counter(load)
    for key in load:
        summary.add(key, 1.0)
    assert [key for key, _ in summary.top(10)] == [key for key, _ in truth.most_common(10)]
    check_bounds(summary, truth)
    assert summary.error < len(load) / (COUNTERS_MAX / 4)
    assert len(summary.counts) <= COUNTERS_MAX
    assert (summary.total, summary.events) == (200_000, 200_000)


def test_the_top_ten_are_found_when_workers_and_minutes_are_added_up_from_their_rows() -> None:
    load = zipf(50_000, 200_000, seed=2)
    truth = Counter(load)
    parts = [new() for _ in range(40)]
    for at, key in enumerate(load):
        parts[at % 40].add(key, 1.0)
    summary = heavy_hitters.merged(part.heaviest(50) for part in parts)
    assert {key for key, _ in summary.top(10)} == {key for key, _ in truth.most_common(10)}
    check_bounds(summary, truth)


def test_few_keys_are_counted_exactly() -> None:
    summary = new()
    for number in range(COUNTERS_MAX):
        for _ in range(3):
            summary.add(b"%d" % number, 0.5)
    assert summary.error == 0
    assert set(summary.counts.values()) == {1.5}


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 2000), st.floats(0.5, 100)), max_size=1500), min_size=1, max_size=3
    )
)
def test_an_estimate_is_never_off_by_more_than_the_error(loads: list[list[tuple[int, float]]]) -> None:
    truth: Counter[bytes] = Counter()
    parts = []
    for load in loads:
        part = new()
        for number, weight in load:
            part.add(b"%d" % number, weight)
            truth[b"%d" % number] += weight  # type: ignore[assignment]
        parts.append(part.heaviest(100))
    summary = heavy_hitters.merged(parts)
    check_bounds(summary, truth)
    assert summary.error <= summary.total


def test_the_number_of_keys_is_about_right() -> None:
    for keys in (5, 100, 20_000):
        summary = new()
        for number in range(keys):
            summary.add(b"%d" % number, 1.0)
        assert abs(summary.distinct - keys) <= keys * 0.25
    twice = heavy_hitters.merged([summary, summary])
    assert twice.distinct == summary.distinct


def test_memory_is_bounded_however_many_keys_there_are() -> None:
    summary = new()
    for number in range(200_000):
        summary.add(b"%d" % number, 1.0)
    assert len(summary.counts) <= COUNTERS_MAX
    assert len(summary.hashes) <= 256


def test_memory_is_bounded_however_long_the_keys_are() -> None:
    summary = new()
    for number in range(COUNTERS_MAX):
        summary.add(b"%05d" % number + b"x" * 3_000, 1.0)
        summary.add(b"hot" + b"x" * 3_000, 5.0)
    assert sum(map(len, summary.counts)) <= 2 * KEYS_BYTES_MAX
    ((key, weight),) = summary.top(1)
    assert key.startswith(b"hot")
    assert weight >= 5.0 * COUNTERS_MAX
    assert summary.counts[key] <= 5.0 * COUNTERS_MAX
