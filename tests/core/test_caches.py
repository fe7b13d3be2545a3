"""The cache that never grows past its bound."""

import sys
import threading

from hashrange.caches import BoundedCache


def test_the_oldest_goes_first() -> None:
    cache = BoundedCache[str, int](2)
    for number, key in enumerate("abac"):
        cache.put(key, number)
    assert (cache.get("a"), cache.get("b"), cache.get("c"), len(cache)) == (None, 1, 3, 2)


def test_several_threads_may_fill_it() -> None:
    """Credentials and policies are looked up on the loop's thread and on those of large requests."""
    cache, problems = BoundedCache[int, int](2), list[Exception]()

    def fill(seed: int) -> None:
        try:
            for number in range(20_000):
                cache.put((seed * 7 + number) % 97, number)
        except (KeyError, RuntimeError, StopIteration) as problem:
            problems.append(problem)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=fill, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert problems == []
    assert len(cache) <= 2
