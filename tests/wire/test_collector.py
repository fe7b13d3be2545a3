"""The garbage collector of a server: it collects when there is little to look at, and waits otherwise."""

import gc
from collections.abc import Callable, Iterator

import pytest

from hashrange import collector
from hashrange.collector import Collector

Later = list[Callable[[], None]]


class Cycle:
    """Refers to itself."""

    freed = 0

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        Cycle.freed += 1


@pytest.fixture
def later() -> Iterator[Later]:
    """What has been put off, and Python's own collections as they were before."""
    gc.collect()
    gc.freeze()  # what the other tests keep need not be looked through in each of the collections to come
    Cycle.freed = 0
    put_off: Later = []
    yield put_off
    gc.unfreeze()
    gc.enable()


def started(put_off: Later) -> Collector:
    collector = Collector(lambda _, look: put_off.append(look))
    collector.start()
    return collector


def test_python_collects_nothing_by_itself_until_the_end(later: Later) -> None:
    running = started(later)
    assert not gc.isenabled()
    running.stop()
    assert gc.isenabled()


def test_few_young_objects_are_left_alone(later: Later) -> None:
    running = started(later)
    Cycle()
    running.look()
    assert Cycle.freed == 0


def test_a_fair_number_is_collected(later: Later) -> None:
    running = started(later)
    Cycle()
    kept = [[] for _ in range(collector.YOUNG_MIN)]  # type: list[list[object]]
    running.look()
    assert (Cycle.freed, len(kept)) == (1, collector.YOUNG_MIN)


def test_a_large_request_is_waited_for(later: Later) -> None:
    running = started(later)
    Cycle()
    request = [[] for _ in range(collector.YOUNG_MAX)]  # type: list[list[object]]
    running.look()
    assert Cycle.freed == 0
    del request
    kept = [[] for _ in range(collector.YOUNG_MIN)]  # type: list[list[object]]
    running.look()
    assert (Cycle.freed, len(kept)) == (1, collector.YOUNG_MIN)


def test_what_stays_for_long_is_set_aside_until_it_is_quiet(later: Later) -> None:
    running = started(later)
    Cycle()
    requests = [[] for _ in range(collector.YOUNG_MAX)]  # type: list[list[object]]
    for _ in range(collector.POSTPONED_MAX):
        running.look()
    assert gc.get_count()[0] > collector.YOUNG_MAX
    running.look()
    assert gc.get_count()[0] < collector.YOUNG_MIN
    running.look()
    assert Cycle.freed == 0
    del requests
    running.look()
    assert Cycle.freed == 1


def test_it_looks_again_until_it_is_stopped(later: Later) -> None:
    running = started(later)
    look = later[0]
    look()
    assert len(later) == 2
    running.stop()
    look()
    assert len(later) == 2
