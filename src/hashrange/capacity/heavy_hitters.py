"""Heavy hitters: the keys with the most weight among any number of keys of any length, in bounded memory.

A Misra-Gries summary with weights: when there are too many counters, the median of them is taken off all, and what
reaches zero is dropped. What was taken off in all is the error: every key has at least its counter and at most its
counter and the error, and a key without a counter at most the error. Summaries can be added up; their errors too.
"""

import heapq
from collections.abc import Iterable
from hashlib import blake2b

import msgspec

COUNTERS_MAX = 512
KEYS_BYTES_MAX = (
    128 * 1024
)  # of all keys, if they are as long as the latest one; a key may have three thousand
_HASHES_MAX = 128  # the smallest hashes of all keys, from which follows how many keys there are
_HASH_BYTES = 8
_HASH_SPACE = 2**64


class Summary(msgspec.Struct, array_like=True):
    """What is known of the keys of some time."""

    total: float = 0.0
    events: float = 0.0
    error: float = 0.0
    counts: dict[bytes, float] = {}
    hashes: list[int] = []  # in no order; more than `_HASHES_MAX` for a while

    def add(self, key: bytes, weight: float, events: float = 1.0) -> None:
        """Count a key, which was seen so many times."""
        self.total += weight
        self.events += events
        counts = self.counts
        if key in counts:
            counts[key] += weight
            return
        counts[key] = weight
        self._note(int.from_bytes(blake2b(key, digest_size=_HASH_BYTES).digest(), "big"))
        if len(counts) > COUNTERS_MAX or len(counts) * len(key) > KEYS_BYTES_MAX:
            self._purge()

    def _purge(self) -> None:
        cut = sorted(self.counts.values())[len(self.counts) // 2]
        self.error += cut
        self.counts = {key: count - cut for key, count in self.counts.items() if count > cut}

    def _note(self, hashed: int) -> None:
        self.hashes.append(hashed)
        if len(self.hashes) > 2 * _HASHES_MAX:
            self._trim()

    def _trim(self) -> None:
        self.hashes = heapq.nsmallest(_HASHES_MAX, set(self.hashes))

    def merge(self, other: "Summary") -> None:
        """Add everything that another one knows."""
        self.total += other.total
        self.events += other.events
        self.error += other.error
        for key, count in other.counts.items():
            self.counts[key] = self.counts.get(key, 0.0) + count
        while len(self.counts) > COUNTERS_MAX:
            self._purge()
        self.hashes += other.hashes
        self._trim()

    def top(self, most: int) -> list[tuple[bytes, float]]:
        """The keys with the most weight, and the most that it can be; the heaviest first."""
        largest = heapq.nlargest(most, self.counts.items(), key=lambda pair: (pair[1], pair[0]))
        return [(key, count + self.error) for key, count in largest]

    def heaviest(self, most: int) -> "Summary":
        """The same with fewer counters, for storing: what is left out becomes error."""
        self._trim()
        if len(self.counts) <= most:
            return self
        largest = heapq.nlargest(most + 1, self.counts.items(), key=lambda pair: pair[1])
        cut = largest.pop()[1]
        counts = {key: count - cut for key, count in largest if count > cut}
        return Summary(self.total, self.events, self.error + cut, counts, self.hashes)

    @property
    def distinct(self) -> int:
        """How many keys there were, about."""
        hashes = sorted(set(self.hashes))
        if len(hashes) < _HASHES_MAX:
            return len(hashes)
        return round((_HASHES_MAX - 1) * _HASH_SPACE / hashes[_HASHES_MAX - 1])


def merged(summaries: Iterable[Summary]) -> Summary:
    """All of them together."""
    total = Summary(counts={}, hashes=[])
    for summary in summaries:
        total.merge(summary)
    return total
