"""Signatures that were refused: how many an address may send, and what the log is told of them.

Nobody finds a key by trying. The limit is for what trying costs others: time of the processor, and lines of the log.
"""

from threading import Lock

from hashrange import logs
from hashrange.addresses import network
from hashrange.caches import BoundedCache

_BURST_SECONDS = 10
_ADDRESSES_MAX = 4096
_LINE_SECONDS = 60.0  # between two lines about one address
_LINES_MAX = 100  # in that time about all of them

log = logs.Log("auth")


class _Bucket:
    """What one address has left."""

    __slots__ = ("count", "filled_at", "logged_at", "tokens")

    def __init__(self, tokens: float, now: float) -> None:
        self.tokens = tokens
        self.filled_at = now
        self.count = 0  # refused since the last line of the log
        self.logged_at = float("-inf")


class FailedSignatures:
    """A token bucket for each address; any thread may use it."""

    def __init__(self, per_second: int) -> None:
        """With 0 nobody is put off."""
        self._per_second = per_second
        self._burst = float(per_second * _BURST_SECONDS)
        self._buckets: BoundedCache[str, _Bucket] = BoundedCache(_ADDRESSES_MAX)
        self._lines = 0
        self._lines_since = float("-inf")
        self._lock = Lock()

    def admits(self, peer: str, now: float) -> bool:
        """Whether a request from an address is looked at."""
        bucket = self._buckets.get(network(peer))
        if bucket is None or not self._per_second:
            return True
        with self._lock:
            self._fill(bucket, now)
            return bucket.tokens >= 1

    def note(self, peer: str, code: str, now: float) -> None:
        """Count a refusal; the first of an address is logged, then one line a minute says how many there were."""
        key = network(peer)
        with self._lock:
            bucket = self._buckets.get(key)
            if bucket is None:
                bucket = _Bucket(self._burst, now)
                self._buckets.put(key, bucket)
            self._fill(bucket, now)
            bucket.tokens -= 1
            bucket.count += 1
            if now - bucket.logged_at < _LINE_SECONDS or not self._has_line(now):
                return
            bucket.logged_at = now
            count, bucket.count = bucket.count, 0
        log.warning("signature.refused", address=peer, code=code, times=count)

    def _fill(self, bucket: _Bucket, now: float) -> None:
        # The clock may be set back; what was filled until then stays.
        bucket.tokens = min(self._burst, bucket.tokens + max(0.0, now - bucket.filled_at) * self._per_second)
        bucket.filled_at = now

    def _has_line(self, now: float) -> bool:
        if not 0 <= now - self._lines_since < _LINE_SECONDS:
            self._lines_since, self._lines = now, 0
        self._lines += 1
        return self._lines <= _LINES_MAX
