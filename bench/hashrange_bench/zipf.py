"""Zipf's law: a few keys are asked for often, most of them seldom."""

import bisect
import random
from collections.abc import Iterator
from itertools import accumulate

EXPONENT = 0.99  # what YCSB uses
_SPREAD = 2_654_435_761  # prime, so that neighbours in rank are not neighbours in the table


class Zipf:
    """Numbers below `count`, without end."""

    def __init__(self, count: int, source: random.Random) -> None:
        self._count = count
        self._source = source
        self._sums = list(accumulate(1 / rank**EXPONENT for rank in range(1, count + 1)))

    def __iter__(self) -> Iterator[int]:
        sums, count, draw = self._sums, self._count, self._source.random
        while True:
            rank = bisect.bisect_left(sums, draw() * sums[-1])
            yield rank * _SPREAD % count
